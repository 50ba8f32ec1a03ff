/* keys - how: one file per key; what exists is never made anew or changed. */
#include "controller/fleet/keys.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "controller/ssh/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_FILE_MAX 4096

/* Measured against sshd 9.2, a P-256 key was not cheaper on either side beyond the noise. */
#define SSH_KEY_TYPE "ed25519"

#define SIGN      "sign"
#define SIGN_NEXT "sign.new"
#define SSH       "ssh"
#define SSH_NEXT  "ssh.new"
#define SSH_PAST  "ssh.old.pub"
#define NAME_ROOM 32

const char *keys_path(struct arena *a, const char *db, const char *name)
{
	const char *slash = strrchr(db, '/');

	if (!slash)
		return arena_strdup(a, name);
	return arena_printf(a, "%.*s/%s", (int)(slash - db), db, name);
}

/* DIR/keys, made if absent (0700), as a descriptor. */
static int open_dir(struct arena *a, const char *db, bool make, struct err *err)
{
	const char *path = keys_path(a, db, "keys");
	int fd;

	if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make the folder '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err_sys(err, errno, "cannot open the folder of keys '%s'", path);
		return err_hint(err, "'stoika init' makes the keys of a new database; else bring "
				     "them back from a backup");
	}
	return fd;
}

static int make_sign(int dir, const char *name, struct err *err)
{
	char text[SIGN_TEXT_MAX];
	struct sign_key *key = NULL;
	AUTO_STR line = NULL;
	AUTO_STR public_name = xasprintf("%s.pub", name);
	int rc;

	if (faccessat(dir, name, F_OK, 0) == 0)
		return 0;
	rc = sign_key_make(&key, err);
	if (rc < 0)
		return rc;
	sign_key_public_text(key, text);
	line = xasprintf("%s\n", text);
	rc = fs_replace(dir, public_name, str_of(line), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	if (rc == 0) {
		sign_key_private_text(key, text);
		rc = fs_replace(dir, name, str_of(text), 0600, FS_KEEP_ID, FS_KEEP_ID, err);
	}
	explicit_bzero(text, sizeof text);
	sign_key_free(key);
	return rc;
}

int keys_make(const char *db, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, true, err);
	int rc = dir < 0 ? dir : make_sign(dir, SIGN, err);

	if (rc == 0)
		rc = link_key_make(keys_path(a, db, "keys/" SSH), SSH_KEY_TYPE, err);
	arena_free(a);
	return rc;
}

static int load_sign(
	int dir, const char *name, const char *path, struct sign_key **out, struct err *err)
{
	AUTO_BUF text = {0};
	struct stat st;
	int rc;

	buf_init(&text, KEY_FILE_MAX);
	rc = fs_stat(dir, name, false, &st, err);
	if (rc == 0 && (st.st_mode & (S_IRWXG | S_IRWXO))) {
		err_set(err, E_DENIED, "the signing key '%s' can be read by others (mode %04o)",
			path, (unsigned)st.st_mode & 07777);
		return err_hint(err, "chmod 600 %s", path);
	}
	if (rc == 0)
		rc = fs_read(dir, name, &text, err);
	if (rc == 0)
		rc = sign_key_parse_private(str_trim(buf_str(&text)), out, err);
	if (text.p)
		explicit_bzero(text.p, text.n);
	return rc < 0 ? err_wrap(err, "'%s'", path) : 0;
}

int keys_load(const char *db, struct keys *out, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, false, err);
	struct keys keys = {0};
	int rc = dir < 0 ? dir
			 : load_sign(dir, SIGN, keys_path(a, db, "keys/" SIGN), &keys.sign, err);

	if (rc == 0 && faccessat(dir, SIGN_NEXT, F_OK, 0) == 0)
		rc = load_sign(
			dir, SIGN_NEXT, keys_path(a, db, "keys/" SIGN_NEXT), &keys.next, err);
	if (rc == 0)
		rc = link_key_load(keys_path(a, db, "keys/" SSH), &keys.ssh, err);
	arena_free(a);
	if (rc < 0)
		keys_done(&keys);
	else
		*out = keys;
	return rc;
}

void keys_done(struct keys *k)
{
	if (!k)
		return;
	sign_key_free(k->sign);
	sign_key_free(k->next);
	link_key_free(k->ssh);
	*k = (struct keys){0};
}

const struct sign_key *keys_signer(const struct keys *k, const char *id)
{
	return k->next && strcmp(sign_key_id(k->next), id) == 0 ? k->next : k->sign;
}

const struct sign_key *keys_newest(const struct keys *k)
{
	return k->next ? k->next : k->sign;
}

/* The files of one pair; old is a second name of the key that goes, while it goes. */
struct pair {
	char key[NAME_ROOM], next[NAME_ROOM], old[NAME_ROOM], text[NAME_ROOM], next_text[NAME_ROOM];
};

static struct pair names_of(const char *name)
{
	struct pair p;

