"""Model files as an attacker would write them: something in a good one is changed, and its
checksum made to fit.
"""

from __future__ import annotations

import copy
import json

import numpy as np

import shortlist as sl
from shortlist.files import container, store
from shortlist.files.container import DTYPES
from shortlist.files.store import METADATA_KEY, State

# Counts may be up to 2**62: 2**61 can still be counted up from, 2**63 − 1 cannot.
INTS = [
    0,
    -1,
    1,
    2,
    3,
    7,
    8,
    12,
    255,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**40,
    2**61,
    2**63 - 1,
    -(2**63),
]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e16,
    -1e18,
    1e300,
    1e308,
    -1e308,
    5e-324,
    1e-300,
    np.nan,
    np.inf,
    -np.inf,
]
VALUES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    10,
    2**31 - 1,
    2**31,
    -(2**31),
    2**53,
    2**61,
    2**63,
    2**64,
    10**30,
    10**400,
    0.5,
    -0.5,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "x",
    "0.5",
    "16",
    "auto",
    "english",
    "rbf",
    "polynomial",
    "voted",
    "averaged",
    "last",
    "raw",
    "boolean",
    "l2",
    "log",
    "plain",
    "smooth",
    "pivoted",
    "64MB",
    "1TB",
    [],
    [1],
    ["a"],
    [["a", "b"]],
    [[1, 2, 3]],
    {},
    {"a": 1},
    {"a": "b"},
    [None],
    [[]],
    [float("nan")],
]
NEW_NAMES = [
    "new",
    1,
    1.0,
    True,
    None,
    "\ud800",
    "a\0",
    "x" * 1000,
    10**30,
    float("nan"),
    ["list"],
    {"a": 1},
]


def plain(state):
    """The state with its arrays made and its settings as JSON gives them back."""
    parts = {name: plain(part) for name, part in state.parts.items()}
    arrays = {name: np.array(array) for name, array in state.arrays.items()}
    return State(state.kind, json.loads(json.dumps(state.settings)), arrays, parts)


def mutant(state, others, random):
    """The bytes of a model file with one to three things changed."""
    if random.random() < 0.2:
        return changed_bytes(state, random)
    state = copy.deepcopy(state)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        change(random.choice(list(every(state))), others, random)
    return as_packed_bytes(state, random) if random.random() < 0.1 else as_bytes(state)


def change(state, others, random):
    kind = random.random()
    if kind < 0.6 and state.arrays:
        name = random.choice(sorted(state.arrays))
        state.arrays[name] = changed_array(state.arrays[name], list(state.arrays.values()), random)
    elif kind < 0.82:
        change_settings(state.settings, random)
    elif kind < 0.88:
        resize(state, random)
    elif kind < 0.91 and state.arrays:
        del state.arrays[random.choice(sorted(state.arrays))]
    elif kind < 0.94 and state.parts:
        other = random.choice(list(every(random.choice(others))))
        state.parts[random.choice(sorted(state.parts))] = copy.deepcopy(other)
    elif kind < 0.96:
        state.kind = random.choice([*sl.__all__, "dict", "os"])
    elif kind < 0.98:
        other = random.choice(list(every(random.choice(others))))
        for name in sorted(set(other.arrays) & set(state.arrays)):
            if random.random() < 0.5:
                state.arrays[name] = other.arrays[name]
    elif state.parts:
        del state.parts[random.choice(sorted(state.parts))]


def every(state):
    yield state
    for part in state.parts.values():
        yield from every(part)


# Arrays


def changed_array(array, others, random):
    if array.dtype == np.uint8 and random.random() < 0.7:
        return changed_names(array, random)
    array = np.array(array)
    flat = array.reshape(-1)
    ways = [lambda: some_special(flat, random)] * 6
    with np.errstate(all="ignore"):
        ways += [
            lambda: flat.fill(special(flat, random)) if flat.size else None,
            lambda: array[:-1],
            lambda: np.concatenate([array, array[-1:]]),
            lambda: array[:0],
            lambda: np.concatenate([array, array]),
            lambda: array[::-1],
            lambda: array[random.sample(range(len(array)), len(array))],
            lambda: move_one(flat, random),
            lambda: array.astype(random.choice(list(DTYPES.values()))),
            lambda: array.reshape(random.choice([(1, *array.shape), (*array.shape, 1), (-1,)])),
            lambda: np.sort(array, axis=-1),
            lambda: (array * random.choice([0.0, -1.0, 2.0, 1000.0])).astype(array.dtype),
            lambda: random.choice([other for other in others if other.dtype == array.dtype]),
            lambda: np.frombuffer(random.randbytes(array.nbytes), dtype=array.dtype).reshape(
                array.shape
            ),
        ]
        found = random.choice(ways)()
    return np.ascontiguousarray(array if found is None else found)


