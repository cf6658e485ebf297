"""The public data sets of the experiments: what each is, where it is published, and how it is laid
out.

None of them comes with this library: most are free for research, not for redistribution. A data
folder holds each set as a folder or as an archive, under its publisher's name or ours.
``finding.py`` finds them there, ``fetching.py`` downloads what can be downloaded. The last four are
the papers' own sets, which were not at hand; where one is there, experiments take it instead of
what stands in for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shortlist.errors import InputError


@dataclass(frozen=True)
class Remote:
    """A file at the publisher's. ``digest`` is "sha256:…" or "md5:…"; empty where no digest of
    it is published.
    """

    url: str
    name: str
    digest: str = ""


@dataclass(frozen=True)
class DataSet:
    """A data set as its publisher offers it, and where the experiments expect it."""

    name: str
    what: str
    publisher: str
    address: str
    size: str  # of the download
    licence: str
    folder: str  # its name in a data folder
    marker: str  # a pattern of what stands in that folder, by which it is known
    files: str  # patterns of the files that are read
    # sha256 over the sorted paths and bytes of these files, as ``content_digest`` computes it
    digest: str = ""
    folders: tuple[str, ...] = ()  # other names of the folder
    archives: tuple[str, ...] = ()  # names of archives
    remotes: tuple[Remote, ...] = ()  # what to download; empty where there is no direct download
    by_hand: str = ""  # how to get it where there is none

    def is_in(self, folder: Path) -> bool:
        """Whether this folder holds it."""
        return any(folder.glob(self.marker))

    def missing(self, data: Path) -> str:
        """What to say where it is not there."""
        accepted = ", ".join(
            [f"{self.folder}/", *(f"{name}/" for name in self.folders), *self.archives]
        )
        if self.remotes:
            how = (
                f"Download it with: python -m papers --fetch {self.name} --data {data}; or put it "
                "there yourself"
            )
        else:
            how = f"{self.by_hand}; put it there"
        return (
            f"the data set {self.name} is not in {data}: {self.what}, published by "
            f"{self.publisher} at {self.address} "
            f"({self.size}; {self.licence}). {how}, as one of: {accepted}"
        )


MULAN = "https://raw.githubusercontent.com/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label"
RCV1_FILES = (  # numbers and digests as in scikit-learn
    (
        5976048,
        "rcv1-v2.topics.qrels.gz",
        "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    ),
    (
        5976057,
        "lyrl2004_vectors_train.dat.gz",
        "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
    ),
    (
        5976069,
        "lyrl2004_vectors_test_pt0.dat.gz",
        "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
    ),
    (
        5976066,
        "lyrl2004_vectors_test_pt1.dat.gz",
        "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
    ),
    (
        5976063,
        "lyrl2004_vectors_test_pt2.dat.gz",
        "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
    ),
    (
        5976060,
        "lyrl2004_vectors_test_pt3.dat.gz",
        "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
    ),
)
DATASETS = {
    one.name: one
    for one in [
        DataSet(
            name="reuters21578",
            what="Reuters-21578, Distribution 1.0: 21,578 news stories as SGML",
            publisher="David D. Lewis and the UCI Knowledge Discovery in Databases Archive",
            address="http://kdd.ics.uci.edu/databases/reuters21578/reuters21578.html",
            size="8 MB, 27 MB unpacked",
            licence="free for research only, copyright Reuters",
            folder="reuters21578",
            marker="reut2-000.sgm",
            files="reut2-*.sgm",
            digest="c738afdb5bf4cb52bb0f624cb230df759433e079b590181bc56bd65dc581a862",
            archives=("reuters21578.tar.gz", "reuters21578.tar.xz"),
            remotes=(
                Remote(
                    "http://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
                    "reuters21578.tar.gz",
                ),
            ),
        ),
        DataSet(
            name="newsgroups",
            what="20 Newsgroups, the original 19,997 postings",
            publisher="Tom Mitchell and the UCI Machine Learning Repository",
            address="https://archive.ics.uci.edu/dataset/113/twenty+newsgroups",
            size="17 MB, 92 MB unpacked",
            licence="no licence stated; free for research by custom",
            folder="20_newsgroups",
            marker="alt.atheism",
            files="*/*",
            digest="77b79a92c15c7353f1da5d4177463789f348aaf47be039761685e13ba11bb571",
            archives=("20_newsgroups.tar.gz", "20newsgroups-original.tar.xz"),
            remotes=(
                Remote(
                    "https://archive.ics.uci.edu/ml/machine-learning-databases/20newsgroups-mld/20_newsgroups.tar.gz",
                    "20_newsgroups.tar.gz",
                ),
            ),
        ),
        DataSet(
            name="newsgroups-bydate",
            what="20 Newsgroups by date: 11,314 postings to train and 7,532 to test",
            publisher="Jason Rennie; the copy that scikit-learn loads",
            address="http://qwone.com/~jason/20Newsgroups/",
            size="14 MB, 85 MB unpacked",
            licence="no licence stated; free for research by custom",
            folder="20newsgroups",
            marker="20news-bydate-train",
            files="20news-bydate-*/*/*",
            digest="5ca9c6e5732459c285139ec6dfdfd8629180c4c881b988af78534729da8c01a7",
            archives=("20news-bydate.tar.gz", "20newsgroups-bydate.tar.xz"),
            remotes=(
                Remote(
                    "https://ndownloader.figshare.com/files/5975967",
                    "20news-bydate.tar.gz",
                    "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                ),
            ),
        ),
        DataSet(
            name="austen",
            what="Jane Austen's six novels as plain text",
            publisher="Project Gutenberg; without its preambles, the R package janeaustenr",
            address="https://github.com/juliasilge/janeaustenr",
            size="1 MB, 4 MB unpacked",
            licence="public domain",
            folder="austen",
            marker="emma.txt",
            files="*.txt",
            digest="3a6436f0fc8a2cdf8e1f471a58ee4cd383369e6a730d03ee027d71e8ea430050",
            archives=("austen.tar.xz",),
            by_hand=(
                "write the lines of the package's emma, mansfieldpark and so on to emma.txt, "
                "mansfieldpark.txt, …"
            ),
        ),
        DataSet(
            name="rcv1",
            what=(
                "15,000 documents of RCV1-v2 as vectors with 103 topics, from the five subsets of "
                "MULAN and LIBSVM"
            ),
            publisher=(
                "Lewis, Yang, Rose and Li (JMLR 2004); the subsets in the R package mldr.datasets"
            ),
            address="https://github.com/fcharte/mldr.datasets",
            size="5 MB, 17 MB unpacked",
            licence="free for research",
            folder="rcv1_subsets",
            marker="rcv1_aligned_15k.svm",
            files="rcv1_aligned_15k.svm topics.txt",
            digest="2796bbe314ef5a2cc1e59d5d5efa0dce24fae79600c6c4b41e6081a73d7b71c2",
            archives=("rcv1_subsets.tar.xz",),
            by_hand="the subsets as published have their topics displaced in one half of each; "
            "the file is made of the "
            "other halves, as lines 'topic,topic feature:value …'",
        ),
        DataSet(
            name="finna",
            what="653,485 titles of Finnish libraries in English with 25,147 subjects",
            publisher="the National Library of Finland",
            address="https://github.com/NatLibFi/Annif-corpora",
            size="32 MB",
            licence="CC0 (Finna's metadata and the subjects' names)",
            folder="finna",
            marker="finna.tsv.gz",
            files="finna*.tsv.gz",
            digest="cadb5877099e9362dbaedb04e09afa2d4a13deedc4d2c1135e974145ec08b12b",
            by_hand="write training/yso-finna-en.tsv.gz as lines 'p1 p2<TAB>title' to "
            "finna.tsv.gz, and the names of "
            "vocab/yso-en.tsv as lines 'p1<TAB>name' to finna-labels.tsv.gz",
        ),
        DataSet(
            name="movielens",
            what="MovieLens 100k: 100,000 ratings of films, 1 to 5",
            publisher="GroupLens, University of Minnesota",
            address="https://grouplens.org/datasets/movielens/100k/",
            size="5 MB, 16 MB unpacked",
            licence="free for research with acknowledgement, no redistribution",
            folder="movielens100k",
            marker="u.data",
            files="u.data",
            digest="d714b0dc2c04a8a80c30dc9011ca6d786ffb7230b894bd34dde6c07df9cb309a",
            folders=("ml-100k",),
            archives=("ml-100k.zip", "movielens100k.tar.xz"),
            remotes=(
                Remote(
                    "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
                    "ml-100k.zip",
                    "sha256:50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
                ),
            ),
        ),
        DataSet(
            name="ohsumed",
            what="LETOR 3.0's OHSUMED: 106 queries, 16,140 documents, 45 features",
            publisher="Microsoft Research Asia",
            address="https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/",
            size="1 MB, 8 MB unpacked",
            licence="free for research",
            folder="letor_ohsumed",
            marker="fold1_test.txt",
            files="fold?_test.txt",
            digest="2cfc84f5572de6f3a2895e647a74f19fcc1849e411658ebd39cf85107059f849",
            archives=("letor_ohsumed.tar.xz",),
            by_hand=(
                "copy Fold1/test.txt to Fold5/test.txt of OHSUMED/Feature-min to fold1_test.txt "
                "to fold5_test.txt"
            ),
        ),
        DataSet(
            name="cranfield",
            what="the Cranfield collection: 1,400 abstracts, 225 queries, 1,837 judgements",
            publisher="the University of Glasgow",
            address="http://ir.dcs.gla.ac.uk/resources/test_collections/cran/",
            size="0.5 MB, 2 MB unpacked",
            licence="no licence stated",
            folder="cranfield",
            marker="cran.all.1400",
            files="cran.all.1400 cran.qry cranqrel",
            digest="acd5842c52335ee31893034df3e68b6b3712a9190b63beeaee418329db13feee",
            folders=("cran",),
            archives=("cran.tar.gz", "cranfield.tar.xz"),
            remotes=(
                Remote(
                    "http://ir.dcs.gla.ac.uk/resources/test_collections/cran/cran.tar.gz",
                    "cran.tar.gz",
                    "md5:1730f7be572d95a5a4b56c59a7b900a5",
                ),
            ),
        ),
        DataSet(
            name="robust03",
            what=(
                "17 runs submitted to the Robust Track of TREC 2003 on its 100 topics, and the "
                "judgements"
            ),
            publisher="NIST",
            address="https://trec.nist.gov/results/trec12/robust.input.html",
            size="21 MB",
            licence="runs are for registered participants of TREC; the judgements are public",
            folder="trec_robust03",
            marker="robust03_qrels.txt",
            files="robust03_qrels.txt runs/input.*",
            digest="2c45715b8d69f6d14e303e568b3c869d4bcb98b4439286235b62d395a286e98c",
            archives=("trec_robust03.tar.xz",),
            by_hand=(
                "put input.*.gz of the runs into runs/, and their judgements beside it as "
                "robust03_qrels.txt"
            ),
        ),
        DataSet(
            name="mulan",
            what="MULAN's Delicious (983 tags) and Bibtex (159 tags) with their splits, as ARFF",
            publisher="the authors of MULAN",
            address="https://github.com/tsoumakas/mulan/tree/master/data/multi-label",
            size="7 MB",
            licence="not stated for the data",
            folder="mulan_arff",
            marker="delicious-train.arff",
            files="*.arff",
            digest="f7b527fb3f2814f81b2eb9a634484cc0ae3a76696c2c4fff6998e3ec2c603b6f",
            archives=("mulan_arff.tar.xz",),
            remotes=(
                Remote(
                    f"{MULAN}/delicious/delicious-train.arff",
                    "delicious-train.arff",
                    "sha256:030186cdb542ebdd32052fcdbb1ebe30115b3a22518c1b4b198c45eb827aebe1",
                ),
                Remote(
                    f"{MULAN}/delicious/delicious-test.arff",
                    "delicious-test.arff",
                    "sha256:2dfb01723a819914b0ca83361177ed413ce3f2169851d9f228d4692915d63944",
                ),
                Remote(
                    f"{MULAN}/bibtex/bibtex-train.arff",
                    "bibtex-train.arff",
                    "sha256:8dcc9de6e0b2cebaec8c1f4fac78431adeeb73cfd3ab879b530a66d366e59174",
                ),
                Remote(
                    f"{MULAN}/bibtex/bibtex-test.arff",
                    "bibtex-test.arff",
                    "sha256:9b03329cde64d3f994bdf7fbbac3f3b10fe185c311cb9ae725475f59c7f3f922",
                ),
            ),
        ),
        DataSet(
            name="rcv1-v2",
            what=(
                "all of RCV1-v2: 804,414 documents as stemmed words or as vectors, with topics "
                "and industries"
            ),
            publisher=(
                "Lewis, Yang, Rose and Li (JMLR 2004); vectors and topics in the copy that "
                "scikit-learn loads"
            ),
            address="http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm",
            size="650 MB of vectors and topics; 180 MB of words",
            licence="free for research; the texts themselves only under an agreement with NIST",
            folder="rcv1-v2",
            marker="rcv1-v2.topics.qrels*",
            files="rcv1-v2.*.qrels* lyrl2004_*.dat*",
            folders=("rcv1v2", "lyrl2004"),
            remotes=tuple(
                Remote(f"https://ndownloader.figshare.com/files/{number}", name, f"sha256:{digest}")
                for number, name, digest in RCV1_FILES
            ),
        ),
        DataSet(
            name="eachmovie",
            what="EachMovie: 2,811,983 scores of 72,916 persons for 1,628 films",
            publisher="DEC Systems Research Center",
            address="http://www.research.digital.com/SRC/eachmovie/",
            size="17 MB",
            licence="was free for research; withdrawn in 2004",
            folder="eachmovie",
            marker="[Vv]ote.txt*",
            files="[Vv]ote.txt*",
            folders=("EachMovie",),
            archives=("eachmovie.tar.gz", "eachmovie.zip"),
            by_hand="it is not offered any more; whoever has it needs Vote.txt alone",
        ),
        DataSet(
            name="wt10g",
            what=(
                "WT10g: 1.69 million web pages, with topics and judgements of the Web Tracks of "
                "TREC 9 and 10"
            ),
            publisher="the University of Glasgow; topics and judgements by NIST",
            address="http://ir.dcs.gla.ac.uk/test_collections/wt10g.html",
            size="2.7 GB, 11 GB unpacked",
            licence="for a fee, under an agreement",
            folder="wt10g",
            marker="WTX001",
            files="WTX*/B* *topics* *qrels*",
            folders=("WT10g", "WT10G"),
            by_hand="lay the folders WTX001 to WTX104 of its disks side by side, and beside them "
            "topics.451-500, "
            "topics.501-550 and the two files of qrels from "
            "https://trec.nist.gov/data/webmain.html",
        ),
        DataSet(
            name="industry",
            what="Industry Sector: 9,600 web pages of companies in 104 industries",
            publisher="Andrew McCallum",
            address="http://www.cs.umass.edu/~mccallum/data/sector.tar.gz",
            size="21 MB",
            licence="no licence stated",
            folder="sector",
            marker="*.sector",
            files="*.sector/*/*",
            folders=("industry", "industry_sector"),
            archives=("sector.tar.gz",),
            by_hand=(
                "the address does not answer any more; whoever has the archive can use it as it is"
            ),
        ),
    ]
}


def dataset(name: str) -> DataSet:
    """The data set of that name."""
    if name not in DATASETS:
        raise InputError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    return DATASETS[name]
