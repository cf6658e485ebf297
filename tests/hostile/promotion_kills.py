"""kill -9 while models are promoted and taken back under people who judge.

    python tests/hostile/promotion_kills.py --count 20
    python tests/hostile/promotion_kills.py --long          # 200 kills

What goes on in queue_kills.py goes on here; a sixth person promotes a rehearsed candidate, which is
of other settings, and goes back, over and over. After each life of a server the base must be the
one that was acknowledged last, or the one that was asked for since; the journal and the queue as in
queue_kills.py; and the model that base and then the journal's examples, byte for byte.
"""

import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # when it is run as a program

from shortlist.server import promotion, rehearsals, snapshots
from shortlist.server.journal import Journal
from shortlist.server.people import Role, changing
from shortlist.server.rehearsals import LEAST_EXAMPLES, candidate_like
from tests.hostile.kills import wait_a_little_for
from tests.hostile.queue_kills import Judging, first_texts, run_queue

PROMOTER = "eve"


class Promoting(Judging):
    """What was asked for and acknowledged, the base among it."""

    def __init__(self, folder):
        super().__init__(folder)
        with changing(folder) as people:
            self.tokens[PROMOTER] = people.add(PROMOTER, Role.MANAGE)
        self.promoting = False  # whether a promotion, or going back, is under way
        self.bases = {promotion.file_seal(folder / snapshots.BASE)}  # one of which must be there

    def threads(self, url, chance, stop):
        job = (url, chance.randrange(2**60), self.promote, PROMOTER, stop)
        return [*super().threads(url, chance, stop), threading.Thread(target=self.work, args=job)]

    def see_kill(self, chance):
        """Mostly in the midst of a change."""
        if chance.random() < 0.7:
            wait_a_little_for(lambda: self.promoting)
            time.sleep(chance.uniform(0.0, 0.1))
        self.found["while deciding"] += self.deciding
        self.found["while changing"] += self.promoting

    def promote(self, client, name, chance):
        """Promote the candidate, or go back."""
        told = client.ask("rehearsal")
        can_promote = told["candidate"] is not None and told["candidate"]["fits"]
        if not can_promote and not told["can_go_back"]:
            time.sleep(0.05)
            return
        promotes = can_promote and (not told["can_go_back"] or chance.random() < 0.5)
        wanted = seal_of_the_first(self.folder, [promotion.CANDIDATE] if promotes else BEFORE)
        self.bases.add(wanted)
        self.promoting = True
        try:
            path, body = ("promote", {"force": True}) if promotes else ("go-back", {})
            answer = client.post(f"/v1/{path}", json=body)
        finally:
            self.promoting = False
        if answer.status_code == 409 and "a snapshot of" in answer.text:
            return  # being written; it can be tried again
        assert answer.status_code == 200, f"{answer.status_code}: {answer.text}"
        self.bases = {wanted}
        self.found["promoted" if promotes else "went back"] += 1
        time.sleep(chance.uniform(0.0, 0.3))

    def faults(self, model_file):
        found = super().faults(self.folder / snapshots.BASE)
        base = promotion.file_seal(self.folder / snapshots.BASE)
        found["lost"] += base not in self.bases
        self.bases = {base}
        self.rehearse()
        return found

    def rehearse(self):
        """See that there is a candidate, once enough was learned."""
        journal = Journal(self.folder)
        examples = journal.version().examples
        journal.close()
        last = promotion.last_rehearsal(self.folder)
        if examples >= 2 * LEAST_EXAMPLES and (last is None or not last["fits"]):
            rehearsals.rehearsed(self.folder, lambda present: (candidate_of(present), 0))


BEFORE = [promotion.ASIDE, promotion.BEFORE]


def seal_of_the_first(folder, names):
    """The seal of the first of these files that is there."""
    return next(
        (promotion.file_seal(folder / name) for name in names if (folder / name).exists()), "none"
    )


def candidate_of(present):
    """With other settings than the present one, whichever that is."""
    other = 0.2 if present.learner_.step != 0.2 else 0.1
    return candidate_like(present, None, {"step": other}).learn_many(*first_texts())


def summary(found):
    return (
        f"{found['while changing']} of them while a model was promoted or taken back, "
        f"{found['while deciding']} while "
        f"a decision was under way, {found['promoted']} promotions and {found['went back']} "
        "returns acknowledged"
    )


if __name__ == "__main__":
    run_queue(Promoting, summary, __doc__)
