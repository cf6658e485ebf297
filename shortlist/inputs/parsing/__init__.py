"""What several formats are parsed with."""
