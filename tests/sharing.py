"""What takes long to make, or costs while it waits, is made once for a group of tests, and is
closed when it ends.
"""

from contextlib import ExitStack


class Shared:
    """Things that the tests of a group share: a cluster, a browser."""

    def __init__(self):
        self.derived, self._open = {}, ExitStack()

    def get(self, make):
        """What the context manager that ``make`` returns gives, made when it is first asked for."""
        if make not in self.derived:
            self.derived[make] = self._open.enter_context(make())
        return self.derived[make]

    def close(self):
        self.derived.clear()
        self._open.close()


SHARED = Shared()
