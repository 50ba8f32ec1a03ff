/*
 * install_test - first contact with an sshd in a mount namespace of its own.
 *
 * /opt, /root, /var/lib and an overlay of /etc are the node's there, so that the real
 * script does its real work; the agent in the archives is a small script that
 * starts the fake agent.
 */
#include "agent/base/sign.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/keys.h"
#include "inventory/model/model.h"
#include "tests/unit/ssh/sshd.h"

static struct arena *arena;
static struct t_sshd server;
static struct keys keys;
static struct store *store;
static struct node_rows rows;

static char *path_of(const char *rest)
{
	return arena_printf(arena, "%s/%s", t_dir(), rest);
}

/* A shell command inside the node. */
static int in_node(const char *script, struct buf *out)
{
	const char *const argv[] = {"nsenter", "-m", "-t", arena_printf(arena, "%d", server.pid),
		"sh", "-c", script, NULL};
	const struct proc p = {.argv = argv, .timeout = 30 * CLOCK_SEC};
	struct proc_result res;
	struct err err = {0};
	int status;

	assert_int_equal(proc_run(&p, &res, &err), 0);
	if (out)
		buf_add_str(out, buf_str(&res.out));
	status = res.status;
	proc_result_done(&res);
	return status;
}

static void expect_in_node(const char *script, const char *want)
{
	AUTO_BUF out = {0};

	buf_init(&out, 65536);
	in_node(script, &out);
	assert_string_equal(buf_text(&out), want);
}

static void start_node(void)
{
	const char *script = arena_printf(arena,
		"#!/bin/sh\nset -e\n"
		"mount -t tmpfs none /opt\nmount -t tmpfs none /var/lib\nmount -t tmpfs none /root\n"
		"mkdir -p %s/over\nmount -t tmpfs none %s/over\nmkdir %s/over/up %s/over/work\n"
		"mount -t overlay none -o lowerdir=/etc,upperdir=%s/over/up,workdir=%s/over/work /etc\n"
		"mkdir -m 700 /root/.ssh\necho '# of others' > /root/.ssh/authorized_keys\n"
		"chmod 640 /root/.ssh/authorized_keys\n"
		"exec /usr/sbin/sshd \"$@\"\n",
		t_dir(), t_dir(), t_dir(), t_dir(), t_dir(), t_dir());

	t_write_file(path_of("node.sh"), script, 0755);
	server.pid = fork();
	if (server.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execlp("unshare", "unshare", "-m", "sh", path_of("node.sh"), "-D", "-f",
			path_of("sshd0/conf"), "-E", path_of("sshd0/log"), (char *)0);
		_exit(127);
	}
	for (int i = 0; i < 1200 && !t_port_answers(server.port); i++)
		clock_sleep(25 * CLOCK_MS);
	assert_true(t_port_answers(server.port));
}

/* Archives of an agent whose version is text; broken: it does not run. */
static void make_archives(const char *version, bool broken)
{
	static const char loader[] = "#!/bin/sh\nshift 2\nexec \"$@\"\n";

	t_run((const char *const[]){"rm", "-rf", path_of("dist"), NULL});
	t_run((const char *const[]){"mkdir", "-p", path_of("dist/bin"), path_of("dist/lib"), NULL});
	t_write_file(path_of("dist/VERSION"), version, 0644);
	t_write_file(path_of("dist/lib/ld-linux-x86-64.so.2"), loader, 0755);
	t_write_file(path_of("dist/bin/stoika-agent"),
		arena_printf(arena,
			"#!/bin/sh\n[ \"$1\" = version ] && { echo %s; exit %d; }\n"
			"exec %s %s\n",
			version, broken, path_of("fake/agent"), path_of("fake")),
		0755);
	t_run((const char *const[]){"tar", "-C", path_of("dist"), "--zstd", "-cf",
		path_of("dist/stoika-agent.tar.zst"), "VERSION", "bin", "lib", NULL});
	t_run((const char *const[]){"tar", "-C", path_of("dist"), "-czf",
		path_of("dist/stoika-agent.tar.gz"), "VERSION", "bin", "lib", NULL});
}

