"""Groups of jurors that pairs connect."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jurors.sketch.connectivity import are_connected, connected_groups

SIZE = 8
pairs = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=12)


@given(pairs)
def test_groups_are_closed_under_links_and_numbered_in_the_jurors_order(links: list[tuple[int, int]]) -> None:
    first, second = [i for i, _ in links], [j for _, j in links]
    group = are_connected(first, second, SIZE).tolist()
    merged = list(range(SIZE))  # the plain way: give both ends one number until nothing changes
    for _ in range(SIZE):
        for i, j in links:
            merged[i] = merged[j] = min(merged[i], merged[j])
    assert [[a == b for b in group] for a in group] == [[a == b for b in merged] for a in merged]
    assert list(dict.fromkeys(group)) == list(range(max(group) + 1))
    assert [list(members) for members in connected_groups(links, SIZE)] == [
        who for k in range(max(group) + 1) if len(who := [i for i in range(SIZE) if group[i] == k]) > 1
    ]
