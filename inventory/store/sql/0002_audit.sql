-- What a power, cooling and space audit asks for, by the tables of inventory/model/field_table.c.
-- Columns are the site file's keys with '_' for '.'; see store_rows.c for the suffixes.
-- KEY_ord is the place of the row in the site's file; all rows of a site are written in one go.

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

CREATE TABLE generators (
	id INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	ord INTEGER,
	name TEXT NOT NULL,
	kw REAL,
	start_s REAL,
	UNIQUE (site_id, name)
) STRICT;

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

CREATE TABLE cooling_units (
	id INTEGER PRIMARY KEY,
	zone_id INTEGER NOT NULL REFERENCES cooling_zones (id) ON DELETE CASCADE,
	ord INTEGER,
	name TEXT NOT NULL,
	capacity_w REAL,
	UNIQUE (zone_id, name)
) STRICT;

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
CREATE INDEX fact_notes_of_site ON fact_notes (site_id);

-- Phases were numbers, 0 for none; lines between two phases are words.
ALTER TABLE outlets RENAME COLUMN phase TO phase_number;
ALTER TABLE outlets ADD COLUMN phase TEXT
	CHECK (phase IN ('L1', 'L2', 'L3', 'L1L2', 'L2L3', 'L3L1', 'L1L2L3'));
UPDATE outlets SET phase = 'L' || phase_number WHERE phase_number > 0;
ALTER TABLE outlets DROP COLUMN phase_number;

ALTER TABLE sites ADD COLUMN terms_policy_name TEXT;
ALTER TABLE sites ADD COLUMN terms_policy_k_cont REAL;
ALTER TABLE sites ADD COLUMN terms_policy_failover_k REAL;
ALTER TABLE sites ADD COLUMN terms_policy_near_limit REAL;
ALTER TABLE sites ADD COLUMN terms_policy_ups_share REAL;
ALTER TABLE sites ADD COLUMN terms_altitude_m REAL;
ALTER TABLE sites ADD COLUMN terms_floor_kpa REAL;
ALTER TABLE sites ADD COLUMN terms_tile_kn REAL;
ALTER TABLE sites ADD COLUMN terms_power_factor REAL;
ALTER TABLE sites ADD COLUMN terms_region TEXT CHECK (terms_region IN ('iec', 'ul'));
ALTER TABLE sites ADD COLUMN terms_misc_w REAL;

ALTER TABLE cooling_zones ADD COLUMN cfm REAL;
ALTER TABLE cooling_zones ADD COLUMN cold_aisle_c REAL;
ALTER TABLE cooling_zones ADD COLUMN dew_point_c REAL;
ALTER TABLE cooling_zones ADD COLUMN lpm REAL;
ALTER TABLE cooling_zones ADD COLUMN supply_c REAL;
ALTER TABLE cooling_zones ADD COLUMN rise_c REAL;
ALTER TABLE cooling_zones ADD COLUMN draw_w REAL;
ALTER TABLE cooling_zones ADD COLUMN on_generator INTEGER CHECK (on_generator IN (0, 1));
ALTER TABLE cooling_zones ADD COLUMN on_ups INTEGER CHECK (on_ups IN (0, 1));

ALTER TABLE racks ADD COLUMN first_u INTEGER;
ALTER TABLE racks ADD COLUMN footprint_mm_1 REAL;
ALTER TABLE racks ADD COLUMN footprint_mm_2 REAL;
ALTER TABLE racks ADD COLUMN clearance_m2 REAL;
ALTER TABLE racks ADD COLUMN rail_to_door_mm REAL;
ALTER TABLE racks ADD COLUMN feet INTEGER;
ALTER TABLE racks ADD COLUMN own_kg REAL;
ALTER TABLE racks ADD COLUMN pdu_kg REAL;
ALTER TABLE racks ADD COLUMN cables_kg REAL;
ALTER TABLE racks ADD COLUMN door_kg REAL;
ALTER TABLE racks ADD COLUMN cooling_air_w REAL;
ALTER TABLE racks ADD COLUMN cooling_cfm REAL;
ALTER TABLE racks ADD COLUMN cooling_cold_aisle_c REAL;
ALTER TABLE racks ADD COLUMN cooling_dew_point_c REAL;
ALTER TABLE racks ADD COLUMN cooling_rdhx_curve TEXT;
ALTER TABLE racks ADD COLUMN cooling_rdhx_water_c REAL;
ALTER TABLE racks ADD COLUMN cooling_liquid_watts REAL;
ALTER TABLE racks ADD COLUMN cooling_liquid_lpm REAL;
ALTER TABLE racks ADD COLUMN cooling_liquid_supply_c REAL;
ALTER TABLE racks ADD COLUMN cooling_liquid_rise_c REAL;

