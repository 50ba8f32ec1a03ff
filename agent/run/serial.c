#include "agent/run/serial.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/json.h"

#include <unistd.h>

#define FILE_NAME "serials.json"
#define TEXT_MAX  (8u << 20)

static int load(int bundles, json_t **out, struct err *err)
{
	AUTO_BUF text;
	int rc;

	*out = NULL;
	buf_init(&text, TEXT_MAX);
	rc = fs_read(bundles, FILE_NAME, &text, err);
	if (rc == -E_NOTFOUND) {
		*out = json_object();
		return 0;
	}
	if (rc == 0)
		rc = json_parse(buf_str(&text), TEXT_MAX, FILE_NAME, out, err);
	if (rc == 0 && !json_is_object(*out)) {
		json_drop(out);
		rc = err_set(err, E_SCHEMA, FILE_NAME " is not an object");
	}
	if (rc < 0) {
		err_wrap(err, "the serials that this node has seen");
		err_hint(err, "remove bundles/" FILE_NAME " below the agent's state when it is "
			      "damaged");
	}
	return rc;
}

int serial_check(int bundles, const struct manifest *m, struct err *err)
{
	AUTO_JSON seen = NULL;
	const int rc = load(bundles, &seen, err);
	const int64_t last = rc < 0 ? 0 : json_get_int(seen, m->name, 0);

	if (rc < 0 || m->serial >= last)
		return rc;
	err_set(err, E_VERIFY,
		"the bundle '%.80s' is older than what this node has seen: serial %lld, seen %lld",
		m->name, (long long)m->serial, (long long)last);
	return err_hint(err, "apply again, which makes a new bundle; if it is refused again, check "
			     "the controller's clock (date -u)");
}

int serial_note(int bundles, const struct manifest *m, struct err *err)
{
	AUTO_JSON seen = NULL;
	AUTO_BUF text = {0};
	int rc = load(bundles, &seen, err);

	if (rc < 0 || json_get_int(seen, m->name, -1) >= m->serial)
		return rc;
	if (!json_get(seen, m->name) && json_object_size(seen) >= SERIAL_NAMES_MAX)
		return err_set(err, E_LIMIT, "this node has seen more than %d sets of recipes",
			SERIAL_NAMES_MAX);
	json_put_int(seen, m->name, m->serial);
	buf_init(&text, TEXT_MAX);
	json_write(seen, &text);
	rc = fs_replace(bundles, FILE_NAME, buf_str(&text), 0600, geteuid(), getegid(), err);
	return rc < 0 ? err_wrap(err, "the serials that this node has seen") : 0;
}
