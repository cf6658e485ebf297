"""What of a text is new, and how like the last ones it is."""

from shortlist.server.queue_order import COUNTED_TEXTS, Novelty, likeness


def words(*own):
    return frozenset(own)


def test_words_that_others_have_and_nobody_judged_are_new():
    novelty = Novelty()
    shared, lonely, half = (
        words("wheat", "corn"),
        words("quagga", "okapi"),
        words("wheat", "quagga"),
    )
    for number, own in enumerate([shared, shared, lonely, half, words("wheat")]):
        novelty.meet(number, own)
    assert novelty.share(shared) == 1.0
    assert 0.0 < novelty.share(half)
    assert novelty.share(words("okapi")) == 0.0, "no other text would gain by it"
    assert novelty.share(words()) == 0.0
    novelty.judge(shared)
    assert novelty.share(shared) == 0.5
    novelty.judge(words("wheat"))
    assert 1 / 3 < novelty.share(shared) < 0.5


def test_a_text_is_met_once_and_many_are_enough():
    novelty = Novelty()
    for _ in range(2):
        novelty.meet(1, words("zebra"))
    assert novelty.share(words("zebra")) == 0.0, "once: nobody else has it"
    for number in range(COUNTED_TEXTS + 10):
        novelty.meet(number, words("corn") if number < COUNTED_TEXTS else words("late", "later"))
    assert novelty.share(words("corn")) == 1.0
    assert novelty.share(words("late")) == 0.0


def test_likeness_is_that_of_the_most_similar():
    others = [words("wheat", "corn"), words("wheat", "rye", "oats"), words()]
    assert likeness(words("wheat"), others) == 1 / 2
    assert likeness(words("rye", "wheat"), others) == 2 / 3
    assert (
        likeness(words("zebra"), others)
        == likeness(words(), others)
        == likeness(words("rye"), [])
        == 0.0
    )
