"""One file for each published collection, read as its publisher lays it out."""