static void make_node(void)
{
	struct model *m = model_new();
	struct err err = {0};

	m->site = "test";
	*vec_push(&m->nodes) = (struct node){
		.name = "n1",
		.device = MODEL_NONE,
		.address = "127.0.0.1",
		.user = "root",
		.role = "gpu",
		.port = server.port,
		.host_key = server.host_key,
		.vars = "{}",
	};
	assert_int_equal(store_begin(store, &err), 0);
	assert_int_equal(store_put_model(store, m, &err), 0);
	assert_int_equal(store_commit(store, &err), 0);
	model_free(m);
	assert_int_equal(store_nodes(store, arena, &rows, &err), 0);
}

static void set_up(void)
{
	struct link_key *operator_key;
	char *authorized;
	struct err err = {0};

	if (arena)
		return;
	if (geteuid() != 0)
		skip(); /* its node is a mount namespace with an sshd */
	arena = arena_new();
	assert_int_equal(keys_make(path_of("stoika.db"), &err), 0);
	assert_int_equal(keys_load(path_of("stoika.db"), &keys, &err), 0);
	assert_int_equal(store_open(path_of("stoika.db"), STORE_CREATE, &store, &err), 0);
	assert_int_equal(mkdir(path_of("fake"), 0755), 0);
	/* the node has another /root and /opt, where the build may lie */
	t_run((const char *const[]){"cp", FAKE_AGENT, path_of("fake/agent"), NULL});
	t_run((const char *const[]){
		"cp", path_of("keys/sign.pub"), path_of("fake/sign.pub"), NULL});
	operator_key = t_sshd_key("operator", "ed25519");
	authorized = arena_printf(arena, "%s operator\n", link_key_public(operator_key));
	link_key_free(operator_key);
	/* configuration and keys are made by a start that is ended at once */
	t_sshd_start(&server, "ed25519", authorized,
		arena_printf(arena, "AuthorizedKeysFile %s/sshd0/authorized .ssh/authorized_keys\n",
			t_dir()));
	t_sshd_stop(&server);
	start_node();
	make_node();
	t_write_file(path_of(arena_printf(arena, "fake/%u", server.port)), "ok", 0644);
}

struct seen {
	unsigned done;
	enum step_result state;
	const char *reason, *hint;
};

static void on_done(void *ctx, const struct node_row *node, const struct node_result *r)
{
	struct seen *s = ctx;

	(void)node;
	s->done++;
	s->state = r->state;
	s->reason = arena_strdup(arena, r->reason);
	s->hint = arena_strdup(arena, r->hint);
}

static void install(const char *identity, struct seen *seen)
{
	const struct install_opts o = {
		.identity = identity,
		.agent_dir = path_of("dist"),
		.by = "tester",
		.ctx = seen,
		.done = on_done,
	};
	struct node_refs refs = VEC_INIT;
	struct fleet_outcome out;
	struct err err = {0};
	int rc;

	*seen = (struct seen){0};
	*vec_push(&refs) = &rows.at[0];
	rc = fleet_install(store, &keys, &refs, &o, &out, &err);
	if (rc < 0)
		print_error("%s\n", err.msg);
	assert_int_equal(rc, 0);
	assert_int_equal(seen->done, 1);
	if (getenv("T_VERBOSE"))
		print_message("%s: %s; %s\n", result_name(seen->state), seen->reason, seen->hint);
	vec_done(&refs);
}

static void no_debris(void)
{
	expect_in_node("ls -A /opt/stoika /root/.ssh /etc/stoika-agent /var/lib/stoika-agent "
		       "| grep -E '^\\.|[0-9]$' | grep -v '^agent-'",
		"");
}

TEST(a_full_node_stays_as_it_was)
{
	struct seen seen;

	set_up();
	make_archives("1", false);
	in_node("mount -o remount,size=64k /opt", NULL);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_FAILED);
	assert_non_null(strstr(seen.reason, "KiB free"));
	in_node("mount -o remount,size=80m /opt; mount -o remount,size=4k /root", NULL);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_FAILED);
	assert_non_null(strstr(seen.reason, "no space in /root/.ssh"));
	assert_non_null(strstr(seen.hint, "as it was"));
	expect_in_node("cat /root/.ssh/authorized_keys; ls -A /opt/stoika /etc/stoika-agent "
		       "/var/lib/stoika-agent",
		"# of others\n/etc/stoika-agent:\n\n/opt/stoika:\n\n/var/lib/stoika-agent:\n");
	in_node("mount -o remount,size=10m /root", NULL);
}

