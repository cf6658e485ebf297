"""Stages that work at the same time give what they give one after the other, errors at their
place included.
"""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from shortlist import Categorizer, FeatureFocus, InputError
from shortlist.concurrency import AHEAD, by_threads, prefetch
from tests.contract import as_bytes


def test_items_come_in_order_and_the_error_behind_them():
    def items():
        yield from range(10)
        raise InputError("line 11 is bad")

    made = prefetch(items())
    assert [next(made) for _ in range(10)] == list(range(10))
    with pytest.raises(InputError, match="line 11"):
        next(made)


def test_threads_keep_the_order_and_stay_a_few_items_ahead():
    begun = []
    made = by_threads(lambda n: begun.append(n) or n * n, range(100), 3)
    assert [next(made) for _ in range(5)] == [0, 1, 4, 9, 16]
    assert len(begun) <= 5 + 3 + AHEAD
    assert list(made) == [n * n for n in range(5, 100)]


def test_a_stage_waits_when_it_is_far_enough_ahead():
    made = []

    def items():
        for n in range(100):
            made.append(n)
            yield n

    taken = iter(prefetch(items()))
    assert next(taken) == 0
    time.sleep(0.05)
    assert len(made) <= 1 + 1 + AHEAD
    before = threading.active_count()
    taken.close()
    assert threading.active_count() < before  # whoever stops early leaves no thread behind


@pytest.mark.long
def test_the_user_can_stop_what_waits_for_input(tmp_path):
    Categorizer().learn("wheat", "grain").save(tmp_path / "model")
    code = (
        "import signal, sys\nfrom shortlist.cli import main\nfrom shortlist import Categorizer\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\nlearn = "
        "Categorizer.learn_batches\n"
        "def say_and_learn(*all):\n    print('learning', flush=True)\n    learn(*all)\n"
        "Categorizer.learn_batches = say_and_learn\n"
        f"sys.argv = ['shortlist', 'learn', {str(tmp_path / 'model')!r}, '-', '--format', "
        "'fasttext']\nmain()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, "-c", code], **pipes, cwd=Path(__file__).parents[2]
    ) as running:
        running.stdin.write(b"__label__grain corn and more\n")
        running.stdin.flush()
        assert running.stdout.readline() == b"learning\n"
        while running.poll() is None:  # its input stays open
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
        assert running.returncode == 130


def test_stages_overlap():
    """The second stage holds on to its first item until the first stage has begun the next, and
    so does the third.
    """
    begun = [threading.Event(), threading.Event()]

    def first():
        yield 0
        begun[0].set()
        yield 1

    def second(items):
        for item in items:
            assert item or begun[0].wait(60)
            yield item
            begun[1].set()

    def third(items):
        for item in items:
            assert item or begun[1].wait(60)
            yield item

    assert list(third(prefetch(second(prefetch(first()))))) == [0, 1]


WORDS = ["wheat", "corn", "bank", "rates", "oil", "ship", "grain", "gold", "sugar", "trade"]


def batches(n=20, size=30):
    for b in range(n):
        numbers = range(b * size, (b + 1) * size)
        texts = [
            " ".join(WORDS[(i * k) % 10] for k in (1, 3, 7)) + f" word{i % 50}" for i in numbers
        ]
        yield texts, [[WORDS[i % 10], f"label {i % 7}"] for i in numbers]


def test_learning_from_a_stream_is_learning_batch_by_batch():
    apart = Categorizer()
    for texts, labels in batches():
        apart.learn_many(texts, labels)
    assert as_bytes(Categorizer().learn_batches(batches())) == as_bytes(apart)


@pytest.mark.parametrize("learner", [FeatureFocus(), FeatureFocus(n_jobs=2)])
def test_fitting_from_a_stream_is_fitting_all_texts(learner):
    texts = [text for some, _ in batches(size=60) for text in some]
    labels = [own for _, some in batches(size=60) for own in some]
    stream = Categorizer(learner).fit_batches(batches(size=60))
    assert as_bytes(stream) == as_bytes(Categorizer(learner).fit(texts, labels))


def test_what_came_before_a_bad_batch_is_learned():
    def with_bad():
        yield from batches(3)
        yield ["a text"], [["fine"], ["one too many"]]

    stream = Categorizer()
    with pytest.raises(InputError, match="there is 1 example but labels for 2"):
        stream.learn_batches(with_bad())
    assert as_bytes(stream) == as_bytes(Categorizer().learn_batches(batches(3)))
