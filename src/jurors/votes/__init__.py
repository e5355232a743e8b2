"""Votes: files, frames and arrays come in, a `Votes` table goes out."""
