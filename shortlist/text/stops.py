"""Words to leave out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.text.settings import Settings
from shortlist.text.tokens import split
from shortlist.vocabulary import Vocabulary


def stop_table(settings: Settings, table: NDArray[np.uint32]) -> Vocabulary | None:
    """The words to leave out, read as those of texts are; None where there are none."""
    listed = settings.stop_words
    if listed is None:
        return None
    if listed == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        listed = sorted(ENGLISH_STOP_WORDS)
    stops = Vocabulary()
    for text in listed:
        words = split([text], table, 1, settings.lowercase, settings.composed)
        if words.ends.size == 1 and words.ends[0] - words.starts[0] == words.codes.size:
            stops.learn(words.hashes)
    return stops
