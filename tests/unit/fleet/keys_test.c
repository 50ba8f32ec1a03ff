/* keys_test - made once, loaded, refused when others can read them. */
#include "agent/base/err.h"
#include "agent/base/sign.h"
#include "controller/fleet/keys.h"
#include "controller/ssh/link.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <sys/stat.h>

static char *db_path(void)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/stoika.db", t_dir());
	return path;
}

static char *key_path(const char *name)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/keys/%s", t_dir(), name);
	return path;
}

TEST(absent_keys_say_so)
{
	struct keys k = {0};
	struct err err = {0};

	assert_int_equal(keys_load(db_path(), &k, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "init"));
	assert_null(k.sign);
	assert_int_equal(keys_make("/no/such/place/x.db", &err), -E_NOTFOUND);
}

TEST(made_once)
{
	struct keys a = {0}, b = {0};
	struct err err = {0};
	struct stat st;

	assert_int_equal(keys_make(db_path(), &err), 0);
	assert_int_equal(keys_load(db_path(), &a, &err), 0);
	assert_int_equal(keys_make(db_path(), &err), 0);
	assert_int_equal(keys_load(db_path(), &b, &err), 0);
	assert_string_equal(sign_key_id(a.sign), sign_key_id(b.sign));
	assert_string_equal(link_key_public(a.ssh), link_key_public(b.ssh));
	keys_done(&a);
	keys_done(&b);
	keys_done(NULL);
	assert_int_equal(stat(key_path("sign"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(key_path("ssh"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(key_path("."), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(key_path("ssh.pub"), &st), 0);
	assert_int_equal(stat(key_path("sign.pub"), &st), 0);
}

TEST(open_or_broken_keys_are_refused)
{
	struct keys k = {0};
	struct err err = {0};

	assert_int_equal(keys_make(db_path(), &err), 0);
	assert_int_equal(chmod(key_path("sign"), 0640), 0);
	assert_int_equal(keys_load(db_path(), &k, &err), -E_DENIED);
	assert_non_null(strstr(err.hint, "chmod 600"));
	assert_int_equal(chmod(key_path("sign"), 0600), 0);
	assert_int_equal(truncate(key_path("sign"), 5), 0);
	assert_true(keys_load(db_path(), &k, &err) < 0);
	assert_non_null(strstr(err.msg, "keys/sign"));
	assert_null(k.sign);
	assert_null(k.ssh);
}

/* A rotation that was killed where the old key has only its second name left. */
TEST(an_old_key_is_destroyed_first)
{
	const char first[] = "the old key";
	struct err err = {0};
	char held[200], text[sizeof first] = "";
	int fd;

	snprintf(held, sizeof held, "%s", key_path("held"));
	assert_int_equal(keys_make(db_path(), &err), 0);
	fd = open(key_path("sign.old"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, first, sizeof first), sizeof first);
	close(fd);
	assert_int_equal(link(key_path("sign.old"), held), 0);
	assert_int_equal(keys_next_make(db_path(), &err), 0);
	assert_int_equal(access(key_path("sign.old"), F_OK), -1);
	assert_int_equal(access(key_path("sign.new"), F_OK), 0);
	fd = open(held, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof text), sizeof text);
	close(fd);
	assert_string_equal(text, "");
}

static void make_file(const char *name, const char *text)
{
	const int fd = open(key_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Killed between any two steps of putting the new SSH key in place, it is gone on with. */
TEST(ssh_key_is_replaced_whatever_was_done)
{
	static const struct {
		const char *name; /* taken away from the state before, or made */
		bool old_key, old_public;
	} killed[] = {{NULL, false, false}, {"ssh.old", true, false}, {"ssh.new", true, true}};

	for (size_t i = 0; i < sizeof killed / sizeof *killed; i++) {
		struct link_key *next = NULL;
		char old[KEYS_SSH_TEXT], wanted[KEYS_SSH_TEXT], was[KEYS_SSH_TEXT];
		struct keys k = {0};
		struct err err = {0};

		unlink(key_path("sign")); /* another test broke it */
		unlink(key_path("ssh"));
		unlink(key_path("ssh.pub"));
		assert_int_equal(keys_make(db_path(), &err), 0);
		assert_int_equal(keys_load(db_path(), &k, &err), 0);
		snprintf(was, sizeof was, "%s stoika", link_key_public(k.ssh));
		keys_done(&k);
		assert_int_equal(keys_ssh_next(db_path(), true, &next, old, &err), 0);
		assert_non_null(next);
		assert_string_equal(old, "");
		snprintf(wanted, sizeof wanted, "%s", link_key_public(next));
		link_key_free(next);
		if (killed[i].old_public)
			make_file("ssh.old.pub", was);
		if (killed[i].old_key) {
			char from[200];

			snprintf(from, sizeof from, "%s", key_path("ssh"));
			assert_int_equal(link(from, key_path("ssh.old")), 0);
		}
		if (killed[i].name && strcmp(killed[i].name, "ssh.new") == 0) {
			char from[200];

			snprintf(from, sizeof from, "%s", key_path("ssh.new"));
			assert_int_equal(rename(from, key_path("ssh")), 0);
		}
		assert_int_equal(keys_ssh_settle(db_path(), &err), 0);
		assert_int_equal(keys_ssh_next(db_path(), false, &next, old, &err), 0);
		assert_null(next);
		assert_string_equal(old, was);
		assert_int_equal(keys_load(db_path(), &k, &err), 0);
		assert_string_equal(link_key_public(k.ssh), wanted);
		keys_done(&k);
		assert_int_equal(access(key_path("ssh.old"), F_OK), -1);
		assert_int_equal(access(key_path("ssh.new.pub"), F_OK), -1);
		assert_int_equal(keys_ssh_forget(db_path(), &err), 0);
	}
}

TEST(paths)
{
	struct arena *a = arena_new();

	assert_string_equal(keys_path(a, "/x/y.db", "keys/ssh"), "/x/keys/ssh");
	assert_string_equal(keys_path(a, "y.db", "bundles"), "bundles");
	assert_string_equal(keys_path(a, "/y.db", "keys"), "/keys");
	arena_free(a);
}

T_MAIN
