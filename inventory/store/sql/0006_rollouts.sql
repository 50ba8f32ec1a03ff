-- What is kept of a rollout beside its run (mode 'rollout'): where it stands, where each node stands,
-- how it came there, and what was found on it. The words of states and events are those of
-- controller/rollout/stages.h; a list of them here would cost a table of its own per move.

CREATE TABLE rollouts (
	run_id      INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
	body        TEXT NOT NULL, -- what was ordered, JSON
	paused      INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
	asked       TEXT NOT NULL DEFAULT '' CHECK (asked IN ('', 'pause', 'resume', 'abort')),
	asked_by    TEXT NOT NULL DEFAULT '',
	asked_ns    INTEGER NOT NULL DEFAULT 0,
	reason      TEXT NOT NULL DEFAULT '',
	forgiven_ns INTEGER NOT NULL DEFAULT 0,
	opened_ns   INTEGER NOT NULL DEFAULT 0,
	stage       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE rollout_nodes (
	run_id    INTEGER NOT NULL REFERENCES rollouts (run_id) ON DELETE CASCADE,
	node_id   INTEGER NOT NULL REFERENCES nodes (id),
	node_name TEXT NOT NULL,
	state     TEXT NOT NULL,
	since_ns  INTEGER NOT NULL,
	stage     INTEGER NOT NULL,
	tries     INTEGER NOT NULL,
	fence     TEXT NOT NULL DEFAULT '', -- JSON
	reason    TEXT NOT NULL DEFAULT '',
	hint      TEXT NOT NULL DEFAULT '',
	signature TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (run_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rollout_moves (
	id         INTEGER PRIMARY KEY,
	run_id     INTEGER NOT NULL REFERENCES rollouts (run_id) ON DELETE CASCADE,
	node_id    INTEGER NOT NULL REFERENCES nodes (id),
	at_ns      INTEGER NOT NULL,
	from_state TEXT NOT NULL,
	event      TEXT NOT NULL DEFAULT '', -- '' when the node was put into the rollout
	to_state   TEXT NOT NULL,
	why        TEXT NOT NULL DEFAULT '',
	hint       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX rollout_moves_of_node ON rollout_moves (run_id, node_id);

-- Files beside the database: evidence/RUN/NODE/NAME.
CREATE TABLE evidence (
	run_id    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	node_id   INTEGER NOT NULL REFERENCES nodes (id),
	name      TEXT NOT NULL,
	node_name TEXT NOT NULL, -- as the folder is named
	at_ns     INTEGER NOT NULL,
	sha256    TEXT NOT NULL,
	bytes     INTEGER NOT NULL,
	PRIMARY KEY (run_id, node_id, name)
) STRICT;
