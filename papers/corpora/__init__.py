"""The formats of the papers' corpora, which ``shortlist.read`` knows once ``papers`` is
imported.
"""

from papers.corpora.arff import Arff
from papers.corpora.books import Books
from papers.corpora.cranfield import Cranfield, CranfieldJudgements
from papers.corpora.eachmovie import EachMovie
from papers.corpora.movielens import MovieLens
from papers.corpora.rcv1 import Rcv1Judgements, Rcv1Tokens
from papers.corpora.reuters import Reuters
from papers.corpora.trec import TrecQrels, TrecRun
from papers.corpora.trec_text import TrecDocuments, TrecTopics
from shortlist.inputs.reading import FORMATS

OWN = (
    Reuters,
    TrecDocuments,
    TrecTopics,
    Arff,
    Rcv1Tokens,
    Cranfield,
    CranfieldJudgements,
    MovieLens,
    EachMovie,
    TrecRun,
    TrecQrels,
    Rcv1Judgements,
    Books,
)
known = dict(FORMATS)
FORMATS.clear()
FORMATS.update({kind.name: kind for kind in OWN} | known)  # in the order in which they are tried
