"""Texts that wait to be judged, in the state directory: who has which, in which order they come, what became of them.

The journal stays the truth. A text's id is the key under which its judgement is learned, so that nothing is learned
twice; and the queue follows the journal as models do: a text is judged when its key stands there, and waits again when
that example was taken back.

    store.py        the texts on disk; leases that two processes cannot both give
    following.py    what the journal says about them
    importing.py    files of any format to texts
    gain.py         how much a judgement would teach                 handing.py   the next text for a person
    sure.py         texts of which the model is sure, decided alone  routes.py    over HTTP, in the shapes of shapes.py
"""
