"""What scikit-learn's metadata routing must be able to do for a test."""

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

needs_routing_through_pipelines = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason=(
        "the search of scikit-learn 1.6 and 1.7 does not ask a Pipeline what its score takes "
        "(docs/documents.md)"
    ),
)
