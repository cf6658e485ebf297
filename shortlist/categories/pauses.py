"""Why a kernel that learns has stopped before the end: what it needs first, from Python, to go on."""

DONE = 0  # it has not: all rows are learned
WANTS_SLOTS = 1  # room in the lists for the next example
WANTS_WEIGHTS = 2  # room for the weights of the classifiers behind an index
WANTS_EDGES = 3  # the index is as large as it may be: weak edges have to go
IS_FULL = 4  # the prototypes have as many weights as they may
RETIRES = 5  # the prototypes are about to change, and take their place among the voters
