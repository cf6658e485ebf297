"""Text to dense vectors: encoders whose weights are in a folder or an installed package, checked by digest.

    finding.py     where the files of an encoder are, and its settings; the known names and their digests
    graph.py       a BERT network from safetensors, as an ONNX graph
    network.py     onnxruntime, batches and threads
    universal.py   the multilingual Universal Sentence Encoder
    static.py      a table with a vector for each token, made from a network
    kept.py        graphs and tables on disk
    encoder.py     what people call

Nothing here opens a connection. ``pip install '.[meaning]'`` brings what it runs with.
"""

from shortlist.encoders.encoder import Encoder, load_encoder, load_same

__all__ = ["Encoder", "load_encoder", "load_same"]
