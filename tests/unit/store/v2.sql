-- A database of schema 2 that holds tests/unit/import/everything.yaml, by sqlite3's .dump with the two pragmas added.
PRAGMA application_id = 1400139625; PRAGMA user_version = 2;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
, terms_policy_name TEXT, terms_policy_k_cont REAL, terms_policy_failover_k REAL, terms_policy_near_limit REAL, terms_policy_ups_share REAL, terms_altitude_m REAL, terms_floor_kpa REAL, terms_tile_kn REAL, terms_power_factor REAL, terms_region TEXT CHECK (terms_region IN ('iec', 'ul')), terms_misc_w REAL) STRICT;
INSERT INTO sites VALUES(1,'everything','every field that a site file can state','everything.yaml',1796059334,1796059334,'house',0.84999999999999997779,0.94999999999999995559,0.8000000000000000444,0.88000000000000000444,1500.0,12.0,4.5,0.95999999999999996447,'iec',1200.0);
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
	capacity_w REAL, cfm REAL, cold_aisle_c REAL, dew_point_c REAL, lpm REAL, supply_c REAL, rise_c REAL, draw_w REAL, on_generator INTEGER CHECK (on_generator IN (0, 1)), on_ups INTEGER CHECK (on_ups IN (0, 1)),
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO cooling_zones VALUES(1,1,0,'row','liquid',120000.0,9000.0,22.0,0.0,150.0,30.0,10.0,4000.0,1,1);
CREATE TABLE racks (
	id              INTEGER PRIMARY KEY,
	site_id         INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord             INTEGER,
	name            TEXT NOT NULL,
	location_id     INTEGER REFERENCES locations (id),
	cooling_zone_id INTEGER REFERENCES cooling_zones (id),
	height_u        INTEGER NOT NULL CHECK (height_u BETWEEN 1 AND 100),
	depth_mm        REAL,
	max_weight_kg   REAL, first_u INTEGER, footprint_mm_1 REAL, footprint_mm_2 REAL, clearance_m2 REAL, rail_to_door_mm REAL, feet INTEGER, own_kg REAL, pdu_kg REAL, cables_kg REAL, door_kg REAL, cooling_air_w REAL, cooling_cfm REAL, cooling_cold_aisle_c REAL, cooling_dew_point_c REAL, cooling_rdhx_curve TEXT, cooling_rdhx_water_c REAL, cooling_liquid_watts REAL, cooling_liquid_lpm REAL, cooling_liquid_supply_c REAL, cooling_liquid_rise_c REAL,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO racks VALUES(1,1,0,'R1',1,1,48,1200.0,1360.0,3,600.0,1200.0,0.59999999999999997779,120.0,6,160.0,8.5,25.0,60.0,20000.0,2400.0,23.499999999999999999,-3.0,'14 35000;18 30000;22.5 24000',18.0,60000.0,60.0,32.0,12.0);
INSERT INTO racks VALUES(2,1,1,'R2',NULL,NULL,42,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE panels (
	id          INTEGER PRIMARY KEY,
	site_id     INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord         INTEGER,
	name        TEXT NOT NULL,
	location_id INTEGER REFERENCES locations (id), volts REAL, phases INTEGER, amps REAL, max_utilization REAL, upstream_kind TEXT
	CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet')), upstream_ord INTEGER, backup_kind TEXT
	CHECK (backup_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet')), backup_ord INTEGER,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO panels VALUES(1,1,0,'main',1,400.0,3,630.0,0.9000000000000000222,NULL,NULL,'generator',0);
INSERT INTO panels VALUES(2,1,1,'panel-A',NULL,NULL,0,NULL,NULL,'ups',0,NULL,NULL);
INSERT INTO panels VALUES(3,1,2,'panel-B',NULL,NULL,0,250.0,NULL,'panel',0,NULL,NULL);
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
	max_utilization REAL CHECK (max_utilization > 0 AND max_utilization <= 1), volts_are TEXT CHECK (volts_are IN ('LL', 'LN')), phase TEXT CHECK (phase IN ('L1', 'L2', 'L3', 'L1L2', 'L2L3', 'L3L1', 'L1L2L3')), plug_amps REAL, k_temp REAL, k_group REAL, upstream_kind TEXT
	CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet')), upstream_ord INTEGER,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO feeds VALUES(1,1,0,'F-LN',NULL,NULL,230.0,3,32.0,0.75,'LN',NULL,30.0,0.9399999999999999467,0.8000000000000000444,'ups',1);
INSERT INTO feeds VALUES(2,1,1,'F-1',2,1,230.0,1,16.0,NULL,NULL,'L2',NULL,NULL,NULL,NULL,NULL);
INSERT INTO feeds VALUES(3,1,2,'F-LL',3,NULL,208.0,3,60.0,NULL,'LL',NULL,NULL,NULL,NULL,'panel',2);
CREATE TABLE pdus (
	id      INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord     INTEGER,
	name    TEXT NOT NULL,
	rack_id INTEGER REFERENCES racks (id),
	feed_id INTEGER REFERENCES feeds (id),
	amps    REAL CHECK (amps > 0), upstream_kind TEXT
	CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet')), upstream_ord INTEGER, sequence_ms REAL,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO pdus VALUES(1,1,0,'nested',2,NULL,16.0,'outlet',20,NULL);
INSERT INTO pdus VALUES(2,1,1,'big',NULL,3,48.0,NULL,NULL,250.0);
CREATE TABLE outlets (
	id     INTEGER PRIMARY KEY,
	pdu_id INTEGER NOT NULL REFERENCES pdus (id) ON DELETE CASCADE,
	ord    INTEGER,
	name   TEXT NOT NULL,
	type   TEXT,
	bank   INTEGER NOT NULL DEFAULT 0,
	phase TEXT
	CHECK (phase IN ('L1', 'L2', 'L3', 'L1L2', 'L2L3', 'L3L1', 'L1L2L3')), amps REAL,
	UNIQUE (pdu_id, name)
) STRICT;
INSERT INTO outlets VALUES(1,1,0,'1','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(2,1,1,'2','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(3,1,2,'3','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(4,1,3,'4','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(5,1,4,'5','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(6,1,5,'6','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(7,1,6,'7','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(8,1,7,'8','C13',0,NULL,NULL);
INSERT INTO outlets VALUES(9,2,8,'1','C19',1,NULL,16.0);
INSERT INTO outlets VALUES(10,2,9,'2','C19',1,NULL,16.0);
INSERT INTO outlets VALUES(11,2,10,'3','C19',1,NULL,16.0);
INSERT INTO outlets VALUES(12,2,11,'4','C19',1,NULL,16.0);
INSERT INTO outlets VALUES(13,2,12,'5','C19',1,NULL,16.0);
INSERT INTO outlets VALUES(14,2,13,'6','C19',1,NULL,16.0);
INSERT INTO outlets VALUES(15,2,14,'7','C13',2,'L2L3',NULL);
INSERT INTO outlets VALUES(16,2,15,'8','C13',2,'L2L3',NULL);
INSERT INTO outlets VALUES(17,2,16,'9','C13',2,'L2L3',NULL);
INSERT INTO outlets VALUES(18,2,17,'10','C13',2,'L2L3',NULL);
INSERT INTO outlets VALUES(19,2,18,'11','C13',2,'L2L3',NULL);
INSERT INTO outlets VALUES(20,2,19,'12','C13',2,'L2L3',NULL);
INSERT INTO outlets VALUES(21,2,20,'13',NULL,3,'L1L2L3',NULL);
INSERT INTO outlets VALUES(22,2,21,'14',NULL,3,'L1L2L3',NULL);
INSERT INTO outlets VALUES(23,2,22,'a',NULL,0,'L3L1',NULL);
INSERT INTO outlets VALUES(24,2,23,'b',NULL,0,'L3L1',NULL);
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
	gpu             TEXT, catalog_id TEXT, height_u_half INTEGER CHECK (height_u_half IN (0, 1)), watts_dc REAL, watts_degraded REAL, psus_min INTEGER, psu_watts REAL, psu_curve TEXT CHECK (psu_curve IN ('gold', 'platinum', 'titanium')), inlet_amps REAL, hot_spare INTEGER CHECK (hot_spare IN (0, 1)), inrush REAL, heat_btu_h REAL, cfm REAL, inlet_c_1 REAL, inlet_c_2 REAL, ashrae TEXT CHECK (ashrae IN ('A1', 'A2', 'A3', 'A4', 'H1')), airflow TEXT
	CHECK (airflow IN ('front-to-rear', 'rear-to-front', 'side')), gpu_watts_default REAL, gpu_watts_min REAL, gpu_watts_max REAL, liquid_share REAL,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO device_types VALUES(1,1,0,'box','ACME',8,0,900.0,130.0,19800.0,10200.0,8300.0,8400.0,'verified','our own clamp',6,4,8,'h100-sxm5-80gb','dgx-h100',1,9700.0,7000.0,3,3300.0,'titanium',16.0,1,4.5,38557.0,1105.0,5.0,30.0,'A2','front-to-rear',700.0,200.0,700.0,0.75);
INSERT INTO device_types VALUES(2,1,1,'small',NULL,0,1,NULL,NULL,NULL,0.0,NULL,NULL,'declared',NULL,0,0,0,NULL,NULL,1,NULL,NULL,0,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE port_templates (
	id        INTEGER PRIMARY KEY,
	type_id   INTEGER NOT NULL REFERENCES device_types (id) ON DELETE CASCADE,
	ord       INTEGER NOT NULL,
	kind      TEXT NOT NULL CHECK (kind IN ('ethernet', 'infiniband', 'power', 'bmc')),
	names     TEXT NOT NULL,
	connector TEXT
) STRICT;
INSERT INTO port_templates VALUES(1,1,0,'ethernet','eth[0-1]',NULL);
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
	watts_cap      REAL, position_half INTEGER CHECK (position_half IN (0, 1)), watts_p95 REAL, measured_date TEXT, cap_gpu_w REAL, cap_eta REAL, cap_enforced_at_boot INTEGER CHECK (cap_enforced_at_boot IN (0, 1)), cap_readback INTEGER CHECK (cap_readback IN (0, 1)), inlet_c REAL, single_ok INTEGER CHECK (single_ok IN (0, 1)),
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO devices VALUES(1,1,0,'d1','gpu',1,1,10,'rear','staged','S1',8100.0,8300.0,1,7900.0,'2026-11-01',500.0,0.9399999999999999467,1,1,24.5,1);
INSERT INTO devices VALUES(2,1,1,'d2',NULL,2,1,3,'front','active',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,0,NULL,0);
INSERT INTO devices VALUES(3,1,2,'d3',NULL,2,1,3,'front','active',NULL,NULL,NULL,1,NULL,NULL,NULL,NULL,0,0,NULL,0);
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
INSERT INTO ports VALUES(1,1,0,'psu1','power',NULL,NULL);
INSERT INTO ports VALUES(2,1,1,'psu2','power',NULL,NULL);
INSERT INTO ports VALUES(3,1,2,'psu3','power',NULL,NULL);
INSERT INTO ports VALUES(4,1,3,'psu4','power',NULL,NULL);
INSERT INTO ports VALUES(5,1,4,'psu5','power',NULL,NULL);
INSERT INTO ports VALUES(6,1,5,'psu6','power',NULL,NULL);
INSERT INTO ports VALUES(7,1,6,'eth0','ethernet',NULL,NULL);
INSERT INTO ports VALUES(8,1,7,'eth1','ethernet',NULL,NULL);
CREATE TABLE cords (
	id        INTEGER PRIMARY KEY,
	port_id   INTEGER NOT NULL UNIQUE REFERENCES ports (id) ON DELETE CASCADE,
	outlet_id INTEGER NOT NULL UNIQUE REFERENCES outlets (id) ON DELETE CASCADE,
	ord       INTEGER
) STRICT;
INSERT INTO cords VALUES(1,1,9,0);
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
CREATE TABLE upses (
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord INTEGER,
	name TEXT NOT NULL,
	kva REAL,
	kw REAL,
	efficiency REAL,
	max_share REAL,
	runtime_min TEXT,
	recharge_w REAL,
	upstream_kind TEXT CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet')),
	upstream_ord INTEGER,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO upses VALUES(1,1,0,'ups-A',200.0,190.0,0.94999999999999995559,0.84999999999999997779,'50 30;190 6.5',9000.0,'panel',0);
INSERT INTO upses VALUES(2,1,1,'ups-B',200.0,NULL,NULL,NULL,NULL,NULL,'ups',0);
CREATE TABLE generators (
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord INTEGER,
	name TEXT NOT NULL,
	kw REAL,
	start_s REAL,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO generators VALUES(1,1,0,'gen',500.0,12.0);
CREATE TABLE banks (
	id INTEGER PRIMARY KEY,
	pdu_id INTEGER NOT NULL REFERENCES pdus (id) ON DELETE CASCADE,
	ord INTEGER,
	name INTEGER NOT NULL,
	amps REAL,
	curve TEXT CHECK (curve IN ('B', 'C', 'D')),
	phase TEXT CHECK (phase IN ('L1', 'L2', 'L3', 'L1L2', 'L2L3', 'L3L1', 'L1L2L3')),
	UNIQUE (pdu_id, name)
) STRICT;
INSERT INTO banks VALUES(1,2,0,1,20.0,'C','L1L2');
INSERT INTO banks VALUES(2,2,1,2,20.0,'D','L2L3');
INSERT INTO banks VALUES(3,2,2,3,20.0,'B',NULL);
CREATE TABLE cooling_units (
	id INTEGER PRIMARY KEY,
	zone_id INTEGER NOT NULL REFERENCES cooling_zones (id) ON DELETE CASCADE,
	ord INTEGER,
	name TEXT NOT NULL,
	capacity_w REAL,
	UNIQUE (zone_id, name)
) STRICT;
INSERT INTO cooling_units VALUES(1,1,0,'cdu-1',60000.0);
INSERT INTO cooling_units VALUES(2,1,1,'cdu-2',60000.0);
CREATE TABLE reservations (
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord INTEGER,
	name TEXT NOT NULL,
	rack_id INTEGER REFERENCES racks (id),
	position INTEGER,
	height_u INTEGER,
	full_depth INTEGER CHECK (full_depth IN (0, 1)),
	face TEXT CHECK (face IN ('front', 'rear')),
	watts REAL,
	weight_kg REAL,
	who TEXT,
	until TEXT,
	UNIQUE (site_id, name)
) STRICT;
INSERT INTO reservations VALUES(1,1,0,'next-box',1,30,8,0,'rear',10200.0,130.0,'ml team','2027-03-31');
INSERT INTO reservations VALUES(2,1,1,'watts only',2,0,0,1,'front',500.0,NULL,NULL,NULL);
CREATE TABLE fact_notes (
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord INTEGER NOT NULL,
	noun TEXT NOT NULL, -- the table of the row
	row INTEGER NOT NULL, -- its ord
	field TEXT NOT NULL,
	origin TEXT NOT NULL
		CHECK (origin IN ('declared', 'catalogue', 'reported', 'verified', 'assumed')),
	confidence TEXT CHECK (confidence IN ('low', 'medium', 'high')),
	source TEXT,
	date TEXT
) STRICT;
INSERT INTO fact_notes VALUES(1,1,0,'cooling_zones',0,'capacity_w','verified','high',NULL,NULL);
INSERT INTO fact_notes VALUES(2,1,1,'racks',0,'cooling.rdhx.curve','catalogue','high','door''s manual',NULL);
INSERT INTO fact_notes VALUES(3,1,2,'racks',0,'own_kg','assumed',NULL,NULL,NULL);
INSERT INTO fact_notes VALUES(4,1,3,'pdus',1,'amps','catalogue','low','sheet','2026-01-02');
INSERT INTO fact_notes VALUES(5,1,4,'device_types',0,'watts.max','verified','high','clamp','2026-10-01');
INSERT INTO fact_notes VALUES(6,1,5,'devices',0,'watts_measured','reported','high',NULL,'2026-11-01');
INSERT INTO fact_notes VALUES(7,1,6,'banks',1,'curve','assumed',NULL,NULL,NULL);
INSERT INTO fact_notes VALUES(8,1,7,'cooling_units',0,'capacity_w','reported',NULL,NULL,NULL);
INSERT INTO fact_notes VALUES(9,1,8,'reservations',0,'watts','assumed',NULL,NULL,NULL);
INSERT INTO fact_notes VALUES(10,1,9,'sites',0,'terms.floor_kpa','reported','medium','the landlord''s letter','2026-09-30');
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
CREATE INDEX fact_notes_of_site ON fact_notes (site_id);
COMMIT;
