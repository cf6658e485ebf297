"""The formats, by name, from the most particular to the most general: sniffing asks them in this order."""

from __future__ import annotations

from shortlist.inputs.class_folders import ClassFolders
from shortlist.inputs.delimited import Csv, Tsv
from shortlist.inputs.fasttext import FastText
from shortlist.inputs.format import Format
from shortlist.inputs.json_lines import JsonLines
from shortlist.inputs.letor import Letor
from shortlist.inputs.lines import PlainLines
from shortlist.inputs.svmlight import SvmLight
from shortlist.inputs.xmc import Xmc

FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (
        JsonLines,
        FastText,
        Xmc,
        Letor,
        SvmLight,
        Csv,
        Tsv,
        ClassFolders,
        PlainLines,
    )
}
