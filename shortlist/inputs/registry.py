"""The formats, by name, from the most particular to the most general: sniffing asks them in this order."""

from __future__ import annotations

from shortlist.inputs.format import Format
from shortlist.inputs.formats.annotation_tools import Doccano, LabelStudio
from shortlist.inputs.formats.class_folders import ClassFolders
from shortlist.inputs.formats.delimited import Csv, Tsv
from shortlist.inputs.formats.frames import Frames
from shortlist.inputs.formats.json_array import JsonArray
from shortlist.inputs.formats.json_lines import JsonLines
from shortlist.inputs.formats.numbers import Numbers
from shortlist.inputs.formats.parquet import Parquet
from shortlist.inputs.formats.sparse import Letor, SvmLight, Xmc
from shortlist.inputs.formats.text_lines import FastText, PlainLines

FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (
        Frames,
        Parquet,
        Doccano,
        JsonLines,
        LabelStudio,
        JsonArray,
        FastText,
        Xmc,
        Letor,
        SvmLight,
        Csv,
        Tsv,
        Numbers,
        ClassFolders,
        PlainLines,
    )
}


def add_formats(*kinds: type[Format]) -> None:
    """Read these formats too; they are asked before those that are known already."""
    known = dict(FORMATS)
    FORMATS.clear()
    FORMATS.update({kind.name: kind for kind in kinds} | known)
