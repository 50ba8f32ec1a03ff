/* secret_test - the store of secrets: kept, found, moved to new keys, and refused when touched. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "controller/secret/secret.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define CANARY "c4n4ry-4711-unique"

struct words {
	const char *text;
	unsigned asked;
};

static int say(void *ctx, bool fresh, struct buf *out, struct err *err)
{
	struct words *w = ctx;

	(void)fresh, (void)err;
	w->asked++;
	buf_add_text(out, w->text);
	return 0;
}

static const char *fresh_db(void)
{
	static unsigned n;
	static char path[160];
	char dir[128];

	snprintf(dir, sizeof dir, "%s/%u", t_dir(), n++);
	assert_int_equal(mkdir(dir, 0700), 0);
	snprintf(path, sizeof path, "%s/stoika.db", dir);
	return path;
}

/* A file beside the database. */
static const char *beside(const char *db, const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(db, '/') - db), db, name);
	return path;
}

static struct secrets *open_store(const char *db, bool write, const char *words)
{
	struct words w = {words, 0};
	const struct secret_ask ask = {say, &w};
	struct secrets *s = NULL;
	struct err err = {0};

	if (secrets_open(db, write, &ask, &s, &err) < 0)
		fail_msg("%s", err.msg);
	return s;
}

static void keep(const char *db, const char *name, const char *value)
{
	struct secrets *s = open_store(db, true, "");

	assert_int_equal(secrets_set(s, name, str_of(value), NULL), 0);
	assert_int_equal(secrets_save(s, NULL), 0);
	secrets_close(s);
}

static void assert_value(const char *db, const char *words, const char *name, const char *expected)
{
	struct secrets *s = open_store(db, false, words);
	struct str value = {NULL, 0};

	assert_int_equal(secrets_find(s, name, &value, NULL), 0);
	assert_true(str_is(value, expected));
	secrets_close(s);
}

static size_t slurp(const char *path, char *out, size_t cap)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(out, 1, cap, f);
	fclose(f);
	return n;
}

