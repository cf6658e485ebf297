"""What scikit-learn loads and does not use stays out of the commands' process, and can be used all the same."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long
NOT_NEEDED = ("pandas", "pyarrow", "scipy.stats", "scipy.optimize", "sklearn.metrics", "sklearn.svm")

USUAL_MODEL = f"""
import sys
from shortlist.cli.lean import load_what_is_used
load_what_is_used()
from shortlist.models.making import Settings
Settings().model(of_texts=True)._new_learner()
print([name for name in {NOT_NEEDED} if name in sys.modules])
import scipy
from sklearn.utils import fixes
print(fixes._mode([1, 2, 2]).mode.tolist(), scipy.stats.rankdata([3, 1]).tolist())
"""

THAT_USES_THEM = """
import sys
from shortlist.cli import lean
lean.WHERE = "uses_them"
lean.UNUSED = ("json.decoder", "json.tool")
sys.path.insert(0, sys.argv[1])
sys.modules.pop("json.decoder")
lean.load_what_is_used()
lean.load_what_is_used()
import uses_them
print(uses_them.found, sum(isinstance(finder, lean.LeanFinder) for finder in sys.meta_path))
import nothing_of_the_kind
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)


def test_the_usual_model_loads_neither_pandas_nor_statistics():
    done = run(USUAL_MODEL)
    assert done.stdout.splitlines() == ["[]", "[2] [2.0, 1.0]"], done.stderr


def test_pandas_can_be_loaded_afterwards():
    pytest.importorskip("pandas")
    after = "import pandas\nprint(pandas.DataFrame({'a': [1]}).shape)"
    done = run(f"from shortlist.cli.lean import load_what_is_used\nload_what_is_used()\nimport sklearn\n{after}")
    assert done.stdout == "(1, 1)\n", done.stderr


def test_a_module_that_has_come_to_use_them_gets_them(tmp_path):
    (tmp_path / "uses_them.py").write_text("from json.decoder import JSONDecoder\nfound = JSONDecoder.__name__\n")
    done = run(THAT_USES_THEM, str(tmp_path))
    assert done.stdout == "JSONDecoder 1\n"
    assert "No module named 'nothing_of_the_kind'" in done.stderr


AS_THE_LIBRARY_KNOWS_IT = """
from shortlist.cli import lean
lean.never_keep_large()
lean.ctypes.CDLL = lambda name: object()
lean.never_keep_large()
print("nothing breaks where there is no such library")
"""


def test_the_c_library_is_told_what_to_give_back_where_it_can_be_told():
    done = run(AS_THE_LIBRARY_KNOWS_IT)
    assert done.stdout == "nothing breaks where there is no such library\n", done.stderr
