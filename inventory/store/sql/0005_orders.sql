-- What a run was ordered to do, so that it can be gone on with: recipes, parameters and names of
-- secrets, never their values.
CREATE TABLE run_orders (
	run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
	body   TEXT NOT NULL
) STRICT;

-- Nodes that could not be reached when they were tried last.
CREATE TABLE nodes_missed (
	node_id INTEGER PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
	since   INTEGER NOT NULL,
	last    INTEGER NOT NULL,
	why     TEXT NOT NULL DEFAULT ''
) STRICT;

-- The highest serial that was made or taken in for a set of recipes, by the key that signed it.
CREATE TABLE bundle_serials (
	name   TEXT NOT NULL,
	signer TEXT NOT NULL,
	serial INTEGER NOT NULL,
	PRIMARY KEY (name, signer)
) STRICT;

-- While the signing key is replaced: nodes known to obey the new one, or given up.
CREATE TABLE key_moves (
	node_id   INTEGER PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
	key       TEXT NOT NULL,
	forgotten INTEGER NOT NULL DEFAULT 0
) STRICT;