static void spill(const char *path, const char *p, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

static int open_code(const char *db, const char *words, struct err *err)
{
	struct words w = {words, 0};
	const struct secret_ask ask = {say, &w};
	struct secrets *s = NULL;
	const int rc = secrets_open(db, false, &ask, &s, err);

	secrets_close(rc == 0 ? s : NULL);
	return rc;
}

TEST(keeps_values_sealed)
{
	const char *db = fresh_db();
	struct stat st;
	char text[4096];

	assert_int_equal(secrets_make_key(db, NULL), 0);
	keep(db, "token", CANARY);
	keep(db, "another", "x");
	assert_value(db, "", "token", CANARY);
	assert_int_equal(stat(beside(db, "secrets"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(beside(db, "keys/secret"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	const size_t n = slurp(beside(db, "secrets"), text, sizeof text);

	assert_true(n > 0);
	assert_null(memmem(text, n, CANARY, strlen(CANARY)));
	assert_null(memmem(text, n, "another", 7));
}

TEST(makes_the_key_at_the_first_secret)
{
	const char *db = fresh_db();

	keep(db, "token", "abc");
	assert_value(db, "", "token", "abc");
}

TEST(lists_by_name_without_values)
{
	const char *db = fresh_db();
	struct secrets *s;

	keep(db, "b", "12345678901234567890");
	keep(db, "a", "x");
	keep(db, "c", "y");
	s = open_store(db, false, "");
	assert_int_equal(secrets_count(s), 3);
	assert_string_equal(secrets_at(s, 0).name, "a");
	assert_string_equal(secrets_at(s, 2).name, "c");
	assert_string_equal(secret_length_class(secrets_at(s, 1).length), "17 to 64");
	assert_true(secrets_at(s, 1).created > 0);
	secrets_close(s);
}

TEST(replaces_and_removes)
{
	const char *db = fresh_db();
	struct secrets *s;
	struct err err = {0};
	struct str value;

	keep(db, "token", "one");
	keep(db, "token", "two");
	assert_value(db, "", "token", "two");
	s = open_store(db, true, "");
	assert_int_equal(secrets_remove(s, "token", NULL), 0);
	assert_int_equal(secrets_remove(s, "token", &err), -E_NOTFOUND);
	assert_int_equal(secrets_save(s, NULL), 0);
	secrets_close(s);
	s = open_store(db, false, "");
	assert_int_equal(secrets_find(s, "token", &value, &err), -E_NOTFOUND);
	assert_string_equal(err.hint, "stoika secret set token");
	secrets_close(s);
}

TEST(refuses_names_and_values_that_are_none)
{
	const char *db = fresh_db();
	struct secrets *s = open_store(db, true, "");
	AUTO_BUF big = {0};
	struct err err = {0};

	buf_init(&big, SECRET_VALUE_MAX + 2);
	memset(buf_room(&big, SECRET_VALUE_MAX + 1), 'x', SECRET_VALUE_MAX + 1);
	buf_grew(&big, SECRET_VALUE_MAX + 1);
	assert_int_equal(secrets_set(s, "a b", STR_LIT("x"), &err), -E_SYNTAX);
	assert_int_equal(secrets_set(s, "../a", STR_LIT("x"), &err), -E_SYNTAX);
	assert_int_equal(secrets_set(s, "a", STR_LIT(""), &err), -E_SCHEMA);
	assert_int_equal(secrets_set(s, "a", STR_LIT("\xff"), &err), -E_SCHEMA);
	assert_int_equal(secrets_set(s, "a", buf_str(&big), &err), -E_LIMIT);
	secrets_close(s);
}

TEST(one_writer_at_a_time)
{
	const char *db = fresh_db();
	struct secrets *s = open_store(db, true, ""), *other = NULL;
	struct err err = {0};

	assert_int_equal(secrets_open(db, true, NULL, &other, &err), -E_BUSY);
	secrets_close(s);
	s = open_store(db, false, "");
	assert_int_equal(secrets_set(s, "a", STR_LIT("x"), NULL), 0);
	assert_int_equal(secrets_save(s, NULL), -E_INTERNAL);
	secrets_close(s);
}

TEST(moves_to_a_passphrase_and_back)
{
	const char *db = fresh_db();
	struct words w = {"four words are enough", 0};
	const struct secret_ask ask = {say, &w};
	struct secrets *s;
	struct err err = {0};

	keep(db, "token", CANARY);
	s = open_store(db, true, "");
	assert_int_equal(secrets_rotate(s, SECRET_PASSPHRASE, &ask, NULL), 0);
	secrets_close(s);
	assert_int_equal(w.asked, 1);
	assert_int_equal(access(beside(db, "keys/secret"), F_OK), -1);
	assert_value(db, w.text, "token", CANARY);
	assert_int_equal(open_code(db, "another one", &err), -E_VERIFY);
	assert_non_null(strstr(err.msg, "not the passphrase"));

	s = open_store(db, true, w.text);
	assert_int_equal(secrets_lock(s), SECRET_PASSPHRASE);
	assert_int_equal(secrets_rotate(s, SECRET_KEY_FILE, NULL, NULL), 0);
	secrets_close(s);
	assert_value(db, "never asked", "token", CANARY);
}

TEST(rotation_gives_another_key)
{
	const char *db = fresh_db();
	char before[256], after[256];
	size_t n;
	struct secrets *s;
	struct err err = {0};

	keep(db, "token", "abc");
	n = slurp(beside(db, "keys/secret"), before, sizeof before);
	s = open_store(db, true, "");
	assert_int_equal(secrets_rotate(s, SECRET_KEY_FILE, NULL, NULL), 0);
	secrets_close(s);
	assert_int_equal(slurp(beside(db, "keys/secret"), after, sizeof after), n);
	assert_memory_not_equal(before, after, n);
	assert_value(db, "", "token", "abc");
	spill(beside(db, "keys/secret"), before, n);
	assert_int_equal(open_code(db, "", &err), -E_VERIFY);
	assert_non_null(strstr(err.msg, "not the key"));
}

/* As a kill between the file and the key's rename leaves it. */
TEST(a_rotation_that_was_killed_is_ended)
{
	const char *db = fresh_db();
	char old[256], fresh[256];
	size_t n;
	struct secrets *s;

	keep(db, "token", "abc");
	n = slurp(beside(db, "keys/secret"), old, sizeof old);
	s = open_store(db, true, "");
	assert_int_equal(secrets_rotate(s, SECRET_KEY_FILE, NULL, NULL), 0);
	secrets_close(s);
	slurp(beside(db, "keys/secret"), fresh, sizeof fresh);
	spill(beside(db, "keys/secret.new"), fresh, n);
	chmod(beside(db, "keys/secret.new"), 0600);
	spill(beside(db, "keys/secret"), old, n);
	assert_value(db, "", "token", "abc");
	keep(db, "more", "x");
	assert_int_equal(access(beside(db, "keys/secret.new"), F_OK), -1);
	assert_value(db, "", "more", "x");
	/* and one that was killed before the file */
	spill(beside(db, "keys/secret.new"), old, n);
	chmod(beside(db, "keys/secret.new"), 0600);
	assert_value(db, "", "token", "abc");
}

TEST(refuses_what_others_can_read)
{
	static const char *const files[] = {"secrets", "keys/secret"};

	for (size_t i = 0; i < 2; i++) {
		const char *db = fresh_db();
		struct err err = {0};

		keep(db, "token", "abc");
		assert_int_equal(chmod(beside(db, files[i]), 0640), 0);
		assert_int_equal(open_code(db, "", &err), -E_DENIED);
		assert_non_null(strstr(err.msg, "can be read by others (mode 0640)"));
		assert_non_null(strstr(err.hint, "chmod 600"));
	}
}

TEST(refuses_foreign_files_and_links)
{
	const char *db = fresh_db();
	struct err err = {0};
	char target[300];

	if (geteuid() != 0)
		skip();
	keep(db, "token", "abc");
	assert_int_equal(chown(beside(db, "secrets"), 12345, 0), 0);
	assert_int_equal(open_code(db, "", &err), -E_DENIED);
	assert_non_null(strstr(err.msg, "belongs to user 12345"));
	snprintf(target, sizeof target, "%s", beside(db, "elsewhere"));
	assert_int_equal(rename(beside(db, "secrets"), target), 0);
	assert_int_equal(symlink(target, beside(db, "secrets")), 0);
	assert_int_equal(open_code(db, "", &err), -E_DENIED);
}

TEST(refuses_every_changed_byte)
{
	const char *db = fresh_db();
	char text[4096];
	size_t n;

	keep(db, "token", "abc");
	n = slurp(beside(db, "secrets"), text, sizeof text);
	for (size_t i = 0; i < n; i++) {
		struct err err = {0};

		text[i] = (char)(text[i] ^ 1);
		spill(beside(db, "secrets"), text, n);
		assert_true(open_code(db, "", &err) < 0);
		assert_true(err.hint[0] || err.code == E_DENIED);
		text[i] = (char)(text[i] ^ 1);
	}
	for (size_t i = 0; i < n; i += 7) {
		spill(beside(db, "secrets"), text, i);
		assert_true(open_code(db, "", NULL) < 0);
	}
	spill(beside(db, "secrets"), text, n);
	assert_value(db, "", "token", "abc");
}

TEST(a_key_that_is_gone_is_told)
{
	const char *db = fresh_db();
	struct err err = {0};

	keep(db, "token", "abc");
	unlink(beside(db, "keys/secret"));
	assert_int_equal(open_code(db, "", &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "backup"));
}

/* A descriptor with a passphrase; too short is refused for a new one only. */
TEST(reads_a_passphrase_from_a_descriptor)
{
	int ends[2];
	char number[16];
	AUTO_BUF words = {0};
	struct err err = {0};

	buf_init(&words, 1000);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[0], F_SETFD, 0), 0); /* as a shell hands one over */
	snprintf(number, sizeof number, "%d", ends[0]);
	setenv("STOIKA_PASSPHRASE_FD", number, 1);
	assert_int_equal(write(ends[1], "short\nfour words are enough\n", 28), 28);
	assert_int_equal(secret_passphrase(NULL, true, &words, &err), -E_SCHEMA);
	buf_clear(&words);
	assert_int_equal(secret_passphrase(NULL, true, &words, &err), 0);
	assert_string_equal(buf_text(&words), "four words are enough");
	setenv("STOIKA_PASSPHRASE_FD", "x", 1);
	assert_int_equal(secret_passphrase(NULL, false, &words, &err), -E_SYNTAX);
	unsetenv("STOIKA_PASSPHRASE_FD");
	close(ends[0]);
	close(ends[1]);
}

/* One of our own, such as the database's, none at all, and one that never ends. */
TEST(refuses_a_descriptor_that_was_not_given)
{
	const int own = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	AUTO_BUF words = {0};
	struct err err = {0};
	char number[16];

	buf_init(&words, 1000);
	snprintf(number, sizeof number, "%d", own);
	setenv("STOIKA_PASSPHRASE_FD", number, 1);
	assert_int_equal(secret_passphrase(NULL, true, &words, &err), -E_SYNTAX);
	assert_int_equal(words.n, 0);
	assert_int_equal(fcntl(own, F_SETFD, 0), 0);
	assert_int_equal(secret_passphrase(NULL, true, &words, &err), -E_LIMIT);
	close(own);
	assert_int_equal(secret_passphrase(NULL, true, &words, &err), -E_SYNTAX);
	setenv("STOIKA_PASSPHRASE_FD", "18446744073709551615", 1);
	assert_int_equal(secret_passphrase(NULL, true, &words, &err), -E_SYNTAX);
	unsetenv("STOIKA_PASSPHRASE_FD");
}

/* Killed at any time while it saves and rotates, the store opens with the old or the new value. */
TEST(survives_kills)
{
	const char *db = fresh_db();

	keep(db, "token", "old");
	for (int i = 0; i < 60; i++) {
		const pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			for (;;) {
				struct secrets *s = NULL;

				if (secrets_open(db, true, NULL, &s, NULL) < 0)
					_exit(1);
				if (secrets_set(s, "token", STR_LIT("new"), NULL) < 0 ||
					secrets_save(s, NULL) < 0 ||
					secrets_rotate(s, SECRET_KEY_FILE, NULL, NULL) < 0)
					_exit(2);
				secrets_close(s);
			}
		}
		usleep(1000 + (unsigned)i * 431 % 9000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);

		struct secrets *s = open_store(db, false, "");
		struct str value;

		assert_int_equal(secrets_find(s, "token", &value, NULL), 0);
		assert_true(str_is(value, "old") || str_is(value, "new"));
		secrets_close(s);
	}
}

T_MAIN