def special(flat, random):
    if flat.dtype.kind == "f":
        return random.choice(FLOATS)
    if flat.dtype.kind == "b":
        return random.random() < 0.5
    bounds = np.iinfo(flat.dtype)
    return min(
        max(random.choice([*INTS, flat.size - 1, flat.size, flat.size + 1]), bounds.min), bounds.max
    )


def some_special(flat, random):
    for _ in range(random.choice([1, 1, 1, 2, 5]) if flat.size else 0):
        flat[random.randrange(flat.size)] = special(flat, random)


def move_one(flat, random):
    """From one entry to another: the sum stays."""
    if flat.size and flat.dtype.kind in "if":
        flat[random.randrange(flat.size)] += 1
        flat[random.randrange(flat.size)] -= 1


def changed_names(array, random):
    try:
        names = json.loads(array.tobytes().decode("utf-8", "surrogatepass"))
    except ValueError:
        return array
    names = names if isinstance(names, list) else [names]
    some = random.randrange(len(names)) if names else slice(0, 0)
    ways = [
        lambda: names.__setitem__(some, random.choice(VALUES)) if names else None,
        lambda: names.__setitem__(some, random.choice(names)) if names else None,
        lambda: names.append(random.choice(NEW_NAMES)),
        lambda: names.pop() if names else None,
        names.clear,
        lambda: random.shuffle(names),
        lambda: names.__setitem__(slice(None), range(len(names))),
        lambda: names.__setitem__(slice(None), [float(i) for i in range(len(names))]),
        lambda: names.__setitem__(slice(None), [[name] for name in names]),
        lambda: names.__setitem__(slice(None), [str(name) * 50 for name in names]),
    ]
    random.choice(ways)()
    text = json.dumps(names if random.random() < 0.95 else {"a": 1}, ensure_ascii=False)
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


# Settings


def change_settings(settings, random):
    places = list(paths(settings))
    if not places:
        return
    *way, last = random.choice(places)
    inside = settings
    for step in way:
        inside = inside[step]
    kind, value = random.randrange(10), inside[last]
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, dict):
        inside[f"{last}x"] = inside.pop(last)
    elif kind == 2 and type(value) in (int, float):
        inside[last] = value + random.choice([1, -1, 0.5, 100, -100])
    else:
        inside[last] = copy.deepcopy(random.choice(VALUES))


def paths(value, before=()):
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield (*before, key)
        yield from paths(inner, (*before, key))


def resize(state, random):
    """More or fewer of whatever has one length in several places, which go on to agree."""
    lengths = sorted(
        {len(array) for array in state.arrays.values() if array.ndim and array.dtype != np.uint8}
    )
    if not lengths:
        return
    n = random.choice(lengths)
    to = max(0, n + random.choice([1, -1, 5, -n, n]))
    for name, array in state.arrays.items():
        if array.ndim and len(array) == n and array.dtype != np.uint8:
            more = np.zeros((max(0, to - n), *array.shape[1:]), dtype=array.dtype)
            state.arrays[name] = np.concatenate([array[:to], more])
    for *way, last in list(paths(state.settings)):
        inside = state.settings
        for step in way:
            inside = inside[step]
        if type(inside[last]) is int and inside[last] == n:
            inside[last] = to


# Bytes


