"""The papers' protocols.

Each paper has its files: ``topics`` and ``topic_*`` (001), ``ratings`` and ``rating_*`` (002), ``documents`` and
``document_*`` (003), ``index_*`` (004); ``rcv1`` serves two. ``catalogue`` lists their experiments, ``experiment`` says
what one is, ``running`` runs them, ``coverage`` lists what the papers have and where it is. ``datasets``, ``finding``,
``fetching`` and ``archives`` get the data. Apart from the papers, ``compare`` sets learners side by side and ``myriad``
makes up streams of very many classes.
"""
