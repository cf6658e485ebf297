"""For measuring coverage: few examples of each property run the same lines as many, and no test
runs for ever.

A test that takes long as plain Python is stopped and skipped; the lines that it ran until then
count.
"""

import signal

import pytest
from hypothesis import settings

LONGEST = 20  # seconds of processor time

settings.register_profile("few", deadline=None, derandomize=True, max_examples=10)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    if not hasattr(signal, "SIGPROF"):  # not on Windows
        return (yield)
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def stop(_, frame):
    # it may hold a lock, which it would keep for ever
    if frame.f_globals.get("__name__", "").startswith("coverage."):
        signal.setitimer(signal.ITIMER_PROF, 0.01)
    else:
        pytest.skip(f"stopped after {LONGEST} s of processor time")
