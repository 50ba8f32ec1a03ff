/*
 * rekey - the controller's key is replaced by the one that the old one has signed for.
 *
 * A run that was begun under the old key is not gone on with afterwards: its order
 * would have to be believed on a key that is no longer obeyed. The old key stays as
 * KEY.old, for people only.
 */
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/run/journal.h"
#include "agent/run/session_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int write_key(const char *path, const struct sign_key *key, struct err *err)
{
	AUTO_FD top = open(path[0] == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[SIGN_TEXT_MAX + 1];

	if (top < 0)
		return err_sys(err, errno, "cannot open the folder of '%s'", path);
	sign_key_public_text(key, text);
	snprintf(text + strlen(text), sizeof text - strlen(text), "\n");
	return fs_replace(top, path, str_of(text), 0644, geteuid(), getegid(), err);
}

static int replace(struct session *s, struct sign_key *key, struct err *err)
{
	char old[PATH_MAX];
	int rc;

	if (snprintf(old, sizeof old, "%s.old", s->opts->key) >= (int)sizeof old)
		return err_set(err, E_LIMIT, "the path of the key is too long");
	rc = write_key(old, s->key, err);
	if (rc == 0)
		rc = write_key(s->opts->key, key, err);
	return rc < 0 ? err_wrap(err, "the key stays as it was") : 0;
}

int rekey_obey(struct session *s, bool *changed, struct err *err)
{
	AUTO_JSON holder = session_holder(s);
	AUTO_JSON other = NULL;
	struct sign_key *key = NULL;
	int rc = sign_key_parse_public(str_of(s->order.rekey), &key, err);

	*changed = false;
	if (rc < 0)
		return err_wrap(err, "the new key");
	rc = journal_lock(s->state, holder, &s->lock, &other, err);
	if (rc == 0 && strcmp(sign_key_id(key), sign_key_id(s->key)) != 0) {
		rc = replace(s, key, err);
		*changed = rc == 0;
	}
	mem_close_fd(&s->lock);
	s->lock = -1;
	sign_key_free(key);
	return rc;
}