def as_packed_bytes(state, random):
    """A compact file, in whose notes something may be changed."""
    arrays, notes = {}, {}
    for name, array in state.all_arrays().items():
        arrays[name] = array
        if array.ndim == 1 and array.size and array.dtype.kind in "iuf":
            arrays[name], notes[name] = container.pack(array)
    if notes and random.random() < 0.5:
        name = random.choice(sorted(notes))
        note, key = notes[name], random.choice(["dtype", "size", "differences"])
        others = [
            "<f8",
            "<i4",
            "|u1",
            "<f4",
            "O",
            ">f8",
            "U9",
            2**40,
            [0],
            [True],
            [2**40],
            [-1],
            [[0]],
        ]
        note[key] = random.choice([*VALUES, *others, note["size"] + 1])
    return as_bytes(state, arrays, {"packed": notes})


def as_bytes(state, arrays=None, more=None):
    arrays = arrays or state.all_arrays()
    header = {
        "format": store.FORMAT_VERSION,
        "library": sl.__version__,
        "model": state.header(),
    } | (more or {})
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    layout, start = {}, 0
    for name, array in arrays.items():
        offsets = [start, start + array.nbytes]
        layout[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": offsets,
        }
        start += array.nbytes
    return put_together(layout, header, b"".join(array.tobytes() for array in arrays.values()))


def put_together(layout, header, data, metadata=None, padding=b""):
    """A file, with the checksum that its reader will compute, where that can be told."""
    try:
        arrays = {}
        for name, entry in layout.items():
            first, last = entry["data_offsets"]
            raw = np.frombuffer(data[first:last], dtype=np.uint8)
            arrays[name] = raw.view(DTYPES[entry["dtype"]]).reshape(entry["shape"])
        header = header | {"checksum": store._checksum(store._described(header), arrays)}
    except (KeyError, TypeError, ValueError, OverflowError, IndexError, AttributeError):
        pass
    texts = {METADATA_KEY: json.dumps(header)} if metadata is None else metadata
    text = json.dumps({"__metadata__": texts} | layout).encode()
    text += b" " * (-len(text) % 8) + padding
    return len(text).to_bytes(8, "little") + text + data


def changed_bytes(state, random):
    """The file as it lies on disk, changed where the checksum does not look, or all over."""
    whole = bytearray(as_bytes(state))
    size = int.from_bytes(whole[:8], "little")
    kind = random.randrange(8)
    if kind < 2:
        for _ in range(random.choice([1, 1, 2, 8])):
            whole[random.randrange(random.choice([8, size, len(whole)]))] ^= 1 << random.randrange(
                8
            )
        return bytes(whole)
    if kind == 2:
        at = random.randrange(len(whole))
        return bytes(random.choice([whole[:at], whole[at:], whole + random.randbytes(9)]))
    layout = json.loads(whole[8 : 8 + size])
    header, data = json.loads(layout.pop("__metadata__")[METADATA_KEY]), bytes(whole[8 + size :])
    name = random.choice(sorted(layout))
    entry = layout[name]
    shape, (first, last) = entry["shape"], entry["data_offsets"]
    if kind == 3:
        entry["dtype"] = random.choice([*DTYPES, "F16", "BF16", "I8", "XX", 3, None, []])
    elif kind == 4:
        shapes = [
            [],
            [0],
            [1],
            [*shape, 1],
            [1, *shape],
            [-1],
            [2**63],
            [2**32, 2**32],
            [2**64, 0],
            shape * 2,
            "x",
        ]
        entry["shape"] = random.choice([*shapes, None, [True] * 3, [1.0]])
    elif kind == 5:
        many = [
            [last, first],
            [first, last + 8],
            [first - 8, last],
            [0, last],
            [-8, 0],
            [2**63, 2**63 + 8],
            [first],
            7,
        ]
        entry["data_offsets"] = random.choice(many)
    elif kind == 6:
        header[random.choice(["format", "library", "model", "checksum", "more"])] = random.choice(
            VALUES
        )
    else:
        layout[random.choice(["", "/", "a/b/c", "text/", f"{name}/x", "__metadata__ "])] = (
            layout.pop(name)
        )
    metadata = random.choice(
        [None] * 9 + [{}, [], {METADATA_KEY: 3}, {METADATA_KEY: "{"}, {METADATA_KEY: "[" * 10**5}]
    )
    return put_together(layout, header, data, metadata, b" " * random.choice([0, 0, 0, 1, 5]))
