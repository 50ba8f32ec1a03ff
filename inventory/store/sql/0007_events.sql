-- Events are appended and nothing else: an index over run, node and seq was touched on a page of its
-- own by each row of a commit. Records of a node come in the order of their seq, so that the last
-- one tells which are repeats.
CREATE TABLE event_marks (
	run_id  INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	node_id INTEGER NOT NULL,
	seq     INTEGER NOT NULL, -- the highest that is kept
	PRIMARY KEY (run_id, node_id)
) STRICT, WITHOUT ROWID;
INSERT INTO event_marks (run_id, node_id, seq)
	SELECT run_id, node_id, MAX(seq) FROM events GROUP BY run_id, node_id;

CREATE TABLE events_kept (
	id      INTEGER PRIMARY KEY,
	run_id  INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	node_id INTEGER NOT NULL REFERENCES nodes (id),
	record  TEXT NOT NULL
) STRICT;
INSERT INTO events_kept (id, run_id, node_id, record)
	SELECT id, run_id, node_id, record FROM events ORDER BY id;
DROP TABLE events;
ALTER TABLE events_kept RENAME TO events;
CREATE INDEX events_of_run ON events (run_id);
