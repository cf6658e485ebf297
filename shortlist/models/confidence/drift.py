"""Has the stream changed? If what was expected of the last examples is far from what came, older ones mislead.

Each example was ranked with a probability p that its best label is right, from what was known before it. Over the last
s examples, right answers less Σp vary by √Σp(1−p), and a little more, as p was itself measured on m older ones:

    z = |Σ(hit − p)| / √(1 + (1 + s/m)·Σp(1−p))

for s = 32, 64, …, 1024. Where z is above ALARM, only the s examples with the largest z are kept (a window that adapts,
after Bifet and Gavaldà 2007). Where nothing changes, that is a false alarm less than once in ten thousand looks.
"""

from __future__ import annotations

import numpy as np

from shortlist.arrays.kernels import Longs, kernel
from shortlist.models.confidence.window import Seen

LOOK = 32  # examples from one look to the next, and the shortest stretch looked at
LONGEST = 1024
ALARM = 4.5


@kernel
def stretch_to_keep(seen: Seen, rows: Longs) -> int:
    """How many of the last examples (at ``rows``, oldest first) contradict those before them; 0 where none do."""
    surplus, spread, most, keep, stretch = 0.0, 0.0, ALARM, 0, LOOK
    for s in range(1, min(LONGEST, rows.size - LOOK) + 1):
        i = rows[rows.size - s]
        p = seen.expected[i]
        if p < 0.0:
            break
        surplus += seen.hits[i, 0] - p
        spread += p * (1.0 - p)
        if s == stretch:
            stretch *= 2
            z = abs(surplus) / np.sqrt(1.0 + (1.0 + s / (rows.size - s)) * spread)
            if z > most:
                most, keep = z, s
    return keep
