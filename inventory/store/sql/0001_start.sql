-- What a site is, who may touch its nodes now, and what was done to them.
-- Dialect shared by SQLite and PostgreSQL but for STRICT. Times: *_ns wall nanoseconds, else wall seconds.
-- ord: the row's place in the imported file; NULL while a re-import has not named the row again.

CREATE TABLE settings (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;

CREATE TABLE sites (
	id      INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	about   TEXT,
	file    TEXT,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL
) STRICT;

CREATE TABLE locations (
	id      INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord     INTEGER,
	name    TEXT NOT NULL,
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE cooling_zones (
	id         INTEGER PRIMARY KEY,
	site_id    INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord        INTEGER,
	name       TEXT NOT NULL,
	kind       TEXT NOT NULL CHECK (kind IN ('air', 'rdhx', 'liquid')),
	capacity_w REAL,
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE racks (
	id              INTEGER PRIMARY KEY,
	site_id         INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord             INTEGER,
	name            TEXT NOT NULL,
	location_id     INTEGER REFERENCES locations (id),
	cooling_zone_id INTEGER REFERENCES cooling_zones (id),
	height_u        INTEGER NOT NULL CHECK (height_u BETWEEN 1 AND 100),
	depth_mm        REAL,
	max_weight_kg   REAL,
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE panels (
	id          INTEGER PRIMARY KEY,
	site_id     INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord         INTEGER,
	name        TEXT NOT NULL,
	location_id INTEGER REFERENCES locations (id),
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE feeds (
	id              INTEGER PRIMARY KEY,
	site_id         INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord             INTEGER,
	name            TEXT NOT NULL,
	panel_id        INTEGER REFERENCES panels (id),
	rack_id         INTEGER REFERENCES racks (id),
	volts           REAL NOT NULL CHECK (volts > 0),
	phases          INTEGER NOT NULL CHECK (phases IN (1, 3)),
	amps            REAL NOT NULL CHECK (amps > 0),
	max_utilization REAL CHECK (max_utilization > 0 AND max_utilization <= 1),
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE pdus (
	id      INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord     INTEGER,
	name    TEXT NOT NULL,
	rack_id INTEGER REFERENCES racks (id),
	feed_id INTEGER REFERENCES feeds (id),
	amps    REAL CHECK (amps > 0),
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE outlets (
	id     INTEGER PRIMARY KEY,
	pdu_id INTEGER NOT NULL REFERENCES pdus (id) ON DELETE CASCADE,
	ord    INTEGER,
	name   TEXT NOT NULL,
	type   TEXT,
	bank   INTEGER NOT NULL DEFAULT 0,
	phase  INTEGER NOT NULL DEFAULT 0 CHECK (phase BETWEEN 0 AND 3),
	UNIQUE (pdu_id, name)
) STRICT;

CREATE TABLE device_types (
	id              INTEGER PRIMARY KEY,
	site_id         INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord             INTEGER,
	name            TEXT NOT NULL,
	maker           TEXT,
	height_u        INTEGER NOT NULL CHECK (height_u BETWEEN 0 AND 100),
	full_depth      INTEGER NOT NULL CHECK (full_depth IN (0, 1)),
	depth_mm        REAL,
	weight_kg       REAL,
	watts_nameplate REAL,
	watts_max       REAL,
	watts_capped    REAL,
	watts_measured  REAL,
	watts_origin    TEXT NOT NULL
		CHECK (watts_origin IN ('declared', 'catalogue', 'reported', 'verified', 'assumed')),
	watts_source    TEXT,
	psus            INTEGER NOT NULL DEFAULT 0,
	psus_needed     INTEGER NOT NULL DEFAULT 0,
	gpus            INTEGER NOT NULL DEFAULT 0,
	gpu             TEXT,
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE port_templates (
	id        INTEGER PRIMARY KEY,
	type_id   INTEGER NOT NULL REFERENCES device_types (id) ON DELETE CASCADE,
	ord       INTEGER NOT NULL,
	kind      TEXT NOT NULL CHECK (kind IN ('ethernet', 'infiniband', 'power', 'bmc')),
	names     TEXT NOT NULL,
	connector TEXT
) STRICT;

CREATE TABLE devices (
	id             INTEGER PRIMARY KEY,
	site_id        INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord            INTEGER,
	name           TEXT NOT NULL,
	role           TEXT,
	type_id        INTEGER REFERENCES device_types (id),
	rack_id        INTEGER REFERENCES racks (id),
	position       INTEGER NOT NULL DEFAULT 0 CHECK (position >= 0),
	face           TEXT NOT NULL CHECK (face IN ('front', 'rear')),
	status         TEXT NOT NULL CHECK (status IN ('planned', 'staged', 'active', 'offline')),
	serial         TEXT,
	watts_measured REAL,
	watts_cap      REAL,
	UNIQUE (site_id, name)
) STRICT;
CREATE INDEX devices_of_rack ON devices (rack_id);

CREATE TABLE ports (
	id        INTEGER PRIMARY KEY,
	device_id INTEGER NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
	ord       INTEGER,
	name      TEXT NOT NULL,
	kind      TEXT NOT NULL CHECK (kind IN ('ethernet', 'infiniband', 'power', 'bmc')),
	connector TEXT,
	mac       TEXT,
	UNIQUE (device_id, name)
) STRICT;

CREATE TABLE cords (
	id        INTEGER PRIMARY KEY,
	port_id   INTEGER NOT NULL UNIQUE REFERENCES ports (id) ON DELETE CASCADE,
	outlet_id INTEGER NOT NULL UNIQUE REFERENCES outlets (id) ON DELETE CASCADE,
	ord       INTEGER
) STRICT;

CREATE TABLE cables (
	id       INTEGER PRIMARY KEY,
	port_a   INTEGER NOT NULL UNIQUE REFERENCES ports (id) ON DELETE CASCADE,
	port_b   INTEGER NOT NULL UNIQUE REFERENCES ports (id) ON DELETE CASCADE,
	ord      INTEGER,
	type     TEXT,
	label    TEXT,
	length_m REAL,
	CHECK (port_a <> port_b)
) STRICT;

-- Nodes are never deleted, for the sake of their history: one that the file no longer names is
-- retired, has no ord, and comes back under its id when it is named again.
CREATE TABLE nodes (
	id        INTEGER PRIMARY KEY,
	site_id   INTEGER NOT NULL REFERENCES sites (id),
	ord       INTEGER,
	name      TEXT NOT NULL,
	device_id INTEGER REFERENCES devices (id) ON DELETE SET NULL,
	address   TEXT NOT NULL,
	port      INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
	login     TEXT,
	role      TEXT,
	host_key  TEXT,
	vars      TEXT NOT NULL DEFAULT '{}',
	state     TEXT NOT NULL DEFAULT 'expected'
		CHECK (state IN ('expected', 'discovered', 'inspected', 'ready', 'deploying',
			'deployed', 'failed', 'rescue', 'retired')),
	reason    TEXT NOT NULL DEFAULT '',
	agent     TEXT NOT NULL DEFAULT '',
	boot_id   TEXT NOT NULL DEFAULT '',
	os        TEXT NOT NULL DEFAULT '',
	seen      INTEGER NOT NULL DEFAULT 0,
	UNIQUE (site_id, name)
) STRICT;

CREATE TABLE facts (
	node_id INTEGER NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
	topic   TEXT NOT NULL,
	value   TEXT NOT NULL,
	origin  TEXT NOT NULL
		CHECK (origin IN ('declared', 'catalogue', 'reported', 'verified', 'assumed')),
	at      INTEGER NOT NULL,
	PRIMARY KEY (node_id, topic)
) STRICT;

CREATE TABLE leases (
	node_id INTEGER PRIMARY KEY REFERENCES nodes (id),
	run     TEXT NOT NULL,
	owner   TEXT NOT NULL,
	taken   INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT;
CREATE INDEX leases_of_run ON leases (run);

CREATE TABLE runs (
	id         INTEGER PRIMARY KEY,
	name       TEXT NOT NULL UNIQUE,
	mode       TEXT NOT NULL,
	recipes    TEXT NOT NULL,
	nodes      TEXT NOT NULL,
	started_by TEXT NOT NULL,
	state      TEXT NOT NULL
		CHECK (state IN ('running', 'done', 'failed', 'cancelled', 'interrupted')),
	plan_hash  TEXT NOT NULL DEFAULT '',
	bundle     TEXT NOT NULL DEFAULT '',
	started_ns INTEGER NOT NULL,
	ended_ns   INTEGER NOT NULL DEFAULT 0,
	n_nodes    INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_time ON runs (started_ns);

CREATE TABLE node_results (
	run_id    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	node_id   INTEGER NOT NULL REFERENCES nodes (id),
	node_name TEXT NOT NULL,
	state     TEXT NOT NULL
		CHECK (state IN ('ok', 'changed', 'skipped', 'failed', 'denied', 'timeout',
			'interrupted', 'unknown')),
	counts    TEXT NOT NULL,
	plan_hash TEXT NOT NULL DEFAULT '',
	reason    TEXT NOT NULL DEFAULT '',
	hint      TEXT NOT NULL DEFAULT '',
	took_ns   INTEGER NOT NULL,
	-- CPU on the node: of the pass, and of the agent's whole process; 0 when not told
	agent_pass_ns    INTEGER NOT NULL DEFAULT 0,
	agent_process_ns INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (run_id, node_id)
) STRICT;

CREATE TABLE events (
	id      INTEGER PRIMARY KEY,
	run_id  INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	node_id INTEGER NOT NULL REFERENCES nodes (id),
	seq     INTEGER NOT NULL,
	record  TEXT NOT NULL,
	UNIQUE (run_id, node_id, seq)
) STRICT;
CREATE INDEX events_of_run ON events (run_id);

-- hash = SHA-256 of prev and the row, see store_audit.c; the first prev is empty.
CREATE TABLE audit_log (
	id     INTEGER PRIMARY KEY,
	at_ns  INTEGER NOT NULL,
	who    TEXT NOT NULL,
	what   TEXT NOT NULL,
	object TEXT NOT NULL,
	detail TEXT NOT NULL,
	prev   TEXT NOT NULL,
	hash   TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_log_keep BEFORE UPDATE ON audit_log
BEGIN
	SELECT RAISE(ABORT, 'the audit log is append only');
END;
CREATE TRIGGER audit_log_stay BEFORE DELETE ON audit_log
BEGIN
	SELECT RAISE(ABORT, 'the audit log is append only');
END;
