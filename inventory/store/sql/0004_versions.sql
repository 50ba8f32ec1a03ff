-- What a site was: each import that changed it, with the site file as it was then.
-- Equal texts are one row of site_texts, however often the site came back to them.

CREATE TABLE site_texts (
	sha256 TEXT PRIMARY KEY, -- of the plain text
	bytes  INTEGER NOT NULL, -- of the plain text
	zstd   BLOB NOT NULL
) STRICT;

CREATE TABLE site_versions (
	id          INTEGER PRIMARY KEY,
	site_id     INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	at_ns       INTEGER NOT NULL,
	imported_by TEXT NOT NULL,
	source      TEXT NOT NULL, -- the path that was given
	schema      INTEGER NOT NULL, -- of the database then
	sha256      TEXT NOT NULL REFERENCES site_texts (sha256)
) STRICT;
CREATE INDEX site_versions_by_time ON site_versions (site_id, at_ns);

-- Racks, feeds and PDUs that share devices have one number: a rack can be audited without the rest.
ALTER TABLE racks ADD COLUMN part INTEGER;
ALTER TABLE feeds ADD COLUMN part INTEGER;
ALTER TABLE pdus ADD COLUMN part INTEGER;

-- The most a panel or UPS can ever carry, whatever fails; a site without rows has not been asked.
CREATE TABLE reaches (
	id      INTEGER PRIMARY KEY,
	site_id INTEGER NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
	noun    TEXT NOT NULL, -- the table of the row
	row     INTEGER NOT NULL, -- its ord
	basis   TEXT NOT NULL CHECK (basis IN ('nameplate', 'max', 'capped', 'measured')),
	volts   REAL,
	phases  INTEGER NOT NULL,
	watts   TEXT NOT NULL -- of all, then on each phase of the load: "w w w ..."
) STRICT;
CREATE INDEX reaches_of_site ON reaches (site_id);
