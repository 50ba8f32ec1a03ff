-- A database of schema 1 as stoika 0.1.0 made it, by sqlite3's .dump with the two pragmas added.
PRAGMA application_id = 1400139625; PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE settings (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;
INSERT INTO settings VALUES('audit_head','1 bb5f9bf07d7af95eccdb695bda988a5e836c5ded6c3f82f277bafe4702e82ee3');
INSERT INTO settings VALUES('controller','c1');
CREATE TABLE sites (
	id      INTEGER PRIMARY KEY,
	name    TEXT NOT NULL UNIQUE,
	about   TEXT,
	file    TEXT,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL
) STRICT;
INSERT INTO sites VALUES(1,'lab','two boxes and a switch',NULL,1796055053,1796055053);
CREATE TABLE locations (
	id      INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord     INTEGER,
	name    TEXT NOT NULL,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO locations VALUES(1,1,0,'hall');
CREATE TABLE cooling_zones (
	id         INTEGER PRIMARY KEY,
	site_id    INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord        INTEGER,
	name       TEXT NOT NULL,
	kind       TEXT NOT NULL CHECK (kind IN ('air', 'rdhx', 'liquid')),
	capacity_w REAL,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO cooling_zones VALUES(1,1,0,'row','air',40000.0);
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
INSERT INTO racks VALUES(1,1,0,'R1',1,1,42,1200.0,1000.0);
INSERT INTO racks VALUES(2,1,1,'R2',NULL,NULL,42,NULL,NULL);
CREATE TABLE panels (
	id          INTEGER PRIMARY KEY,
	site_id     INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord         INTEGER,
	name        TEXT NOT NULL,
	location_id INTEGER REFERENCES locations (id),
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO panels VALUES(1,1,0,'P1',1);
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
INSERT INTO feeds VALUES(1,1,0,'A',1,1,400.0,3,32.0,0.8000000000000000444);
INSERT INTO feeds VALUES(2,1,1,'B',NULL,1,230.0,1,16.0,NULL);
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
INSERT INTO pdus VALUES(1,1,0,'PA',1,1,NULL);
INSERT INTO pdus VALUES(2,1,1,'PB',1,2,16.0);
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
INSERT INTO outlets VALUES(1,1,0,'1','C19',1,2);
INSERT INTO outlets VALUES(2,2,1,'1','C13',0,0);
INSERT INTO outlets VALUES(3,2,2,'2',NULL,0,0);
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
INSERT INTO device_types VALUES(1,1,0,'box','Acme',4,1,900.0,30.0,4000.0,2000.0,NULL,1500.0,'catalogue','sheet 1',2,1,4,'l40s');
INSERT INTO device_types VALUES(2,1,1,'switch',NULL,1,0,NULL,NULL,NULL,NULL,NULL,NULL,'assumed',NULL,0,0,0,NULL);
CREATE TABLE port_templates (
	id        INTEGER PRIMARY KEY,
	type_id   INTEGER NOT NULL REFERENCES device_types (id) ON DELETE CASCADE,
	ord       INTEGER NOT NULL,
	kind      TEXT NOT NULL CHECK (kind IN ('ethernet', 'infiniband', 'power', 'bmc')),
	names     TEXT NOT NULL,
	connector TEXT
) STRICT;
INSERT INTO port_templates VALUES(1,1,0,'ethernet','eth[0-1]','sfp28');
INSERT INTO port_templates VALUES(2,2,1,'ethernet','p1',NULL);
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
INSERT INTO devices VALUES(1,1,0,'box1','gpu',1,1,1,'front','active','S1',1400.0,NULL);
INSERT INTO devices VALUES(2,1,1,'sw',NULL,2,NULL,0,'rear','planned',NULL,NULL,500.0);
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
INSERT INTO ports VALUES(1,1,0,'eth0','ethernet','sfp28',NULL);
INSERT INTO ports VALUES(2,1,1,'eth1','ethernet','sfp28','02:00:00:00:00:01');
INSERT INTO ports VALUES(3,1,2,'psu1','power',NULL,NULL);
INSERT INTO ports VALUES(4,1,3,'psu2','power',NULL,NULL);
INSERT INTO ports VALUES(5,2,4,'p1','ethernet',NULL,NULL);
CREATE TABLE cords (
	id        INTEGER PRIMARY KEY,
	port_id   INTEGER NOT NULL UNIQUE REFERENCES ports (id) ON DELETE CASCADE,
	outlet_id INTEGER NOT NULL UNIQUE REFERENCES outlets (id) ON DELETE CASCADE,
	ord       INTEGER
) STRICT;
INSERT INTO cords VALUES(1,3,1,0);
INSERT INTO cords VALUES(2,4,2,1);
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
INSERT INTO cables VALUES(1,1,5,0,'dac','L-1',2.5);
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
INSERT INTO nodes VALUES(1,1,0,'box1',1,'10.0.0.1',22,NULL,'gpu',NULL,'{"a":1}','expected','','','','',0);
INSERT INTO nodes VALUES(2,1,1,'bare10',NULL,'10.0.0.3',2222,'admin',NULL,'ssh-ed25519 AAAA','{}','expected','','','','',0);
INSERT INTO nodes VALUES(3,1,2,'bare2',NULL,'10.0.0.2',22,NULL,NULL,NULL,'{}','expected','','','','',0);
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
INSERT INTO runs VALUES(1,'r1','apply','motd','all','root','done','','',1,0,1);
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
INSERT INTO node_results VALUES(1,1,'box1','ok','{}','','','',0,0,0);
CREATE TABLE events (
	id      INTEGER PRIMARY KEY,
	run_id  INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	node_id INTEGER NOT NULL REFERENCES nodes (id),
	seq     INTEGER NOT NULL,
	record  TEXT NOT NULL,
	UNIQUE (run_id, node_id, seq)
) STRICT;
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
INSERT INTO audit_log VALUES(1,1796055053575749408,'root','import','lab','','','bb5f9bf07d7af95eccdb695bda988a5e836c5ded6c3f82f277bafe4702e82ee3');
CREATE INDEX devices_of_rack ON devices (rack_id);
CREATE INDEX leases_of_run ON leases (run);
CREATE INDEX runs_by_time ON runs (started_ns);
CREATE INDEX events_of_run ON events (run_id);
CREATE TRIGGER audit_log_keep BEFORE UPDATE ON audit_log
BEGIN
	SELECT RAISE(ABORT, 'the audit log is append only');
END;
CREATE TRIGGER audit_log_stay BEFORE DELETE ON audit_log
BEGIN
	SELECT RAISE(ABORT, 'the audit log is append only');
END;
COMMIT;
