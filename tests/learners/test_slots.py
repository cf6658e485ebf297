"""Slots of the pool: lists that grow and are cut move from block to block of them; none is lost
or has two owners.
"""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from shortlist.learners.index.edges import END, empty_index, move_to_more_room, slots_of
from tests.compiled import compiled

move_to_more_room = compiled(move_to_more_room)
slots_of = compiled(slots_of)

FEATURES = 6


def blocks_of(index):
    """First and last + 1 slot of each block that a list has, and of each that is free."""
    found = [
        (int(f["start"]), int(f["start"] + f["capacity"])) for f in index.features if f["capacity"]
    ]
    for size, first in enumerate(index.free.tolist()):
        while first >= 0:
            found.append((first, first + int(slots_of(size))))
            first = int(index.edges[first]["label"]) - 1
    return sorted(found)


@given(st.lists(st.tuples(st.integers(0, FEATURES - 1), st.integers(-40, 12)), max_size=60))
def test_each_slot_belongs_to_one_list_or_is_free(changes):
    index = empty_index().for_features(FEATURES).for_slots(10_000)
    expected, labels = [[] for _ in range(FEATURES)], itertools.count(1)
    for f, change in changes:
        feature, own = index.features[f], expected[f]
        if change > 0:
            own += list(itertools.islice(labels, change))
            for n in range(len(own) - change, len(own)):
                if n == feature["capacity"]:
                    move_to_more_room(f, len(own), index)
                index.edges["label"][feature["start"] + n], feature["length"] = own[n], n + 1
        else:
            del own[max(0, len(own) + change) :]
            feature["length"] = len(own)
        found = blocks_of(index)
        assert all(one[1] == other[0] for one, other in itertools.pairwise([(0, 0), *found]))
        assert found[-1:] == [] or found[-1][1] == index.used[END]
    for f, own in enumerate(expected):
        start, length = index.features[f]["start"], index.features[f]["length"]
        assert index.edges["label"][start : start + length].tolist() == own
