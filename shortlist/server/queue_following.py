"""The queue follows the journal: which of its texts are judged, and by which example."""

from __future__ import annotations

from shortlist.server.journal import Journal, Version
from shortlist.server.journal_history import History
from shortlist.server.review_queue import ID_PREFIX, Queue, judgement_of


def follow(queue: Queue, journal: Journal) -> None:
    """Bring a queue up to the journal, whoever wrote to it; begin anew if it is another journal."""
    with queue.explaining():
        version, fits = _followed(queue, journal)
    if fits and journal.version() == version:
        return
    with queue.transaction(durable=False):
        version, fits = _followed(queue, journal)
        wait_again = "state = 'waiting', example = NULL, attempt = attempt + 1, later = 0"
        if fits:
            wait_again += ", until = 0"  # its reservation has ended
        else:
            # texts were added, or the journal is another one or was salvaged; reservations stay
            version = Version(0, 0)
            queue.db.execute(
                "UPDATE items SET state = 'waiting', example = NULL, attempt = 1 "
                "WHERE state = 'judged'"
            )
        _follow_since(queue, journal, version, wait_again)


def _followed(queue: Queue, journal: Journal) -> tuple[Version, bool]:
    """Return the moment of the journal that the queue has followed, and whether this journal had
    it.
    """
    query = "SELECT examples, undos, seal FROM followed"
    examples, undos, seal = queue.db.execute(query).fetchone()
    version = Version(examples, undos)
    return version, seal is not None and journal.seal(version) == seal


def _follow_since(queue: Queue, journal: Journal, version: Version, wait_again: str) -> None:
    now = journal.version()
    history = History(journal)
    for number, key in history.keyed(ID_PREFIX, version.examples + 1, now.examples):
        id_and_attempt = judgement_of(key)
        if id_and_attempt is not None:
            id, attempt = id_and_attempt
            queue.db.execute(
                "UPDATE items SET state = 'judged', example = ?, attempt = ? WHERE id = ?",
                (number, attempt, id),
            )
    for number in history.undone_between(version.undos + 1, now.undos):
        queue.db.execute(f"UPDATE items SET {wait_again} WHERE example = ?", (number,))
    queue.db.execute(
        "UPDATE followed SET examples = ?, undos = ?, seal = ?", (*now, journal.seal(now))
    )
