"""The papers' protocols.

Each paper has its files: ``topics`` (001), ``ratings`` and ``rating_data`` (002), ``documents`` and ``document_data``
(003), ``index_*`` (004); ``rcv1`` serves two. ``catalogue`` lists their experiments, ``experiment`` says what one is,
``running`` runs them. ``datasets``, ``finding``, ``fetching`` and ``archives`` get the data. Apart from the papers,
``compare`` sets learners side by side and ``myriad`` makes up streams of very many classes.
"""
