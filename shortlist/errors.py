"""The errors a user can meet. Each is one sentence: what is wrong, where, and what to do about it.

    ShortlistError
    ├── InputError       an array, a text, a file or an option is wrong (also a ValueError)
    └── ModelFileError   a model file cannot be written, read or trusted (also an OSError)

The terminal prints the sentence and exits with code 2; the server sends it as the answer.
"""


class ShortlistError(Exception):
    """Any error that shortlist raises on purpose."""


class InputError(ShortlistError, ValueError):
    """An array, a text, a file or an option is not what it should be."""


class ModelFileError(ShortlistError, OSError):
    """A model file cannot be written, read or trusted."""


# How sentences count.


def counted(n: int, noun: str) -> str:
    """So many things, the word in the right number: 6 examples, 1 query."""
    singular = noun[:-3] + "y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"{n:,} {singular if n == 1 else noun}"


def there_are(n: int, noun: str) -> str:
    """That there are so many things, as a part of a sentence: there is 1 row, there are 6 rows."""
    return f"there {'is' if n == 1 else 'are'} {counted(n, noun)}"


def installing(extra: str) -> str:
    """How to install what a part needs. Nobody has published shortlist yet, so it is installed
    from its sources.
    """
    return f"in the folder of shortlist's sources, run: pip install '.[{extra}]'"
