"""What a draw proves of shares: figures and steps come in, intervals that hold at every draw go out."""
