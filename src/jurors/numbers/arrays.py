"""The arrays that everything passes around, by what they hold."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.signedinteger[Any]]  #: positions of labels, in as few bytes as hold them; -1: no vote
