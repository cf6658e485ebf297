"""A file or stream -> examples: one file per format, sniffing, and errors that name file, line
and column.
"""

from shortlist.inputs.examples import Examples, Skipped
from shortlist.inputs.reading import FORMATS, Stream, read, sniff

__all__ = ["FORMATS", "Examples", "Skipped", "Stream", "read", "sniff"]
