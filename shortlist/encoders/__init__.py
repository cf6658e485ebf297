"""Text to dense vectors: encoders whose weights are in a folder or an installed package, checked by
digest.

    encoder.py     Encoder, load_encoder, and static tables, which have a vector for each token
    network.py     networks that onnxruntime runs, from an ONNX file or from safetensors
    universal.py   the multilingual Universal Sentence Encoder
    finding.py     the files of an encoder and its settings; the known names and their digests

Nothing here opens a connection. ``pip install '.[meaning]'`` installs the packages that are needed.
"""

from shortlist.encoders.encoder import Encoder, load_encoder, load_same

__all__ = ["Encoder", "load_encoder", "load_same"]
