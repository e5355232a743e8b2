"""Who said what: files, frames and arrays come in, a `Votes` table goes out."""

from jurors.options import Label
from jurors.results import data_frame
from jurors.votes.frame import votes_from_frame
from jurors.votes.key import Key, as_key, read_key, read_votes_with_key
from jurors.votes.read import read_votes
from jurors.votes.table import Votes
from jurors.votes.write import write_votes

__all__ = [
    "Key",
    "Label",
    "Votes",
    "as_key",
    "data_frame",
    "read_key",
    "read_votes",
    "read_votes_with_key",
    "votes_from_frame",
    "write_votes",
]
