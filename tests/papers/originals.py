"""The papers' own corpora in small: made up here, in the layouts of their publishers."""

import gzip

import numpy as np

# paths in RCV1's tree of topics
TOPICS = ("C15 C151 CCAT", "C15 C152 CCAT", "G15 GCAT", "M11 M1 MCAT")
INDUSTRIES = ("I34000", "I34400 I34000")


def eachmovie(folder, viewers=6, films=260):
    """Most viewers have seen most films; a viewer's score follows the film's worth."""
    random = np.random.default_rng(0)
    worth = random.uniform(0, 5, films)
    lines = [
        f"{viewer}\t{film + 1}\t{round(np.clip(worth[film] + random.normal(0, 0.7), 0, 5)) / 5:g}\t1\t2/14/97 0:00\r\n"
        for viewer in range(2, 2 * viewers + 2, 2)
        for film in range(films)
        if random.random() < 0.9
    ]
    folder.mkdir(parents=True)
    (folder / "Vote.txt").write_text("".join(lines), encoding="utf-8", newline="")
    (folder / "Person.txt").write_text("2\t35\tF\t94301\n", encoding="utf-8")
    (folder / "Movie.txt").write_text("1\tA Film\thttp://films.example/1\n", encoding="utf-8")


def rcv1(folder, words=True, vectors=True, each=30):
    """Documents whose words come from their lowest topic; the training part and two pieces of
    the test part.
    """
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    topics, industries, number = [], [], 2286
    for part, n in (("train", 2 * each), ("test_pt0", each), ("test_pt1", each)):
        tokens, rows = [], []
        for _ in range(n):
            kind = int(random.integers(len(TOPICS)))
            drawn = np.unique(
                np.concatenate(
                    [10 * kind + random.integers(0, 10, 5), 40 + random.integers(0, 10, 4)]
                )
            )
            tokens.append(f".I {number}\n.W\n{' '.join(f'stem{letter(n)}' for n in drawn)}\n\n")
            rows.append(
                f"{number}  {' '.join(f'{n + 1}:{random.uniform(0.1, 0.5):.6f}' for n in drawn)}\n"
            )
            topics += [f"{topic} {number} 1\n" for topic in TOPICS[kind].split()]
            industries += [
                f"{code} {number} 1\n" for code in INDUSTRIES[number % 2].split() if kind < 2
            ]
            number += 1
        for wanted, name, lines in ((words, "tokens", tokens), (vectors, "vectors", rows)):
            if wanted:
                (folder / f"lyrl2004_{name}_{part}.dat.gz").write_bytes(
                    gzip.compress("".join(lines).encode())
                )
    (folder / "rcv1-v2.topics.qrels").write_text("".join(topics), encoding="utf-8")
    (folder / "rcv1-v2.industries.qrels").write_text("".join(industries), encoding="utf-8")


def letter(n):
    return chr(97 + n // 26) + chr(97 + n % 26)


def wt10g(folder, queries=18):
    """For each topic two pages about it and one that only mentions it, in bundles; topics and
    qrels beside them.
    """
    pages, judged, topics = [], [], []
    for q in range(queries):
        subject = f"subject{letter(q)}"
        topics.append(
            f"<top>\n\n<num> Number: {451 + q} \n<title> {subject} \n\n<desc> Description: \n"
            f"Find pages about {subject}.\n\n<narr> Narrative: \nOthers are not "
            "relevant.\n\n</top>\n\n"
        )
        for n, text in enumerate(
            (f"{subject} and {subject} again", f"all of {subject}", f"{subject} in a long list")
        ):
            name = f"WTX00{1 + q % 2}-B0{1 + n % 2}-{len(pages) + 1}"
            filler = " ".join(f"word{letter((7 * q + 5 * n + i) % 60)}" for i in range(6 + 8 * n))
            pages.append((name, f"<HTML><TITLE>{text}</TITLE><BODY>{filler}</BODY></HTML>"))
            judged.append(f"{451 + q} 0 {name} {2 if n == 0 else int(n == 1)}\n")
    for bundle in ("WTX001/B01.gz", "WTX001/B02.gz", "WTX002/B01.gz", "WTX002/B02.gz"):
        path = folder / bundle
        path.parent.mkdir(parents=True, exist_ok=True)
        own = [
            page
            for page in pages
            if page[0].startswith(bundle.replace("/", "-").removesuffix(".gz"))
        ]
        header = "<DOCHDR>\nHTTP/1.0 200 OK\n</DOCHDR>"
        records = [
            f"<DOC>\n<DOCNO>{name}</DOCNO>\n{header}\n{page}\n</DOC>\n" for name, page in own
        ]
        path.write_bytes(gzip.compress("".join(records).encode()))
    (folder / "topics.451-500").write_text("".join(topics), encoding="latin-1")
    (folder / "qrels.trec9.main_web").write_text("".join(judged), encoding="utf-8")


def industry(folder, each=12):
    """Pages of three industries in two sectors, as a crawler kept them."""
    random = np.random.default_rng(2)
    words = {
        "energy.sector/coal.industry": "mine shaft coal",
        "energy.sector/oil.and.gas.industry": "well pump gas",
        "transportation.sector/railroad.industry": "rail train track",
    }
    for place, own in words.items():
        (folder / place).mkdir(parents=True)
        for n in range(each):
            text = " ".join(random.choice([*own.split(), "company", "annual", "report"], 8))
            header = "HTTP/1.0 200 OK\nContent-type: text/html\n\n" if n % 2 else ""
            page = (
                f"{header}<html><title>Report</title><body "
                f"class=industry>\n\n<p>{text}</p></body></html>"
            )
            (folder / place / f"http:^^www.company{n}.example^").write_text(
                page, encoding="latin-1"
            )
