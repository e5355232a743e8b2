"""One function per chart: a result comes in, an altair chart goes out; nothing is shown, nothing is hidden."""
