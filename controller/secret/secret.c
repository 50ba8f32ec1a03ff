#include "controller/secret/secret.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/secret/secret_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#define GUARD_FILE    "secrets.lock"
#define SUGGESTED_MAX 256

static int64_t now_seconds(void)
{
	return clock_wall() / CLOCK_SEC;
}

/* The folder of the database, as a descriptor. */
static int open_dir(struct arena *a, const char *db, struct err *err)
{
	const char *slash = strrchr(db, '/');
	const char *path = !slash        ? "."
			   : slash == db ? "/"
					 : arena_text(a, (struct str){db, (size_t)(slash - db)});
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_sys(err, errno, "cannot open the folder '%s'", path) : fd;
}

/* --- values --- */

static void wipe_value(struct secret *one)
{
	if (one->value)
		explicit_bzero(one->value, one->length);
	free(one->value);
	one->value = NULL;
}

static void put_value(struct secret *one, struct str value)
{
	one->value = xmalloc(value.n + 1);
	memcpy(one->value, value.p ? value.p : "", value.n);
	one->value[value.n] = '\0';
	one->length = value.n;
}

/* Where name stands, or would stand. */
static unsigned place_of(const struct secrets *s, const char *name, bool *found)
{
	unsigned i = 0;

	while (i < s->n && strcmp(s->all[i].name, name) < 0)
		i++;
	*found = i < s->n && strcmp(s->all[i].name, name) == 0;
	return i;
}

void secret_add(
	struct secrets *s, const char *name, struct str value, int64_t created, int64_t changed)
{
	bool found;
	const unsigned at = place_of(s, name, &found);

	if (s->n == s->room) {
		const unsigned room = s->room ? 2 * s->room : 16;
		struct secret *all = xcalloc(room, sizeof *all);

		if (s->n > 0)
			memcpy(all, s->all, s->n * sizeof *all);
		free(s->all);
		s->all = all;
		s->room = room;
	}
	for (unsigned i = s->n++; i > at; i--)
		s->all[i] = s->all[i - 1];
	s->all[at] = (struct secret){.name = xstrdup(name), .created = created, .changed = changed};
	put_value(&s->all[at], value);
}

static void drop(struct secrets *s, unsigned at)
{
	wipe_value(&s->all[at]);
	free(s->all[at].name);
	for (unsigned i = at; i + 1 < s->n; i++)
		s->all[i] = s->all[i + 1];
	s->n--;
}

/* --- life --- */

static int take_guard(struct secrets *s, struct err *err)
{
	s->guard = openat(s->dir, GUARD_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->guard < 0)
		return err_sys(err, errno, "cannot open the lock of the secrets");
	if (flock(s->guard, LOCK_EX | LOCK_NB) == 0)
		return 0;
	err_set(err, E_BUSY, "another process is changing the secrets");
	return err_hint(err, "try again when it is done");
}

int secrets_open(const char *db, bool write, const struct secret_ask *ask, struct secrets **out,
	struct err *err)
{
	struct secrets *s = xcalloc(1, sizeof *s);
	int rc;

	/* no core dump, no other process of this user reads what follows */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	s->arena = arena_new();
	s->guard = -1;
	s->dir = rc = open_dir(s->arena, db, err);
	if (rc >= 0)
		rc = write ? take_guard(s, err) : 0;
	if (rc == 0)
		rc = secret_load(s, ask, err);
	if (rc < 0)
		secrets_close(s);
	else
		*out = s;
	return rc;
}

void secrets_close(struct secrets *s)
{
	if (!s)
		return;
	while (s->n > 0)
		drop(s, s->n - 1);
	free(s->all);
	explicit_bzero(s->key, sizeof s->key);
	mem_close_fd(&s->guard);
	mem_close_fd(&s->dir);
	arena_free(s->arena);
	free(s);
}

int secrets_make_key(const char *db, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, err);
	unsigned char key[SEAL_KEY_LEN];
	int rc = dir < 0 ? dir : 0;

	if (rc == 0 && faccessat(dir, SECRET_KEY, F_OK, 0) != 0 &&
		faccessat(dir, SECRET_FILE, F_OK, 0) != 0)
		rc = secret_key_make(dir, SECRET_KEY, key, err);
	explicit_bzero(key, sizeof key);
	arena_free(a);
	return rc;
}

enum secret_lock secrets_lock(const struct secrets *s)
{
	return s->lock;
}

/* --- reading --- */

unsigned secrets_count(const struct secrets *s)
{
	return s->n;
}

struct secret_info secrets_at(const struct secrets *s, unsigned i)
{
	const struct secret *one = &s->all[i];

	return (struct secret_info){one->name, one->created, one->changed, one->length};
}

