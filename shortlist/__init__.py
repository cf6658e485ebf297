"""shortlist: learn to rank from a stream."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Public name -> the module it stands in. Nothing is imported before it is used, so `import shortlist` is cheap.
_WHERE = {
    "InputError": "errors",
    "ModelFileError": "errors",
    "Ranking": "ranking",
    "ShortlistError": "errors",
    "load": "store",
}

__all__ = ["__version__", *_WHERE]

if TYPE_CHECKING:
    from shortlist.errors import InputError as InputError
    from shortlist.errors import ModelFileError as ModelFileError
    from shortlist.errors import ShortlistError as ShortlistError
    from shortlist.ranking import Ranking as Ranking
    from shortlist.store import load as load


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    return getattr(import_module(f"shortlist.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