/* What cannot be replaced fails the whole, on a fresh node and on one with an agent. */
static void cannot_replace(size_t first)
{
	static const struct {
		const char *bar, *unbar, *reason;
	} cases[] = {
		{"f=/root/.ssh/authorized_keys; mount --bind $f $f",
			"umount /root/.ssh/authorized_keys",
			"cannot replace /root/.ssh/authorized_keys"},
		{"cd /opt/stoika; [ ! -L agent ] || mv agent was; mkdir agent",
			"cd /opt/stoika; rmdir agent; [ ! -L was ] || mv was agent",
			"agent is in the way"},
		{"cd /etc/stoika-agent; [ ! -f controller.pub ] || mv controller.pub was; mkdir "
		 "controller.pub",
			"cd /etc/stoika-agent; rmdir controller.pub; [ ! -f was ] || mv was "
			"controller.pub",
			"controller.pub is in the way"},
	};
	static const char look[] =
		"find /opt/stoika /etc/stoika-agent /var/lib/stoika-agent/name /root/.ssh "
		"! -type d 2>/dev/null | sort | xargs ls -1d -Q --time-style=+ -o; "
		"cat /root/.ssh/authorized_keys";

	for (size_t i = first; i < sizeof cases / sizeof *cases; i++) {
		AUTO_BUF before = {0}, after = {0};
		struct seen seen;

		buf_init(&before, 65536);
		buf_init(&after, 65536);
		in_node(look, &before);
		assert_int_equal(in_node(cases[i].bar, NULL), 0);
		install(path_of("operator"), &seen);
		assert_int_equal(in_node(cases[i].unbar, NULL), 0);
		in_node(look, &after);
		assert_int_equal(seen.state, RESULT_FAILED);
		assert_non_null(strstr(seen.reason, cases[i].reason));
		assert_string_equal(buf_text(&before), buf_text(&after));
		no_debris();
	}
}

TEST(what_cannot_be_replaced_stops_a_first_install)
{
	set_up();
	make_archives("0", false);
	assert_int_equal(in_node("mkdir -p /etc/stoika-agent /opt/stoika", NULL), 0);
	cannot_replace(0);
}

TEST(a_node_that_talks_without_end_is_left)
{
	struct seen seen;

	set_up();
	make_archives("0", false);
	assert_int_equal(in_node("echo yes >/root/.bashrc", NULL), 0);
	install(path_of("operator"), &seen);
	assert_int_equal(in_node("rm /root/.bashrc", NULL), 0);
	assert_int_equal(seen.state, RESULT_FAILED);
	assert_non_null(strstr(seen.reason, "does not stop talking"));
}

TEST(installs)
{
	struct node_rows now = VEC_INIT;
	struct seen seen;
	struct err err = {0};

	set_up();
	make_archives("1", false);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_OK);
	expect_in_node("/opt/stoika/agent/bin/stoika-agent version; cat /var/lib/stoika-agent/name",
		"1\nn1\n");
	expect_in_node("stat -c %a /root/.ssh/authorized_keys /var/lib/stoika-agent "
		       "/etc/stoika-agent/controller.pub",
		"640\n700\n644\n");
	expect_in_node("head -n 1 /root/.ssh/authorized_keys; grep -c stoika-agent "
		       "/root/.ssh/authorized_keys",
		"# of others\n1\n");
	assert_int_equal(in_node(arena_printf(arena, "cmp %s /etc/stoika-agent/controller.pub",
					 path_of("keys/sign.pub")),
				 NULL),
		0);
	no_debris();
	assert_int_equal(store_nodes(store, arena, &now, &err), 0);
	assert_string_equal(now.at[0].state, "ready");
	assert_string_equal(now.at[0].os, "debian 12");
	vec_done(&now);
}

TEST(installing_again_changes_nothing)
{
	static const char look[] =
		"ls -i /root/.ssh/authorized_keys; cd /opt/stoika; ls -id agent-*; "
		"readlink agent; cat /root/.ssh/authorized_keys";
	AUTO_BUF before = {0}, after = {0};
	struct seen seen;

	set_up();
	buf_init(&before, 65536);
	buf_init(&after, 65536);
	in_node(look, &before);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_OK);
	in_node(look, &after);
	assert_string_equal(buf_text(&before), buf_text(&after));
	no_debris();
}