	snprintf(p.key, sizeof p.key, "%s", name);
	snprintf(p.next, sizeof p.next, "%s.new", name);
	snprintf(p.old, sizeof p.old, "%s.old", name);
	snprintf(p.text, sizeof p.text, "%s.pub", name);
	snprintf(p.next_text, sizeof p.next_text, "%s.new.pub", name);
	return p;
}

/* The old key's bytes are gone before its last name is. */
static int destroy_old(int dir, const struct pair *p, struct err *err)
{
	static const char nothing[KEY_FILE_MAX];
	struct stat st;
	AUTO_FD fd = fs_open(dir, p->old, O_WRONLY, 0, false, err);

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0 || st.st_size > KEY_FILE_MAX)
		return err_set(err, E_STATE, "'%s' is no key of ours", p->old);
	if (fs_write_all(fd, (struct str){nothing, (size_t)st.st_size}, err) < 0)
		return -(int)E_IO;
	if (fsync(fd) != 0 || unlinkat(dir, p->old, 0) != 0 || fsync(dir) != 0)
		return err_sys(err, errno, "cannot remove the old key '%s'", p->old);
	return 0;
}

/* The new one takes the place; may be killed anywhere and called again. */
static int settle(int dir, const char *name, struct err *err)
{
	const struct pair p = names_of(name);

	if (faccessat(dir, p.next, F_OK, 0) == 0) {
		/* as long as the new one has its own name, old is the key in use */
		(void)unlinkat(dir, p.old, 0);
		if (linkat(dir, p.key, dir, p.old, 0) != 0 ||
			renameat(dir, p.next, dir, p.key) != 0 || fsync(dir) != 0)
			return err_sys(err, errno, "cannot put the new key '%s' in place", name);
	}
	if (faccessat(dir, p.next_text, F_OK, 0) == 0 &&
		renameat(dir, p.next_text, dir, p.text) != 0)
		return err_sys(err, errno, "cannot put the new public key in place");
	return faccessat(dir, p.old, F_OK, 0) == 0 ? destroy_old(dir, &p, err) : 0;
}

/* Killed while the old one was being destroyed: that comes first, or its bytes would be let go. */
static bool is_half_settled(int dir, const char *name)
{
	const struct pair p = names_of(name);

	return faccessat(dir, p.next, F_OK, 0) != 0 &&
	       (faccessat(dir, p.old, F_OK, 0) == 0 || faccessat(dir, p.next_text, F_OK, 0) == 0);
}

int keys_next_settle(const char *db, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, false, err);

	arena_free(a);
	return dir < 0 ? dir : settle(dir, SIGN, err);
}

int keys_next_make(const char *db, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, false, err);
	int rc = dir < 0 ? dir : 0;

	if (rc == 0 && is_half_settled(dir, SIGN))
		rc = settle(dir, SIGN, err);
	if (rc == 0)
		rc = make_sign(dir, SIGN_NEXT, err);
	arena_free(a);
	return rc;
}

/* --- the SSH key's replacement --- */

int keys_ssh_next(const char *db, bool make, struct link_key **next, char old[static KEYS_SSH_TEXT],
	struct err *err)
{
	struct arena *a = arena_new();
	const char *path = keys_path(a, db, "keys/" SSH_NEXT);
	AUTO_FD dir = open_dir(a, db, false, err);
	AUTO_BUF text = {0};
	int rc = dir < 0 ? dir : 0;

	*next = NULL;
	old[0] = '\0';
	buf_init(&text, KEYS_SSH_TEXT);
	if (rc == 0 && is_half_settled(dir, SSH))
		rc = settle(dir, SSH, err);
	if (rc == 0 && faccessat(dir, SSH_NEXT, F_OK, 0) != 0) {
		rc = fs_read(dir, SSH_PAST, &text, err);
		snprintf(old, KEYS_SSH_TEXT, STR_FMT, STR_ARG(str_trim(buf_str(&text))));
		if (rc == -E_NOTFOUND)
			rc = make ? link_key_make(path, SSH_KEY_TYPE, err) : 0;
	}
	if (rc == 0 && faccessat(dir, SSH_NEXT, F_OK, 0) == 0)
		rc = link_key_load(path, next, err);
	arena_free(a);
	return rc;
}

int keys_ssh_settle(const char *db, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, false, err);
	AUTO_BUF text = {0};
	int rc = dir < 0 ? dir : 0;

	buf_init(&text, KEYS_SSH_TEXT);
	/* what is to go from the nodes is noted while it still has its name */
	if (rc == 0 && faccessat(dir, SSH_NEXT, F_OK, 0) == 0) {
		rc = fs_read(dir, SSH ".pub", &text, err);
		if (rc == 0)
			rc = fs_replace(
				dir, SSH_PAST, buf_str(&text), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	}
	if (rc == 0)
		rc = settle(dir, SSH, err);
	arena_free(a);
	return rc;
}

int keys_ssh_forget(const char *db, struct err *err)
{
	struct arena *a = arena_new();
	AUTO_FD dir = open_dir(a, db, false, err);
	const int rc = dir < 0 ? dir : fs_remove(dir, SSH_PAST, false, err);

	arena_free(a);
	return rc;
}
