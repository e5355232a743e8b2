"""Which items a person should label, and what the labels prove: votes come in, a sheet goes out and comes back.

`draw.py` draws (by the chances of `design.py`), `sheet.py` is what a person fills in, `result.py` says what follows,
from what `proof/` makes of the draw. Further shapes of the sheet (`desk/`) are made from `Sheet.records`.
"""

from jurors.audit.result import Audit, PairedDifferences, Share, compare, result, systems
from jurors.audit.sheet import Sheet, plan, read_sheet
from jurors.votes.item_texts import read_item_texts

__all__ = [
    "Audit",
    "PairedDifferences",
    "Share",
    "Sheet",
    "compare",
    "plan",
    "read_item_texts",
    "read_sheet",
    "result",
    "systems",
]
