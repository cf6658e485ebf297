"""The server: ranks, explains and learns over HTTP, and loses nothing that it has acknowledged.

The journal is the truth. Every model in memory is a replica that follows it, so starting up, catching up with another
process, writing a snapshot and taking an example back are one and the same thing: begin at a snapshot, and learn what
the journal holds after it, one example at a time.

    journal.py      examples and undos on disk, in order, chained by checksums; one commit for many requests
    snapshots.py    model files beside the journal, salvage          replica.py   a model that follows the journal
    app.py          all routes, with what is around them             context.py   what the routes share
    ranking.py, learning.py, looking.py, learned.py, operations.py   the routes, in the shapes of schemas.py
    rating.py       those of a model that rates texts or rows        rows.py      of rows, which do not learn
    documents.py    how texts, fields, rows, vectors are written     auditing.py  labels that may be wrong
    responses.py    answers and errors
    connections.py  limits before anything is asked                  people.py    who may use the server, for what
    reporting.py    routes that look back on judgements              exporting.py, watching.py
    rehearsal.py    the journal replayed with a candidate            promotion.py which takes its place
    promoting.py    the routes of both                               client.py    asks a server, from elsewhere
    backup.py       copies of a state directory, while it is served: a folder, or one file
    middleware.py   limits, token, headers, logs, metrics            serving.py   processes, sockets, signals
    background.py   what goes on beside the requests                 metrics.py, logs.py, page/
    settings.py     what a server is told                            queue/       texts that wait to be judged
"""
