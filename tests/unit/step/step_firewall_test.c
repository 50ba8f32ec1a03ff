/*
 * firewall - the real nft, in a network namespace of this test alone; and the judgement of what
 * closes a port, row by row.
 */
#include "agent/step/firewall_ssh.h"
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

#include <sched.h>

#define INPUT "chain a { type filter hook input priority 0; "

/* The inside of a table, and the rule that closes port 22; NULL: it stays open. */
static const struct {
	const char *table, *closes;
} PORTS[] = {
	{INPUT "policy accept;\n tcp dport 9100 drop\n}", NULL},
	{INPUT "policy drop;\n}", "policy drop"},
	{INPUT "policy drop;\n tcp dport 22 accept\n}", NULL},
	{INPUT "policy drop;\n tcp dport ssh accept\n}", NULL},
	{INPUT "policy drop;\n tcp dport { 80, 22 } accept\n}", NULL},
	{INPUT "policy drop;\n tcp dport 20-25 counter accept\n}", NULL},
	{INPUT "policy drop;\n tcp dport { 20-25, 80 } ct state new accept\n}", NULL},
	{INPUT "policy drop;\n tcp dport != 80 accept\n}", NULL},
	{INPUT "policy drop;\n tcp dport 2222 accept\n}", "policy drop"},
	{INPUT "policy drop;\n udp dport 22 accept\n}", "policy drop"},
	{INPUT "policy drop;\n ct state established,related accept\n}", "policy drop"},
	{INPUT "policy drop;\n iif \"lo\" accept\n}", "policy drop"},
	{INPUT "policy drop;\n iifname lo accept\n}", "policy drop"},
	{INPUT "policy drop;\n icmp type echo-request accept\n}", "policy drop"},
	{INPUT "policy drop;\n ip saddr 10.0.0.0/8 accept\n}", NULL},
	{INPUT "policy drop;\n ip saddr 10.0.0.1 tcp dport 22 accept\n}", NULL},
	{INPUT "policy drop;\n jump other\n}\nchain other { tcp dport 22 accept; }", "policy drop"},
	{INPUT "policy drop;\n # tcp dport 22 accept\n}", "policy drop"},
	{INPUT "policy accept;\n drop\n}", "drop"},
	{INPUT "policy accept;\n counter log prefix \"x\" drop\n}",
		"counter log prefix \"x\" drop"},
	{INPUT "policy accept;\n reject with tcp reset\n}", "reject with tcp reset"},
	{INPUT "\n tcp dport 22 accept\n drop\n}", NULL},
	{INPUT "\n drop\n tcp dport 22 accept\n}", "drop"},
	{INPUT "\n tcp dport 1-1024 drop\n}", "tcp dport 1-1024 drop"},
	{INPUT "\n tcp dport { 22, 80 } reject\n}", "tcp dport { 22, 80 } reject"},
	{INPUT "\n tcp dport != 80 drop\n}", "tcp dport != 80 drop"},
	{INPUT "\n ip saddr 192.0.2.1 drop\n}", NULL},
	{INPUT "\n ct state invalid drop\n}", NULL},
	{"chain o { type filter hook output priority 0; policy drop; }", NULL},
	{"chain f { type filter hook forward priority 0; policy drop; }", NULL},
	{"chain plain { drop; }", NULL},
	{"chain p { type filter hook prerouting priority -300; tcp dport 22 drop; }",
		"tcp dport 22 drop"},
	{"set s { type ipv4_addr; }\n" INPUT "policy drop; accept; }", NULL},
	{INPUT "policy drop", "policy drop"},
	{"", NULL},
	{"chain", NULL},
	{"chain x", NULL},
};

TEST(firewall_closes_a_port)
{
	for (size_t i = 0; i < sizeof PORTS / sizeof *PORTS; i++) {
		struct buf why;
		bool cuts;

		buf_init(&why, 512);
		cuts = firewall_cuts_port(str_of(PORTS[i].table), 22, &why);
		if (cuts != (PORTS[i].closes != NULL) ||
			(cuts && strcmp(buf_text(&why), PORTS[i].closes) != 0))
			fail_msg("row %zu %s: '%s'", i, PORTS[i].table, buf_text(&why));
		buf_done(&why);
	}
}

static void init(struct tree *t)
{
	static bool apart;

	tree_init(t);
	if (access("/usr/sbin/nft", X_OK) != 0)
		skip();
	if (!apart && unshare(CLONE_NEWNET) < 0)
		skip();
	apart = true;
	unsetenv("SSH_CONNECTION");
	programs_add(t, "/usr/sbin/nft", "/usr/sbin/nft");
	tree_write(t, "etc/nftables.conf", "#!/usr/sbin/nft -f\nflush ruleset\n");
}

static void nft(const char *command)
{
	const char *const argv[] = {"nft", command, NULL};
	struct proc_result res;

	assert_int_equal(proc_run(&(struct proc){.argv = argv, .merge = true}, &res, NULL), 0);
	if (!proc_ok(&res))
		fail_msg("nft %s: %s", command, buf_text(&res.out));
	proc_result_done(&res);
}

#define EXPORTER                                                                             \
	"{\"name\": \"exporter\", \"rules\": [\"ip saddr 10.0.0.0/8 tcp dport 9100 counter " \
	"accept\", \"tcp dport 9100 drop\"]}"

