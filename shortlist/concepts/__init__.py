"""What labels mean: their names and synonyms, what they are kinds of, and which labels there may be."""
