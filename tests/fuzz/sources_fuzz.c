/* sources_fuzz - any bytes as apt's lists of sources, both kinds, and as a key file. */
#include "agent/step/pgp.h"
#include "agent/step/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Switching an entry off keeps all others, and it is off then. */
static void look(struct str text, const char *path)
{
	struct source_rows rows = VEC_INIT, again = VEC_INIT;
	struct buf out;

	sources_read(text, path, &rows);
	buf_init(&out, 2 * text.n + 4096);
	if (rows.n > 0 && !rows.at[0].off_by.n) {
		sources_switch_off(text, &rows.at[0], "fuzz", &out);
		sources_read(buf_str(&out), path, &again);
		if (again.n > rows.n || (again.n > 0 && again.at[0].enabled && again.n == rows.n))
			abort();
		(void)sources_same_uri(rows.at[0].uris, rows.at[0].suites);
	}
	buf_done(&out);
	vec_done(&rows);
	vec_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str text = {(const char *)data, n};
	struct pgp_keys keys = VEC_INIT;
	struct buf out;

	look(text, "/etc/apt/sources.list");
	look(text, "/etc/apt/sources.list.d/x.sources");
	buf_init(&out, PGP_MAX);
	(void)pgp_drop(text, "0911A0B616A65B6C", &out);
	(void)pgp_read(text, &keys, NULL);
	vec_done(&keys);
	buf_done(&out);
	return 0;
}
