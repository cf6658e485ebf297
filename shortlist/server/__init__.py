"""The server: ranks, explains and learns over HTTP. What it acknowledges is on disk and in the
model.

The journal is the truth. Each model in memory is a replica that follows it: a model file, and the
number in the journal up to which the replica has learned. Starting up, following another process,
writing a snapshot, undoing an example, rehearsing a candidate, promoting it and going back are the
same operation: open a model file and learn what the journal holds after it, one example at a time.

journal.py            judgements, changes of labels and undos, in order: write, read, undo, verify
entries.py            the two kinds of entries, and the rows that hold them
checksums.py          the chain of checksums, and the record of its end
journal_file.py       the SQLite file: tables, and the migration of its earlier version
journal_errors.py     the errors of the journal
journal_history.py    what the page and the queue ask of the journal
journal_writer.py     the thread that writes to it
taught.py             what each entry has added to a connection
journal_audit.py      examples whose labels may be wrong
snapshots.py          the state directory: locks, and model files beside the journal
salvage.py            the sound part of a damaged journal
backup.py             copies of a state directory
exporting.py          examples in the layouts of other tools
replica.py            a model that follows the journal
background.py         tasks beside the requests: following, snapshots
candidates.py         models to rehearse
rehearsals.py         the journal replayed with a candidate
promotion.py          serving a candidate, and going back
review_queue.py       texts that wait to be judged
queue_following.py    which of them are judged, by the journal
queue_order.py        which text comes next
deciding.py           the model decides texts of the queue, now or as they arrive
promises.py           what spot checks say of decisions, and when deciding pauses
queue_files.py        the texts of files
kept_rows.py          columns of files that go with their texts into exports
people.py             people, roles and tokens
settings.py           settings and limits
logs.py               one JSON object a line
client.py             asks a running server
app.py                the application: start, socket, stop
middleware.py         admission, limits, headers, metrics
context.py            what the routes share
label_names.py        labels by name
teaching.py           from a judgement that was sent to a model that has learned it
routes.py             how a route is made, and its answers
problems.py           errors as answers
schemas.py            shapes of questions and answers
ranking_routes.py     routes that rank, rate and explain
model_routes.py       routes that look at the model, its labels and its examples
learning_routes.py    routes that teach, change labels and undo
strike_routes.py      routes that strike out words
group_routes.py       the route of groups of texts that may need a new label
queue_routes.py       routes of the queue
deciding_routes.py    routes by which the model decides
audit_routes.py       the route of audits
taught_routes.py      the route that tells who taught a vote
promotion_routes.py   routes that rehearse and promote
text_vectors.py       vectors of the texts of requests, also while an endpoint is away
embeddings.py         an encoder over HTTP, as /v1/embeddings
"""
