"""What the journal says about the texts of a queue: judged when their key stands there, waiting when it was taken back.

Judging is learning, under the text's key; nobody tells the queue. It looks how far the journal has come since it last
looked, whoever wrote there, and begins anew where the journal is not the one that it followed.
"""

from __future__ import annotations

from shortlist.server.journal import Journal, Version
from shortlist.server.queue.store import PREFIX, Queue, judgement_of


def follow(queue: Queue, journal: Journal) -> None:
    """Bring the queue up to the journal."""
    with queue.explaining():
        *seen, seal = queue.db.execute("SELECT examples, undos, seal FROM followed").fetchone()
    if journal.version() == Version(*seen) and seal is not None and journal.seal(Version(*seen)) == seal:
        return
    with queue.writing(durable=False):
        *seen, seal = queue.db.execute("SELECT examples, undos, seal FROM followed").fetchone()
        since, again = Version(*seen), "state = 'waiting', example = NULL, attempt = attempt + 1, later = 0"
        if seal is not None and journal.seal(since) == seal:
            again += ", until = 0"  # whoever judged it has it no longer
        else:  # more texts, another journal, or the sound part of a damaged one; who has which text stays so
            since = Version(0, 0)
            queue.db.execute("UPDATE items SET state = 'waiting', example = NULL, attempt = 1 WHERE state = 'judged'")
        now = journal.version()
        for number, key in journal.keyed(PREFIX, since.examples, now.examples):
            if (judged := judgement_of(key)) is not None:
                id, attempt = judged
                queue.db.execute(
                    "UPDATE items SET state = 'judged', example = ?, attempt = ? WHERE id = ?", (number, attempt, id)
                )
        for number in journal.undone_between(since.undos, now.undos):
            queue.db.execute(f"UPDATE items SET {again} WHERE example = ?", (number,))
        queue.db.execute("UPDATE followed SET examples = ?, undos = ?, seal = ?", (*now, journal.seal(now)))
