"""Every way to grade, behind one interface: a sketch and a request come in, an `Evaluation` goes out."""
