"""The server: ranks, explains and learns over HTTP, and loses nothing that it has acknowledged.

The journal is the truth. Every model in memory is a replica that follows it: a model file, and the number in the
journal that it has learned up to. So starting up, catching up with another process, writing a snapshot, taking an
example back, rehearsing a candidate, promoting it and going back are one and the same thing: begin at a model file, and
learn what the journal holds after it, one example at a time.

    journal.py      examples and undos on disk, in order, chained by checksums; one commit for many requests
    documents.py    how texts, fields, rows and vectors are written  replica.py   a model that follows the journal
    snapshots.py    model files beside the journal, salvage          backup.py    copies of all of it
    rehearsal.py    the journal replayed with a candidate            promotion.py which takes its place, and back
    queue.py        texts that wait to be judged, and the next one   exporting.py examples in other tools' layouts
    watching.py     how the model fares over time                    people.py    who may use the server, for what
    app.py          all routes, and the page in page/                routes.py    what all routes share
    ranking.py, learning.py, queue_routes.py, reporting.py           routes of labels, in the shapes of schemas.py
    rating.py       routes of models that rate, and of rows          middleware.py limits, token, headers, logs
    serving.py      the lock, the socket, signals                    background.py what goes on beside the requests
    settings.py     what a server is told                            client.py    asks a server, from elsewhere
    metrics.py, logs.py
"""