TEST(firewall_is_loaded_in_a_table_of_its_own)
{
	struct tree t;

	init(&t);
	nft("add table inet foreign");
	tree_converge(&t, "firewall", EXPORTER);
	assert_string_equal(tree_read(&t, "etc/nftables.d/stoika-exporter.nft"),
		"# kept by stoika: changes made here are lost\ntable inet stoika_exporter\ndelete "
		"table inet stoika_exporter\ntable inet stoika_exporter {\n\tchain input {\n\t\ttype "
		"filter hook input priority 0; policy accept;\n\t\tip saddr 10.0.0.0/8 tcp dport "
		"9100 counter accept\n\t\ttcp dport 9100 drop\n\t}\n}\n");
	assert_string_equal(tree_read(&t, "etc/nftables.conf"),
		"#!/usr/sbin/nft -f\nflush ruleset\ninclude \"/etc/nftables.d/stoika-*.nft\"\n");
	/* somebody adds a rule to it, or takes the table away: seen, and put right */
	nft("add rule inet stoika_exporter input tcp dport 1 drop");
	assert_int_equal(tree_check(&t, "firewall", EXPORTER), STEP_DIFFERS);
	assert_string_equal(t.rep.why, "the loaded table was changed");
	tree_converge(&t, "firewall", EXPORTER);
	nft("flush ruleset");
	assert_int_equal(tree_check(&t, "firewall", EXPORTER), STEP_DIFFERS);
	nft("add table inet foreign");
	tree_converge(&t, "firewall", EXPORTER);
	tree_converge(&t, "firewall", "{\"name\": \"exporter\", \"state\": \"absent\"}");
	nft("delete table inet foreign"); /* it is still there */
	tree_done(&t);
}

TEST(firewall_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "firewall", EXPORTER);
	tree_converge(&t, "firewall", EXPORTER);
	tree_undoes(&t, "firewall", "{\"name\": \"exporter\", \"rules\": [\"tcp dport 9 drop\"]}");
	tree_undoes(&t, "firewall", "{\"name\": \"exporter\", \"state\": \"absent\"}");
	nft("flush ruleset");
	tree_done(&t);
}

TEST(firewall_that_nft_does_not_take_changes_nothing)
{
	struct tree t;

	init(&t);
	tree_converge(&t, "firewall", EXPORTER);
	assert_true(tree_apply(&t, "firewall",
			    "{\"name\": \"exporter\", \"rules\": [\"tcp dprt 9100 drop\"]}") < 0);
	assert_non_null(strstr(t.err.hint, "nft(8)"));
	assert_int_equal(tree_check(&t, "firewall", EXPORTER), STEP_SAME);
	nft("flush ruleset");
	tree_done(&t);
}

TEST(firewall_keeps_ssh_open)
{
	static const char DROP[] = "{\"name\": \"x\", \"policy\": \"drop\", \"rules\": [\"tcp "
				   "dport 80 accept\"]}";
	static const char OPEN[] = "{\"name\": \"x\", \"policy\": \"drop\", \"rules\": [\"tcp "
				   "dport 22 accept\"]}";
	struct tree t;

	init(&t);
	tree_refused(&t, "firewall", DROP, E_DENIED);
	assert_true(t.rep.denied);
	assert_non_null(strstr(t.err.msg, "port 22"));
	assert_non_null(strstr(t.err.hint, "cut_ssh"));
	assert_int_equal(tree_check(&t, "firewall", OPEN), STEP_DIFFERS);
	tree_write(&t, "etc/ssh/sshd_config", "# Port 22\nPort 2222\n");
	tree_refused(&t, "firewall", OPEN, E_DENIED);
	assert_non_null(strstr(t.err.msg, "port 2222"));
	setenv("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 2022", 1);
	tree_refused(&t, "firewall", OPEN, E_DENIED);
	assert_non_null(strstr(t.err.msg, "port 2022"));
	unsetenv("SSH_CONNECTION");
	tree_converge(&t, "firewall",
		"{\"name\": \"x\", \"policy\": \"drop\", \"cut_ssh\": true, \"rules\": [\"tcp "
		"dport 80 accept\"]}");
	nft("flush ruleset");
	tree_done(&t);
}

TEST(firewall_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{\"name\": \"a-b\", \"rules\": [\"drop\"]}",
		"{\"name\": \"\", \"rules\": [\"drop\"]}", "{\"name\": \"a\"}",
		"{\"name\": \"a\", \"rules\": []}", "{\"name\": \"a\", \"rules\": [\"a\\nb\"]}",
		"{\"name\": \"a\", \"table\": \"chain x { }\\n}\\ntable inet y {\"}",
		"{\"name\": \"a\", \"table\": \"chain x { \"}"};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
		tree_refused(&t, "firewall", BAD[i], E_SCHEMA);
		assert_true(t.err.hint[0]);
	}
	tree_refused(&t, "firewall", "{\"name\": \"a\", \"rules\": [\"drop\"], \"table\": \"x\"}",
		E_CONFLICT);
	assert_int_equal(fs_remove(t.env.root, "usr/sbin/nft", false, NULL), 0);
	tree_refused(&t, "firewall", EXPORTER, E_NOTFOUND);
	assert_non_null(strstr(t.err.hint, "package"));
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "firewall", EXPORTER), STEP_DIFFERS);
	tree_done(&t);
}

T_MAIN
