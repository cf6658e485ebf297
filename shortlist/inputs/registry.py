"""The formats, by name, from the most particular to the most general: sniffing asks them in this order."""

from __future__ import annotations

from shortlist.inputs.collections.books import Books
from shortlist.inputs.collections.cranfield import Cranfield, CranfieldJudgements
from shortlist.inputs.collections.eachmovie import EachMovie
from shortlist.inputs.collections.movielens import MovieLens
from shortlist.inputs.collections.rcv1 import Rcv1Judgements, Rcv1Tokens
from shortlist.inputs.collections.reuters import Reuters
from shortlist.inputs.collections.trec import TrecQrels, TrecRun
from shortlist.inputs.collections.trec_text import TrecDocuments, TrecTopics
from shortlist.inputs.format import Format
from shortlist.inputs.formats.arff import Arff
from shortlist.inputs.formats.class_folders import ClassFolders
from shortlist.inputs.formats.delimited import Csv, Tsv
from shortlist.inputs.formats.doccano import Doccano
from shortlist.inputs.formats.fasttext import FastText
from shortlist.inputs.formats.frames import Frames
from shortlist.inputs.formats.json_array import JsonArray
from shortlist.inputs.formats.json_lines import JsonLines
from shortlist.inputs.formats.label_studio import LabelStudio
from shortlist.inputs.formats.letor import Letor
from shortlist.inputs.formats.lines import PlainLines
from shortlist.inputs.formats.numbers import Numbers
from shortlist.inputs.formats.parquet import Parquet
from shortlist.inputs.formats.svmlight import SvmLight
from shortlist.inputs.formats.xmc import Xmc

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
        Doccano,
        JsonLines,
        LabelStudio,
        JsonArray,
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