TEST(what_cannot_be_replaced_stops_an_upgrade)
{
	set_up();
	make_archives("1.5", false);
	cannot_replace(1); /* the keys stay the same */
}

TEST(what_a_killed_install_left_is_removed)
{
	struct seen seen;

	set_up();
	in_node("touch /opt/stoika/.agent.7 /root/.ssh/authorized_keys.stoika.7 "
		"/etc/stoika-agent/.pub.7 /var/lib/stoika-agent/.name.7; mkdir /opt/stoika/.new-1",
		NULL);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_OK);
	no_debris();
}

TEST(a_new_version_takes_over)
{
	struct seen seen;

	set_up();
	for (unsigned i = 2; i <= 4; i++) {
		make_archives(arena_printf(arena, "%u", i), false);
		install(path_of("operator"), &seen);
		assert_int_equal(seen.state, RESULT_OK);
	}
	expect_in_node(
		"/opt/stoika/agent/bin/stoika-agent version; ls -d /opt/stoika/agent-* | wc -l; "
		"grep -c stoika-agent /root/.ssh/authorized_keys",
		"4\n2\n1\n");
	no_debris();
}

TEST(an_agent_that_does_not_run_is_not_switched_to)
{
	struct seen seen;

	set_up();
	make_archives("5", true);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_FAILED);
	assert_non_null(strstr(seen.reason, "does not run"));
	expect_in_node(
		"/opt/stoika/agent/bin/stoika-agent version; ls -d /opt/stoika/agent-* | wc -l",
		"4\n2\n");
	no_debris();
}

TEST(works_without_zstd)
{
	struct seen seen;

	set_up();
	make_archives("6", false);
	in_node("mount --bind /dev/null $(readlink -f /usr/bin/zstd)", NULL);
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_OK);
	expect_in_node("/opt/stoika/agent/bin/stoika-agent version", "6\n");
	in_node("umount $(readlink -f /usr/bin/zstd)", NULL);
}

/* Our own key leads to the agent only: the old one is told to apply the new one. */
TEST(our_own_key_asks_the_agent)
{
	struct seen seen;
	char text[8192];

	set_up();
	make_archives("7", false);
	install(NULL, &seen);
	assert_int_equal(seen.state, RESULT_OK);
	t_read_file(path_of("install/stoika-agent/recipe.yaml"), text, sizeof text);
	assert_non_null(strstr(text, "creates: /opt/stoika/agent-"));
	t_read_file(path_of(arena_printf(arena, "fake/%u.bundle", server.port)), text, sizeof text);
	assert_true(strtoul(text, NULL, 10) > 500);
}

TEST(refusals)
{
	struct seen seen;
	struct node_row kept;
	struct link_key *other;

	set_up();
	other = t_sshd_key("other", "ed25519");
	link_key_free(other);
	install(path_of("other"), &seen);
	assert_int_equal(seen.state, RESULT_DENIED);
	assert_non_null(strstr(seen.hint, "--identity"));
	kept = rows.at[0];
	rows.at[0].host_key = NULL;
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_DENIED);
	assert_non_null(strstr(seen.hint, "--known-hosts"));
	rows.at[0] = kept;
	rows.at[0].port = t_free_port();
	install(path_of("operator"), &seen);
	assert_int_equal(seen.state, RESULT_FAILED);
	rows.at[0] = kept;
}

TEST(says_what_is_missing_here)
{
	struct node_refs refs = VEC_INIT;
	struct install_opts o = {.agent_dir = "/no/such/folder", .by = "tester"};
	struct fleet_outcome out;
	struct err err = {0};

	set_up();
	*vec_push(&refs) = &rows.at[0];
	assert_int_equal(fleet_install(store, &keys, &refs, &o, &out, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "--agent"));
	o.agent_dir = path_of("dist");
	o.identity = "/no/such/key";
	assert_int_equal(fleet_install(store, &keys, &refs, &o, &out, &err), -E_NOTFOUND);
	vec_done(&refs);
}

TEST(z_clean_up)
{
	if (!arena)
		return;
	vec_done(&rows);
	keys_done(&keys);
	store_close(store);
	t_sshd_stop(&server);
	arena_free(arena);
}

T_MAIN
