"""Make the vectors that ``benchmarks.vectors`` reads.

    python -m benchmarks.vectors_made DATA VECTORS ENCODER [SET ...]

ENCODER is the name of an encoder, or lsa: 100 components of the words of the training part, vectors
that know less than the words do.
"""

from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.running import arguments
from benchmarks.sets import SHORT, every_seventh, short_texts
from shortlist.encoders import load_encoder


def lsa(texts):
    """An encoder that knows the words of these texts and nothing else."""
    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    components = TruncatedSVD(100, random_state=0).fit(words.transform(texts))
    return lambda some: components.transform(words.transform(some))


def main():
    parser = arguments(__doc__)
    parser.add_argument("vectors", type=Path, metavar="VECTORS")
    parser.add_argument("encoder", metavar="ENCODER")
    parser.add_argument("sets", nargs="*", metavar="SET", default=list(SHORT))
    given = parser.parse_args()
    given.vectors.mkdir(parents=True, exist_ok=True)
    for name in given.sets:
        texts, labels = short_texts(given.data, name)
        if given.encoder == "lsa":
            train, _ = every_seventh(len(texts))
            encode = lsa([texts[i] for i in train])
        else:
            encode = load_encoder(given.encoder)
        names = [f"name of {label}" for label in sorted(set(labels))]
        for what, some in (("train", texts), ("labels", names)):
            np.save(given.vectors / f"{name}.{what}.npy", np.asarray(encode(some), np.float32))


if __name__ == "__main__":
    main()
