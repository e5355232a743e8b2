"""Objects that no chain of comparisons connects: only the prior says how they stand to each other."""

from __future__ import annotations

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.names import some
from jurors.pairs.preferences import Preferences
from jurors.sketch.links import linked


def apart_alarms(data: Preferences) -> tuple[Alarm, ...]:
    """An alarm where the objects fall into islands, with the smaller islands' objects."""
    place = linked(data.left, data.right, len(data.objects))
    islands = int(place.max()) + 1
    if islands == 1:
        return ()
    main = np.argmax(np.bincount(place))
    outside = [name for name, island in zip(data.objects, place, strict=True) if island != main]
    message = (
        f"the objects fall into {islands:,} islands that no comparison connects; {len(outside):,} are outside the "
        f"largest ({some(outside, 3)}), and only the prior says how they stand to it"
    )
    if 2 * islands == len(data.objects):  # every object met one other alone, as texts of one question each do
        message += "; objects that come in one pair alone cannot be ranked, but who compared them can be graded: "
        message += "`jurors convert` makes labels of it, for `jurors grade`"
    return (Alarm("objects_apart", "alarm", message, float(islands)),)
