"""Each plot is written, shows its numbers, and refuses what it cannot draw."""

import builtins
import re

import numpy as np
import pytest

from shortlist import InputError, report

CURVES = {
    "FF": (np.arange(1, 11), np.linspace(0.5, 0.9, 10)),
    "IND": (np.arange(1, 11), np.linspace(0.4, 0.8, 10)),
}
DRAW = {
    "curves": lambda path: report.plot_curves(
        path, CURVES, "k", "R_k", "A true label among the first k", ylim=(0, 1)
    ),
    "reliability": lambda path: report.plot_reliability(
        path, [0.1, 0.6, 0.9], [0.2, 0.5, 0.95], [3, 40, 100]
    ),
    "frequency": lambda path: report.plot_frequency_recall(
        path, [0, 1, 2, 300], [0.0, 0.5, 0.4, 1.0]
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", DRAW)
def test_png_and_svg_are_written_alike_each_time(name, tmp_path):
    for suffix in (".png", ".svg"):
        files = [tmp_path / f"{i}{suffix}" for i in range(2)]
        for file in files:
            DRAW[name](file)
        assert files[0].read_bytes() == files[1].read_bytes()
    assert (tmp_path / "0.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "0.svg").read_text()


def test_every_label_is_a_point(tmp_path):
    report.plot_frequency_recall(tmp_path / "labels.svg", np.arange(1, 41), np.linspace(0, 1, 40))
    points = re.search(
        r'<g id="line2d_\d+">\s*<defs>\s*<path id="(\w+)"', (tmp_path / "labels.svg").read_text()
    )
    assert points


@pytest.mark.parametrize("name", ["plot.pdf", "plot", "plot.png.gz"])
def test_other_formats_are_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"ending in \.png or \.svg"):
        report.plot_curves(tmp_path / name, CURVES, "k", "R_k", "")


def test_lengths_must_agree(tmp_path):
    with pytest.raises(InputError, match="one length"):
        report.plot_frequency_recall(tmp_path / "plot.png", [1, 2], [0.5])


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def no_matplotlib(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    with pytest.raises(InputError, match=r"pip install '.\[plot\]'"):
        report.plot_curves(tmp_path / "plot.png", CURVES, "k", "R_k", "")
