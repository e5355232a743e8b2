"""Draw items for a person to label, and compute what the labels prove.

`sheet` draws and holds what a person fills in (by system: `system_design`), `confidence` makes confidence sequences of
the draw by betting, `result` reports what follows for jurors and labels, `system_audit` for systems; `export` has
further shapes of the sheet.
"""

from jurors.audit.result import Audit, PairedDifferences, Share, compare, result
from jurors.audit.sheet import Sheet, plan, read_sheet
from jurors.audit.system_audit import SystemAudit, systems
from jurors.votes.key import read_item_texts

__all__ = [
    "Audit",
    "PairedDifferences",
    "Share",
    "Sheet",
    "SystemAudit",
    "compare",
    "plan",
    "read_item_texts",
    "read_sheet",
    "result",
    "systems",
]
