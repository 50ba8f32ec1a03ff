-- What nodes are for, what recipes are told about them, and how far they have drifted from it.

CREATE TABLE roles (
	id           INTEGER PRIMARY KEY,
	site_id      INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord          INTEGER,
	name         TEXT NOT NULL,
	recipes      TEXT,
	check_every  TEXT,
	check_window TEXT,
	vars         TEXT,
	UNIQUE (site_id, name)
) STRICT;

ALTER TABLE sites ADD COLUMN vars TEXT;
ALTER TABLE sites ADD COLUMN check_every TEXT;
ALTER TABLE sites ADD COLUMN check_window TEXT;
ALTER TABLE sites ADD COLUMN check_splay TEXT;
ALTER TABLE locations ADD COLUMN vars TEXT;
ALTER TABLE racks ADD COLUMN vars TEXT;

-- One row per look at a node; the newest of a node is its state. Old ones are swept, see store_drift.c.
CREATE TABLE drift_reports (
	id       INTEGER PRIMARY KEY,
	node_id  INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
	run      TEXT NOT NULL,
	at       INTEGER NOT NULL,
	since    INTEGER NOT NULL, -- the first look that saw this state without another between
	state    TEXT NOT NULL CHECK (state IN ('ok', 'drift', 'unknown', 'failed', 'unreachable')),
	recipes  TEXT NOT NULL,
	reason   TEXT NOT NULL DEFAULT '',
	hint     TEXT NOT NULL DEFAULT '',
	findings INTEGER NOT NULL DEFAULT 0 -- all there were; the first of them are rows
) STRICT;
CREATE INDEX drift_reports_of_node ON drift_reports (node_id, id);

CREATE TABLE drift_findings (
	report_id INTEGER NOT NULL REFERENCES drift_reports (id) ON DELETE CASCADE,
	ord       INTEGER NOT NULL,
	recipe    TEXT NOT NULL,
	step      INTEGER NOT NULL, -- 0: a check of the recipe
	name      TEXT NOT NULL,
	state     TEXT NOT NULL,
	why       TEXT NOT NULL DEFAULT '',
	diff      TEXT NOT NULL DEFAULT '',
	since     INTEGER NOT NULL,
	PRIMARY KEY (report_id, ord)
) STRICT;

-- When the daemon looked last, and what came of it; one row per node.
CREATE TABLE checks_due (
	node_id INTEGER PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
	last    INTEGER NOT NULL,
	failed  INTEGER NOT NULL DEFAULT 0 -- looks in a row that could not be done
) STRICT;
