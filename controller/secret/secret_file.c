/*
 * secret_file - the sealed file, and the key files that open it.
 *
 * A rotation writes keys/secret.new, then the file, then renames the key. Killed
 * in between, the id of the key in the file's clear line tells which one fits.
 */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "controller/secret/secret_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC      "STOIKA-SECRETS/1"
#define HEADER_MAX 4096
#define FILE_MAX   (64u << 20)
#define KEY_TEXT   (2 * SEAL_KEY_LEN)
#define ID_LEN     17

/* --- hex --- */

static void put_hex(const unsigned char *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * n] = '\0';
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool get_hex(struct str text, unsigned char *out, size_t n)
{
	if (text.n != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const int high = digit(text.p[2 * i]), low = digit(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

/* --- files that are nobody else's --- */

static int judge_file(int dir, const char *path, struct err *err)
{
	struct stat st;
	const int rc = fs_stat(dir, path, false, &st, err);

	if (rc < 0)
		return rc;
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_DENIED, "'%s' is no plain file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO)) {
		err_set(err, E_DENIED, "'%s' can be read by others (mode %04o)", path,
			(unsigned)st.st_mode & 07777);
		return err_hint(err,
			"chmod 600 %s beside the database; then 'stoika secret rotate', and new secrets where others may have read them",
			path);
	}
	if (st.st_uid != geteuid()) {
		err_set(err, E_DENIED, "'%s' belongs to user %u, not to %u who asks", path,
			(unsigned)st.st_uid, (unsigned)geteuid());
		return err_hint(err, "run stoika as that user, or chown %s", path);
	}
	return 0;
}

static int read_key(int dir, const char *path, unsigned char *key, struct err *err)
{
	AUTO_BUF text = {0};
	int rc = judge_file(dir, path, err);

	buf_init(&text, KEY_TEXT + 8);
	if (rc == 0)
		rc = fs_read(dir, path, &text, err);
	if (rc == 0 && !get_hex(str_trim(buf_str(&text)), key, SEAL_KEY_LEN)) {
		rc = err_set(
			err, E_VERIFY, "'%s' holds no key: expected %d hex digits", path, KEY_TEXT);
		err_hint(err, "bring it back from a backup");
	}
	seal_wipe(&text);
	return rc;
}

int secret_key_make(int dir, const char *path, unsigned char *key, struct err *err)
{
	char text[KEY_TEXT + 2];
	int rc = seal_random(key, SEAL_KEY_LEN, err);

	if (rc == 0)
		rc = fs_mkdirs(dir, "keys", 0700, err);
	if (rc < 0)
		return rc;
	put_hex(key, SEAL_KEY_LEN, text);
	text[KEY_TEXT] = '\n';
	rc = fs_replace(
		dir, path, (struct str){text, KEY_TEXT + 1}, 0600, FS_KEEP_ID, FS_KEEP_ID, err);
	explicit_bzero(text, sizeof text);
	return rc;
}

int secret_key_settle(int dir, struct err *err)
{
	AUTO_FD keys = fs_open(dir, "keys", O_RDONLY | O_DIRECTORY, 0, false, err);

	if (keys < 0)
		return keys;
	if (renameat(dir, SECRET_KEY_NEXT, dir, SECRET_KEY) != 0 || fsync(keys) != 0)
		return err_sys(err, errno, "cannot move '%s' into place", SECRET_KEY_NEXT);
	return 0;
}

/* --- the clear line --- */

static void format_header(const struct secrets *s, struct buf *out)
{
	AUTO_JSON h = json_object();
	char id[ID_LEN], salt[2 * SEAL_SALT_LEN + 1];

	seal_key_id(s->key, id);
	json_put_str(h, "cipher", "aes-256-gcm");
	json_put_str(h, "key", id);
	json_put_str(h, "from", s->lock == SECRET_PASSPHRASE ? "scrypt" : "file");
	if (s->lock == SECRET_PASSPHRASE) {
		put_hex(s->salt, SEAL_SALT_LEN, salt);
		json_put_str(h, "salt", salt);
		json_put_int(h, "n", (int64_t)s->cost.n);
		json_put_int(h, "r", (int64_t)s->cost.r);
		json_put_int(h, "p", (int64_t)s->cost.p);
	}
	buf_add_text(out, MAGIC "\n");
	json_write(h, out);
	buf_add_char(out, '\n');
}

static int fail_damaged(struct err *err)
{
	err_set(err, E_VERIFY, "the file of secrets, '%s', is damaged or was changed", SECRET_FILE);
	return err_hint(err, "bring it back from a backup, with keys/secret of the same day");
}

/* The clear part; rest is what is sealed. */
static int parse_header(
	struct secrets *s, struct str all, struct str *rest, json_t **out, struct err *err)
{
	struct str line, left = all;
	const char *from;

	if (!str_line(&left, &line) || !str_is(line, MAGIC) || !str_line(&left, &line) ||
		line.n > HEADER_MAX || json_parse(line, HEADER_MAX, SECRET_FILE, out, NULL) < 0)
		return fail_damaged(err);
	*rest = left;
	from = json_get_str(*out, "from", "");
	if (strcmp(json_get_str(*out, "cipher", ""), "aes-256-gcm") != 0) {
		err_set(err, E_UNSUPPORTED, "'%s' is sealed by a cipher this program does not know",
			SECRET_FILE);
		return err_hint(err, "a newer stoika made it");
	}
	if (strcmp(from, "file") == 0) {
		s->lock = SECRET_KEY_FILE;
		return 0;
	}
	s->lock = SECRET_PASSPHRASE;
	s->cost = (struct seal_cost){(uint64_t)json_get_int(*out, "n", 0),
		(uint64_t)json_get_int(*out, "r", 0), (uint64_t)json_get_int(*out, "p", 0)};
	if (strcmp(from, "scrypt") != 0 ||
		!get_hex(str_of(json_get_str(*out, "salt", "")), s->salt, SEAL_SALT_LEN))
		return fail_damaged(err);
	return 0;
}

/* --- which key --- */

static bool fits(const unsigned char *key, const json_t *header)
{
	char id[ID_LEN];

	seal_key_id(key, id);
	return strcmp(id, json_get_str(header, "key", "")) == 0;
}

static int find_key_file(struct secrets *s, const json_t *header, struct err *err)
{
	int rc;

	if (faccessat(s->dir, SECRET_KEY_NEXT, F_OK, 0) == 0 &&
		read_key(s->dir, SECRET_KEY_NEXT, s->key, NULL) == 0 && fits(s->key, header))
		return s->guard >= 0 ? secret_key_settle(s->dir, err) : 0; /* a killed rotation */
	rc = read_key(s->dir, SECRET_KEY, s->key, err);
	if (rc == -E_NOTFOUND)
		return err_hint(err, "the key of the secrets is gone: bring it back from a backup");
	if (rc < 0 || fits(s->key, header))
		return rc;
	err_set(err, E_VERIFY, "'%s' is not the key that the secrets are sealed with", SECRET_KEY);
	return err_hint(
		err, "bring both back from one backup: '%s' and '%s'", SECRET_FILE, SECRET_KEY);
}

static int ask_key(
	struct secrets *s, const json_t *header, const struct secret_ask *ask, struct err *err)
{
	AUTO_BUF words = {0};
	int rc;

	buf_init(&words, SECRET_VALUE_MAX);
	rc = ask ? ask->passphrase(ask->ctx, false, &words, err)
		 : err_set(err, E_STATE, "the secrets want a passphrase");
	if (rc == 0)
		rc = seal_passphrase_key(buf_str(&words), s->salt, s->cost, s->key, err);
	seal_wipe(&words);
	if (rc < 0 || fits(s->key, header))
		return rc;
	err_set(err, E_VERIFY, "this is not the passphrase of the secrets");
	return err_hint(err, "try again; nothing was changed");
}

/* --- the sealed part --- */

static int take_entries(struct secrets *s, json_t *doc, struct err *err)
{
	json_t *all = json_get(doc, "secrets"), *one;
	const char *name;

	if (!json_is_object(all) || json_object_size(all) > SECRET_COUNT_MAX)
		return fail_damaged(err);
	json_object_foreach(all, name, one)
	{
		const json_t *v = json_get(one, "value");

		if (!json_is_string(v) || !str_is_name(str_of(name)))
			return fail_damaged(err);
		secret_add(s, name, (struct str){json_string_value(v), json_string_length(v)},
			json_get_int(one, "created", 0), json_get_int(one, "changed", 0));
	}
	return 0;
}

static int unseal(struct secrets *s, struct str clear, struct str sealed, struct err *err)
{
	AUTO_BUF plain = {0};
	AUTO_JSON doc = NULL;
	int rc;

	buf_init(&plain, FILE_MAX);
	if (seal_open(s->key, clear, sealed, &plain, NULL) < 0)
		return fail_damaged(err);
	rc = json_parse(buf_str(&plain), FILE_MAX, SECRET_FILE, &doc, NULL) < 0
		     ? fail_damaged(err)
		     : take_entries(s, doc, err);
	seal_wipe(&plain);
	return rc;
}

int secret_load(struct secrets *s, const struct secret_ask *ask, struct err *err)
{
	AUTO_BUF file = {0};
	AUTO_JSON header = NULL;
	struct str sealed = {NULL, 0};
	struct stat st;
	int rc = fs_stat(s->dir, SECRET_FILE, false, &st, err);

	buf_init(&file, FILE_MAX);
	if (rc == -E_NOTFOUND) {
		s->lock = SECRET_KEY_FILE;
		if (faccessat(s->dir, SECRET_KEY, F_OK, 0) != 0)
			return 0;
		return read_key(s->dir, SECRET_KEY, s->key, err);
	}
	if (rc == 0)
		rc = judge_file(s->dir, SECRET_FILE, err);
	if (rc == 0)
		rc = fs_read(s->dir, SECRET_FILE, &file, err);
	if (rc == 0)
		rc = parse_header(s, buf_str(&file), &sealed, &header, err);
	if (rc < 0)
		return rc;
	s->kept = true;
	rc = s->lock == SECRET_KEY_FILE ? find_key_file(s, header, err)
					: ask_key(s, header, ask, err);
	return rc < 0 ? rc : unseal(s, str_first(buf_str(&file), file.n - sealed.n), sealed, err);
}

static void format_entries(const struct secrets *s, struct buf *out)
{
	AUTO_JSON doc = json_object();
	json_t *all = json_object();

	for (unsigned i = 0; i < s->n; i++) {
		json_t *one = json_object();

		json_put_text(one, "value", (struct str){s->all[i].value, s->all[i].length});
		json_put_int(one, "created", s->all[i].created);
		json_put_int(one, "changed", s->all[i].changed);
		json_object_set_new(all, s->all[i].name, one);
	}
	json_object_set_new(doc, "secrets", all);
	json_write(doc, out);
}

int secret_store(struct secrets *s, struct err *err)
{
	AUTO_BUF plain = {0}, file = {0};
	int rc;

	buf_init(&plain, FILE_MAX / 2);
	buf_init(&file, FILE_MAX);
	format_entries(s, &plain);
	format_header(s, &file);
	if (!buf_ok(&plain))
		rc = err_set(err, E_LIMIT, "the secrets take more than %u MiB", FILE_MAX >> 21);
	else
		rc = seal_make(
			s->key, arena_str(s->arena, buf_str(&file)), buf_str(&plain), &file, err);
	seal_wipe(&plain);
	if (rc == 0)
		rc = fs_replace(
			s->dir, SECRET_FILE, buf_str(&file), 0600, FS_KEEP_ID, FS_KEEP_ID, err);
	s->kept = s->kept || rc == 0;
	return rc;
}
