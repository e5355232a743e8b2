"""`jurors inspect`: what files hold, told without grading anybody, and which commands would work next."""

from jurors.look.inspect import inspect
from jurors.look.inspection import Inspection

__all__ = ["Inspection", "inspect"]
