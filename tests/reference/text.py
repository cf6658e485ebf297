"""Texts to rows, slowly: a regular expression, dicts and lists, straight from the definitions."""

import math
import re
import unicodedata
from collections import Counter


def features(
    text,
    lowercase=True,
    composed=False,
    min_length=2,
    fold_digits=False,
    stop_words=None,
    ngrams=1,
    prefix=None,
    characters=None,
):
    """All features of one text, each as often as it occurs."""
    text = unicodedata.normalize("NFC", text) if composed else text
    words = re.findall(r"\w+", text.lower() if lowercase else text)
    if fold_digits:
        words = ["<digit>" if word.isdecimal() else word for word in words]
    words = [word for word in words if len(word) >= min_length or word == "<digit>"]
    words = [word for word in words if word not in (stop_words or ())]
    found = [
        " ".join(words[i : i + n]) for n in range(1, ngrams + 1) for i in range(len(words) - n + 1)
    ]
    if prefix is not None:
        found += [
            word[:prefix] + "*" for word in words if len(word) >= prefix and word != "<digit>"
        ]
    if characters is not None:
        for word in (text.lower() if lowercase else text).split():
            edged, (least, most) = f" {word} ", characters
            sizes = {min(size, len(edged)) for size in range(least, most + 1)}
            found += [
                f'"{edged[i : i + size]}"' for size in sizes for i in range(len(edged) - size + 1)
            ]
    return found


class SlowVectorizer:
    """Learns one text at a time; ``row`` weighs a text by what was learned so far."""

    def __init__(
        self, min_df=1, tf="count", idf=None, norm=None, slope=0.3, character_weight=1.0, **tokens
    ):
        self.character_weight = character_weight
        self.min_df, self.tf, self.idf, self.norm, self.slope, self.tokens = (
            min_df,
            tf,
            idf,
            norm,
            slope,
            tokens,
        )
        self.documents = []  # the set of features of each document

    def learn(self, text):
        found = features(text, **self.tokens)
        self.documents.append(set(found))

    def row(self, text):
        u = Counter(feature for document in self.documents for feature in document)
        m = len(self.documents)
        known = {feature for feature in u if u[feature] >= self.min_df}
        d = {
            feature: n
            for feature, n in Counter(features(text, **self.tokens)).items()
            if feature in known
        }
        if not d:
            return {}
        tf = {"count": float, "log": lambda n: 1 + math.log(n), "boolean": lambda n: 1.0}[self.tf]
        idf = {
            None: lambda feature: 1.0,
            "plain": lambda feature: math.log(m / u[feature]),
            "smooth": lambda feature: math.log((1 + m) / (1 + u[feature])) + 1,
        }[self.idf]
        of_kind = {feature: self.character_weight if feature[0] == '"' else 1.0 for feature in d}
        x = {feature: tf(n) * idf(feature) * of_kind[feature] for feature, n in d.items()}
        if self.norm == "l2":
            length = math.sqrt(sum(value**2 for value in x.values())) or 1.0
            x = {feature: value / length for feature, value in x.items()}
        if self.norm == "pivoted":
            average = sum(d.values()) / len(d)
            pivot = sum(len(document & known) for document in self.documents) / m
            scale = tf(average) * ((1 - self.slope) + self.slope * len(d) / pivot)
            x = {feature: value / scale for feature, value in x.items()}
        return {feature: value for feature, value in x.items() if value != 0}
