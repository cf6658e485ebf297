"""The errors a user can meet. Each is one sentence: what is wrong, where, and what to do about it.

    ShortlistError
    ├── InputError       an array, a text, a file or an option is not what it should be   (also a ValueError)
    └── ModelFileError   a model file cannot be written, read or trusted                  (also an OSError)

The terminal prints the sentence and exits with code 2; the server sends it as the answer.
"""


class ShortlistError(Exception):
    """Any error that shortlist raises on purpose."""


class InputError(ShortlistError, ValueError):
    """An array, a text, a file or an option is not what it should be."""


class ModelFileError(ShortlistError, OSError):
    """A model file cannot be written, read or trusted."""
