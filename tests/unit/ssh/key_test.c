/* key_test - making, loading and refusing SSH keys. */
#include "tests/unit/ssh/sshd.h"

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	return path;
}

TEST(makes_both_kinds)
{
	static const struct {
		const char *type, *starts;
	} kinds[] = {{"ed25519", "ssh-ed25519 AAAA"}, {"ecdsa", "ecdsa-sha2-nistp256 AAAA"}};

	for (size_t i = 0; i < 2; i++) {
		struct link_key *k = t_sshd_key(kinds[i].type, kinds[i].type);
		char pub[300], file[300];
		struct stat st;

		assert_int_equal(
			strncmp(link_key_public(k), kinds[i].starts, strlen(kinds[i].starts)), 0);
		assert_int_equal(stat(path_of(kinds[i].type), &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		snprintf(file, sizeof file, "%s.pub", path_of(kinds[i].type));
		t_read_file(file, pub, sizeof pub);
		assert_int_equal(strncmp(pub, link_key_public(k), strlen(link_key_public(k))), 0);
		link_key_free(k);
	}
}

TEST(keeps_an_existing_key)
{
	struct link_key *a = t_sshd_key("kept", "ed25519"), *b = t_sshd_key("kept", "ed25519");

	assert_string_equal(link_key_public(a), link_key_public(b));
	link_key_free(a);
	link_key_free(b);
}

TEST(openssh_reads_it)
{
	struct link_key *k = t_sshd_key("shared", "ed25519");
	const char *const argv[] = {"ssh-keygen", "-y", "-f", path_of("shared"), NULL};
	const struct proc p = {.argv = argv, .timeout = 10 * CLOCK_SEC};
	struct proc_result res;
	struct err err;

	assert_int_equal(proc_run(&p, &res, &err), 0);
	assert_true(proc_ok(&res));
	assert_int_equal(
		strncmp(buf_text(&res.out), link_key_public(k), strlen(link_key_public(k))), 0);
	proc_result_done(&res);
	link_key_free(k);
}

TEST(refuses_what_is_no_key)
{
	struct link_key *k = NULL;
	struct err err = {0};

	assert_int_equal(link_key_load(path_of("absent"), &k, &err), -E_NOTFOUND);
	assert_int_equal(link_key_load(t_dir(), &k, &err), -E_SCHEMA);
	t_write_file(path_of("junk"), "not a key\n", 0600);
	assert_int_equal(link_key_load(path_of("junk"), &k, &err), -E_SCHEMA);
	assert_non_null(strstr(err.hint, "passphrase"));
	t_write_file(path_of("open"), "not a key\n", 0644);
	assert_int_equal(link_key_load(path_of("open"), &k, &err), -E_DENIED);
	assert_non_null(strstr(err.hint, "chmod 600"));
	assert_int_equal(link_key_make(path_of("x"), "dsa", &err), -E_UNSUPPORTED);
	assert_int_equal(link_key_make(path_of("no/such/folder"), "ecdsa", &err), -E_NOTFOUND);
	assert_null(k);
	link_key_free(NULL);
}

TEST(refuses_a_passphrase)
{
	struct link_key *k = NULL;
	struct err err = {0};

	t_run((const char *const[]){"ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f",
		path_of("locked"), NULL});
	assert_int_equal(link_key_load(path_of("locked"), &k, &err), -E_SCHEMA);
}

T_MAIN
