"""The papers' protocols, comparators, corpora and reports: ``python -m papers --list``. Not part of
the wheel.

Each paper has its files: ``topics`` and ``topic_*`` (001), ``ratings`` and ``rating_*`` (002),
``documents`` and ``document_*`` (003), ``index_*`` (004); ``rcv1`` serves two. ``catalogue`` lists
their experiments, ``experiment`` says what one is, ``cells``, ``claims`` and ``contrasts`` what it
finds, ``running`` runs them, ``coverage`` lists what the papers have and where it is. ``datasets``, ``finding``, ``fetching`` and ``archives`` get the
data. ``comparators`` has the learners that the papers compare theirs with, ``corpora`` the formats
of their data, ``measures`` the measures of their tables alone, ``report`` the pages of results.
"""

import papers.corpora  # its formats are added to those that ``shortlist.read`` knows
import papers.measures  # noqa: F401 - measures of the papers' tables, added to those that ``evaluate`` knows
from shortlist.public_names import LEARNERS

LEARNERS.append("papers.comparators")
