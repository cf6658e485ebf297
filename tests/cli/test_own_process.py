"""The commands' process loads what it uses: no scikit-learn, SciPy or tables for a ranking of
texts.
"""

import subprocess
import sys

import pytest

NOT_NEEDED = ("pandas", "polars", "pyarrow", "scipy.stats", "scipy.optimize", "sklearn")

USUAL_MODEL = f"""
import sys
from shortlist import own_process
own_process.take()
from shortlist.models.training_settings import TrainingSettings
model = TrainingSettings().model(of_texts=True)
model.fit(["wheat rose", "rates fell"], ["grain", "money"])
assert model.rank("wheat").labels[0] == "grain"
model.save(sys.argv[1])
print([name for name in {NOT_NEEDED} if name in sys.modules])
from sklearn.base import clone
print(repr(clone(model)) == repr(model))
"""

AS_THE_LIBRARY_KNOWS_IT = """
from shortlist import own_process
own_process.never_keep_large()
own_process.ctypes.CDLL = lambda name: object()
own_process.never_keep_large()
print("nothing breaks where there is no such library")
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True
    )


@pytest.mark.long
def test_the_usual_model_learns_and_ranks_without_scikit_learn(tmp_path):
    done = run(USUAL_MODEL, str(tmp_path / "one.shortlist"))
    assert done.stdout.splitlines() == ["[]", "True"], done.stderr


@pytest.mark.long
def test_the_c_library_is_told_what_to_give_back_where_it_can_be_told():
    done = run(AS_THE_LIBRARY_KNOWS_IT)
    assert done.stdout == "nothing breaks where there is no such library\n", done.stderr
