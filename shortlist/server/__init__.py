"""The server: ranks, explains and learns over HTTP. What it acknowledges is on disk and in the
model.

The journal is the truth. Each model in memory is a replica that follows it: a model file, and the
number in the journal up to which the replica has learned. Starting up, following another process,
writing a snapshot, undoing an example, rehearsing a candidate, promoting it and going back are the
same operation: open a model file and learn what the journal holds after it, one example at a time.

journal.py            examples and undos on disk, in order, with chained checksums
snapshots.py          the state directory: locks, model files beside the journal, salvage
replica.py            a model that follows the journal; background tasks
rehearsals.py         the journal replayed with a candidate; promoting it, and going back
review_queue.py       texts that wait to be judged, and which comes next
exporting.py          examples in the layouts of other tools; backups
people.py             people, roles and tokens
settings.py           settings, limits and logs
client.py             asks a running server
app.py                the application: start, socket, stop
middleware.py         admission, limits, headers, metrics
routes.py             what all routes share
schemas.py            shapes of questions and answers
ranking_routes.py     routes that only look
learning_routes.py    routes that learn, and of the queue
reporting_routes.py   routes for exports, audits, rehearsals and promotion
embeddings.py         an encoder over HTTP, as /v1/embeddings
text_vectors.py       vectors of the texts of requests
"""