static int no_such_secret(const struct secrets *s, const char *name, struct err *err)
{
	const char *names[SUGGESTED_MAX + 1], *near;
	unsigned n = 0;

	for (; n < s->n && n < SUGGESTED_MAX; n++)
		names[n] = s->all[n].name;
	names[n] = NULL;
	near = err_nearest(name, names);
	err_set(err, E_NOTFOUND, "there is no secret '%s'", name);
	return near ? err_hint(err, "did you mean '%s'?", near)
		    : err_hint(err, "stoika secret set %s", name);
}

int secrets_find(const struct secrets *s, const char *name, struct str *value, struct err *err)
{
	bool found;
	const unsigned at = place_of(s, name, &found);

	if (!found)
		return no_such_secret(s, name, err);
	*value = (struct str){s->all[at].value, s->all[at].length};
	return 0;
}

const char *secret_length_class(size_t n)
{
	return n == 0      ? "empty"
	       : n <= 16   ? "up to 16"
	       : n <= 64   ? "17 to 64"
	       : n <= 256  ? "65 to 256"
	       : n <= 4096 ? "257 to 4096"
			   : "over 4096";
}

/* --- changing --- */

static int judge_value(const char *name, struct str value, struct err *err)
{
	if (!str_is_name(str_of(name))) {
		err_set(err, E_SYNTAX, "'%s' is no name for a secret", name);
		return err_hint(err, "names are made of letters, digits and . _ -");
	}
	if (value.n == 0)
		return err_set(err, E_SCHEMA, "the secret '%s' is empty", name);
	if (value.n > SECRET_VALUE_MAX)
		return err_set(err, E_LIMIT, "the secret '%s' is longer than %u bytes", name,
			SECRET_VALUE_MAX);
	if (!str_is_utf8(value)) {
		err_set(err, E_SCHEMA, "the secret '%s' is not UTF-8 text", name);
		return err_hint(err, "keep it as base64 text");
	}
	return 0;
}

int secrets_set(struct secrets *s, const char *name, struct str value, struct err *err)
{
	bool found;
	const unsigned at = place_of(s, name, &found);
	const int rc = judge_value(name, value, err);

	if (rc < 0)
		return rc;
	if (!found && s->n >= SECRET_COUNT_MAX)
		return err_set(err, E_LIMIT, "there are %d secrets already", SECRET_COUNT_MAX);
	if (!found) {
		secret_add(s, name, value, now_seconds(), now_seconds());
		return 0;
	}
	wipe_value(&s->all[at]);
	put_value(&s->all[at], value);
	s->all[at].changed = now_seconds();
	return 0;
}

int secrets_remove(struct secrets *s, const char *name, struct err *err)
{
	bool found;
	const unsigned at = place_of(s, name, &found);

	if (!found)
		return no_such_secret(s, name, err);
	drop(s, at);
	return 0;
}

static int judge_guard(const struct secrets *s, struct err *err)
{
	return s->guard >= 0 ? 0
			     : err_set(err, E_INTERNAL, "the secrets were opened to be read only");
}

int secrets_save(struct secrets *s, struct err *err)
{
	int rc = judge_guard(s, err);

	if (rc == 0 && !s->kept) {
		/* the first one: the key that init made, or one made now */
		const bool there = faccessat(s->dir, SECRET_KEY, F_OK, 0) == 0;

		rc = there ? 0 : secret_key_make(s->dir, SECRET_KEY, s->key, err);
	}
	return rc < 0 ? rc : secret_store(s, err);
}

static int ask_fresh(struct secrets *s, const struct secret_ask *ask, struct err *err)
{
	AUTO_BUF words = {0};
	int rc;

	buf_init(&words, SECRET_VALUE_MAX);
	rc = ask->passphrase(ask->ctx, true, &words, err);
	if (rc == 0)
		rc = seal_random(s->salt, sizeof s->salt, err);
	s->cost = SEAL_COST_PRESET;
	if (rc == 0)
		rc = seal_passphrase_key(buf_str(&words), s->salt, s->cost, s->key, err);
	seal_wipe(&words);
	return rc;
}

int secrets_rotate(
	struct secrets *s, enum secret_lock to, const struct secret_ask *ask, struct err *err)
{
	int rc = judge_guard(s, err);

	if (rc < 0)
		return rc;
	rc = to == SECRET_PASSPHRASE ? ask_fresh(s, ask, err)
				     : secret_key_make(s->dir, SECRET_KEY_NEXT, s->key, err);
	if (rc < 0)
		return rc;
	s->lock = to;
	rc = secret_store(s, err);
	if (rc < 0)
		return rc;
	if (to == SECRET_KEY_FILE)
		return secret_key_settle(s->dir, err);
	rc = fs_remove(s->dir, SECRET_KEY, false, err);
	return rc < 0 ? rc : fs_remove(s->dir, SECRET_KEY_NEXT, false, err);
}
