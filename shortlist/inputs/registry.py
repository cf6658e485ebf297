"""The formats, by name, from the most particular to the most general: sniffing asks them in this order."""

from __future__ import annotations

from shortlist.inputs.arff import Arff
from shortlist.inputs.books import Books
from shortlist.inputs.class_folders import ClassFolders
from shortlist.inputs.cranfield import Cranfield, CranfieldJudgements
from shortlist.inputs.delimited import Csv, Tsv
from shortlist.inputs.eachmovie import EachMovie
from shortlist.inputs.fasttext import FastText
from shortlist.inputs.format import Format
from shortlist.inputs.frames import Frames
from shortlist.inputs.json_lines import JsonLines
from shortlist.inputs.letor import Letor
from shortlist.inputs.lines import PlainLines
from shortlist.inputs.movielens import MovieLens
from shortlist.inputs.numbers import Numbers
from shortlist.inputs.parquet import Parquet
from shortlist.inputs.rcv1 import Rcv1Judgements, Rcv1Tokens
from shortlist.inputs.reuters import Reuters
from shortlist.inputs.svmlight import SvmLight
from shortlist.inputs.trec import TrecQrels, TrecRun
from shortlist.inputs.trec_text import TrecDocuments, TrecTopics
from shortlist.inputs.xmc import Xmc

FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (
        Frames,
        Parquet,
        Reuters,
        TrecDocuments,
        TrecTopics,
        Arff,
        Rcv1Tokens,
        Cranfield,
        CranfieldJudgements,
        JsonLines,
        FastText,
        Xmc,
        Letor,
        SvmLight,
        MovieLens,
        EachMovie,
        TrecRun,
        TrecQrels,
        Rcv1Judgements,
        Csv,
        Tsv,
        Numbers,
        ClassFolders,
        Books,
        PlainLines,
    )
}
