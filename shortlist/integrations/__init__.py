"""Drop-ins for other tools, over the journal of a running server, which stays the only one that writes to it."""
