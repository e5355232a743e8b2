"""`bounds`: between which numbers every prevalence and accuracy must lie, whatever the answer key is."""

from __future__ import annotations

from typing import Any, Unpack

from jurors.doubt.bounds.guaranteed import Bounds
from jurors.doubt.bounds.logical import logical_bounds
from jurors.doubt.bounds.robust import robust_bounds
from jurors.errors import OptionError
from jurors.jury.accept import as_sketch, check_gradable
from jurors.numbers.threads import one_thread
from jurors.options import AnyFileOptions, Progress


def bounds(
    source: Any,
    *,
    correlation: float | None = None,
    spec: Any = None,
    tight: bool = False,
    exact: bool = False,
    progress: Progress | None = None,
    **reading: Unpack[AnyFileOptions],
) -> Bounds:
    """Guaranteed intervals for every prevalence and label accuracy.

    Parameters
    ----------
    source
        As in `grade`.
    correlation
        If no error correlation of two or three jurors exceeds this (two labels). Without it: what logic alone allows.
    spec
        What is asked of the jurors, without `correlation`: "0.6" (everybody, every label), "A>=0.6,B>=0.7",
        "gpt-4:A>=0.9", "prevalence:A>=0.1". An impossible one comes with the jurors who contradict each other.
    tight
        With `correlation`: search for the narrowest intervals instead of the closed form.
    exact
        With `spec`: whole items (integer programs) instead of shares of items.
    progress
        Called with the share of the work done.

    Examples
    --------
    >>> from jurors import Sketch
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> [round(end, 2) for end in bounds(sketch, correlation=0.001).prevalence["A"]]
    [0.04, 0.18]
    >>> bounds(sketch, spec="0.5").is_possible, bounds(sketch, spec="0.9").is_possible
    (True, False)
    """
    if correlation is not None and (spec is not None or exact):
        raise OptionError("give either a correlation or a specification, not both: they are different assumptions")
    if exact and spec is None:
        raise OptionError("exact bounds need a specification: without one logic allows everything")
    if correlation is None and tight:
        raise OptionError("tight bounds need a correlation")
    sketch = as_sketch(source, **reading)
    check_gradable(sketch.tuples, fewest=1 if correlation is None else 3)
    with one_thread():
        if correlation is not None:
            return robust_bounds(sketch, correlation, tight=tight, progress=progress)
        return logical_bounds(sketch, spec, exact=exact)
