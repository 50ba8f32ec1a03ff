/* known_hosts_test - plain, patterned, ported and hashed lines, and files that are none. */
#include "controller/ssh/known_hosts.h"
#include "tests/unit/ssh/sshd.h"

#define ED  "AAAAC3NzaC1lZDI1NTE5AAAAIL2lLaJ/UmVIQvY1QwFM9PkY/sLBImk4dZ9e3MaWZE4B"
#define EC  "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTY"
#define RSA "AAAAB3NzaC1yc2EAAAADAQABAAABgQ"

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	return path;
}

static const struct {
	const char *text, *address;
	unsigned port;
	const char *name, *want; /* NULL: E_NOTFOUND */
} CASES[] = {
	{"n1 ssh-ed25519 " ED "\n", "10.0.0.1", 22, "n1", "ssh-ed25519 " ED},
	{"10.0.0.1 ssh-ed25519 " ED, "10.0.0.1", 22, "n1", "ssh-ed25519 " ED},
	{"n1,10.0.0.1 ssh-ed25519 " ED " root@n1\r\n", "x", 22, "n1", "ssh-ed25519 " ED},
	{"n1 ssh-rsa " RSA "\nn1 ssh-ed25519 " ED "\nn1 ecdsa-sha2-nistp256 " EC "\n", "x", 22,
		"n1", "ssh-ed25519 " ED},
	{"n1 ssh-rsa " RSA "\nn1 ecdsa-sha2-nistp256 " EC "\n", "x", 22, "n1",
		"ecdsa-sha2-nistp256 " EC},
	/* the name wins over the address, whatever the kinds */
	{"10.0.0.1 ssh-ed25519 " ED "\nn1 ssh-rsa " RSA "\n", "10.0.0.1", 22, "n1", "ssh-rsa " RSA},
	{"[n1]:2222 ssh-ed25519 " ED "\n", "x", 2222, "n1", "ssh-ed25519 " ED},
	{"n1 ssh-ed25519 " ED "\n", "x", 2222, "n1", NULL},
	{"[n1]:2222 ssh-ed25519 " ED "\n", "x", 22, "n1", NULL},
	{"gpu* ssh-ed25519 " ED "\n", "x", 22, "gpu07", "ssh-ed25519 " ED},
	{"gpu*,!gpu07 ssh-ed25519 " ED "\n", "x", 22, "gpu07", NULL},
	{"gpu?? ssh-ed25519 " ED "\n", "x", 22, "gpu1", NULL},
	{"@revoked n1 ssh-ed25519 " ED "\n", "x", 22, "n1", NULL},
	{"@cert-authority n1 ssh-ed25519 " ED "\n", "x", 22, "n1", NULL},
	{"# n1 ssh-ed25519 " ED "\n\n   \n", "x", 22, "n1", NULL},
	{"n1 ssh-dss " RSA "\n", "x", 22, "n1", NULL},
	{"n1 ssh-ed25519\n", "x", 22, "n1", NULL},
	{"n1\n", "x", 22, "n1", NULL},
	{"", "x", 22, "n1", NULL},
	{"|1|bad|worse ssh-ed25519 " ED "\n|1| ssh-ed25519 " ED "\n|1|", "x", 22, "n1", NULL},
	{"\tn1\tssh-ed25519\t" ED "\n", "x", 22, "n1", "ssh-ed25519 " ED},
};

TEST(finds_the_right_line)
{
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		AUTO_BUF out = {0};
		struct err err = {0};
		int rc;

		buf_init(&out, 4096);
		t_write_file(path_of("kh"), CASES[i].text, 0600);
		rc = known_hosts_find(
			path_of("kh"), CASES[i].address, CASES[i].port, CASES[i].name, &out, &err);
		if (CASES[i].want) {
			assert_int_equal(rc, 0);
			assert_string_equal(buf_text(&out), CASES[i].want);
		} else {
			assert_int_equal(rc, -E_NOTFOUND);
			assert_non_null(strstr(err.hint, "ssh-keyscan"));
		}
	}
}

TEST(reads_what_openssh_hashed)
{
	AUTO_BUF out = {0};
	struct err err = {0};

	buf_init(&out, 4096);
	t_write_file(path_of("hashed"),
		"n1 ssh-ed25519 " ED "\n[10.0.0.9]:2200 ssh-ed25519 " ED "\n", 0600);
	t_run((const char *const[]){"ssh-keygen", "-q", "-H", "-f", path_of("hashed"), NULL});
	assert_int_equal(known_hosts_find(path_of("hashed"), "10.0.0.1", 22, "n1", &out, &err), 0);
	assert_string_equal(buf_text(&out), "ssh-ed25519 " ED);
	buf_clear(&out);
	assert_int_equal(
		known_hosts_find(path_of("hashed"), "10.0.0.9", 2200, "n9", &out, &err), 0);
	assert_int_equal(
		known_hosts_find(path_of("hashed"), "10.0.0.9", 22, "n9", &out, &err), -E_NOTFOUND);
}

TEST(says_when_there_is_no_file)
{
	AUTO_BUF out = {0};
	struct err err = {0};

	buf_init(&out, 4096);
	assert_int_equal(known_hosts_find(path_of("none"), "a", 22, "n", &out, &err), -E_NOTFOUND);
	assert_int_equal(known_hosts_find(t_dir(), "a", 22, "n", &out, &err) < 0, 1);
}

T_MAIN