ALTER TABLE panels ADD COLUMN volts REAL;
ALTER TABLE panels ADD COLUMN phases INTEGER;
ALTER TABLE panels ADD COLUMN amps REAL;
ALTER TABLE panels ADD COLUMN max_utilization REAL;
ALTER TABLE panels ADD COLUMN upstream_kind TEXT
	CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet'));
ALTER TABLE panels ADD COLUMN upstream_ord INTEGER;
ALTER TABLE panels ADD COLUMN backup_kind TEXT
	CHECK (backup_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet'));
ALTER TABLE panels ADD COLUMN backup_ord INTEGER;

ALTER TABLE feeds ADD COLUMN volts_are TEXT CHECK (volts_are IN ('LL', 'LN'));
ALTER TABLE feeds ADD COLUMN phase TEXT CHECK (phase IN ('L1', 'L2', 'L3', 'L1L2', 'L2L3', 'L3L1', 'L1L2L3'));
ALTER TABLE feeds ADD COLUMN plug_amps REAL;
ALTER TABLE feeds ADD COLUMN k_temp REAL;
ALTER TABLE feeds ADD COLUMN k_group REAL;
ALTER TABLE feeds ADD COLUMN upstream_kind TEXT
	CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet'));
ALTER TABLE feeds ADD COLUMN upstream_ord INTEGER;

ALTER TABLE pdus ADD COLUMN upstream_kind TEXT
	CHECK (upstream_kind IN ('panel', 'ups', 'generator', 'feed', 'outlet'));
ALTER TABLE pdus ADD COLUMN upstream_ord INTEGER;
ALTER TABLE pdus ADD COLUMN sequence_ms REAL;

ALTER TABLE outlets ADD COLUMN amps REAL;

ALTER TABLE device_types ADD COLUMN catalog_id TEXT;
ALTER TABLE device_types ADD COLUMN height_u_half INTEGER CHECK (height_u_half IN (0, 1));
ALTER TABLE device_types ADD COLUMN watts_dc REAL;
ALTER TABLE device_types ADD COLUMN watts_degraded REAL;
ALTER TABLE device_types ADD COLUMN psus_min INTEGER;
ALTER TABLE device_types ADD COLUMN psu_watts REAL;
ALTER TABLE device_types ADD COLUMN psu_curve TEXT CHECK (psu_curve IN ('gold', 'platinum', 'titanium'));
ALTER TABLE device_types ADD COLUMN inlet_amps REAL;
ALTER TABLE device_types ADD COLUMN hot_spare INTEGER CHECK (hot_spare IN (0, 1));
ALTER TABLE device_types ADD COLUMN inrush REAL;
ALTER TABLE device_types ADD COLUMN heat_btu_h REAL;
ALTER TABLE device_types ADD COLUMN cfm REAL;
ALTER TABLE device_types ADD COLUMN inlet_c_1 REAL;
ALTER TABLE device_types ADD COLUMN inlet_c_2 REAL;
ALTER TABLE device_types ADD COLUMN ashrae TEXT CHECK (ashrae IN ('A1', 'A2', 'A3', 'A4', 'H1'));
ALTER TABLE device_types ADD COLUMN airflow TEXT
	CHECK (airflow IN ('front-to-rear', 'rear-to-front', 'side'));
ALTER TABLE device_types ADD COLUMN gpu_watts_default REAL;
ALTER TABLE device_types ADD COLUMN gpu_watts_min REAL;
ALTER TABLE device_types ADD COLUMN gpu_watts_max REAL;
ALTER TABLE device_types ADD COLUMN liquid_share REAL;

ALTER TABLE devices ADD COLUMN position_half INTEGER CHECK (position_half IN (0, 1));
ALTER TABLE devices ADD COLUMN watts_p95 REAL;
ALTER TABLE devices ADD COLUMN measured_date TEXT;
ALTER TABLE devices ADD COLUMN cap_gpu_w REAL;
ALTER TABLE devices ADD COLUMN cap_eta REAL;
ALTER TABLE devices ADD COLUMN cap_enforced_at_boot INTEGER CHECK (cap_enforced_at_boot IN (0, 1));
ALTER TABLE devices ADD COLUMN cap_readback INTEGER CHECK (cap_readback IN (0, 1));
ALTER TABLE devices ADD COLUMN inlet_c REAL;
ALTER TABLE devices ADD COLUMN single_ok INTEGER CHECK (single_ok IN (0, 1));
