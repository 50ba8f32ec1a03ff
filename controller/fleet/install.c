/*
 * install - first contact: look at the node, send script and archive, then ask for its facts.
 *
 * Two commands per node over the key that may log in now: a probe that changes
 * nothing, then the script on standard input with the archive behind it. A node
 * that answers the probe with the agent's greeting has our key bound already and
 * is served by install_recipe.c. All that succeeded are proven by a facts order
 * over our own key.
 */
#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/wire/frame.h"
#include "controller/fleet/fleet_priv.h"
#include "controller/fleet/install_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAID_MAX      4096
#define COMPLAINT_MAX 300
#define FREE_KB_MIN   40960
#define LEASE_TTL     INT64_C(1800)
#define SCRIPT_TIME   (300 * CLOCK_SEC) /* unpacking on a busy node says nothing for long */
#define COMMAND_TIME  (900 * CLOCK_SEC) /* of one command from its start to its end */
#define HEARD_MAX     (1u << 20)        /* bytes; ours say a few lines */

/* Works in any login shell; says what decides the rest in one line. */
static const char PROBE[] =
	"sh -c 'z=no; command -v zstd >/dev/null 2>&1 && z=yes; d=/opt; [ -d $d ] || d=/; "
	"f=$(df -Pk $d 2>/dev/null | tail -n 1 | awk \"{print \\$4}\"); h=none; "
	"for s in %.*s %.*s; do [ ! -x /opt/stoika/agent-$s/bin/stoika-agent ] || h=$s; done; "
	"echo STOIKA-PROBE $(uname -s) $(uname -m) $(id -u) $z ${f:-0} $h'";

/* Reads the script from standard input, byte by byte, so that the archive behind it stays. */
static const char FEED[] = "sh -c 'eval \"$(dd bs=1 count=%zu 2>/dev/null)\"' install.sh %s";

enum job_step {
	JOB_PROBE,
	JOB_SCRIPT,
	JOB_RESIDENT, /* our key leads to an agent */
	JOB_GOOD,
	JOB_BAD
};

struct job {
	struct session *session;
	const struct node_row *node;
	enum job_step step;
	struct buf said, complaint;
	const struct agent_archive *archive;
	bool has_agent; /* this very one is there: only keys and names are sent */
	int64_t began;
	struct link *link; /* NULL: no command runs */
	int64_t started;   /* the command */
	size_t heard;      /* bytes of it */
};

struct session {
	struct install in;
	struct link_set *links;
	struct fleet_outcome *out;
	struct job *jobs;
	unsigned n;
	char run[64]; /* the leases' */
};

/* --- results --- */

static enum step_result result_of(enum ec code)
{
	return code == E_AUTH || code == E_HOSTKEY || code == E_BUSY || code == E_DENIED
		       ? RESULT_DENIED
	       : code == E_TIMEOUT   ? RESULT_TIMEOUT
	       : code == E_CANCELLED ? RESULT_INTERRUPTED
				     : RESULT_FAILED;
}

static void fail_job(struct job *j, const struct err *why)
{
	struct session *s = j->session;
	const struct install_opts *o = s->in.opts;
	const struct node_result r = {
		.node = j->node->id,
		.node_name = j->node->name,
		.state = result_of(why->code),
		.plan_hash = "",
		.reason = why->msg,
		.hint = why->hint,
		.took = clock_mono() - j->began,
	};

	j->step = JOB_BAD;
	s->out->nodes.n[r.state]++;
	if (why->code == E_NET || why->code == E_TIMEOUT)
		s->out->unreachable++;
	if (o->done)
		o->done(o->ctx, j->node, &r);
}

/* --- the archives --- */

static int map_archive(struct agent_archive *a, const char *path, struct err *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) != 0) {
		err_sys(err, errno, "cannot read the agent's archive '%s'", path);
		return err_hint(err, "name its folder by --agent DIR, or build the target "
				     "agent-folder");
	}
	if (st.st_size <= 0)
		return err_set(err, E_VERIFY, "the agent's archive '%s' is empty", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, errno, "cannot map '%s'", path);
	a->path = path;
	a->map = map;
	a->bytes = (struct str){map, (size_t)st.st_size};
	hash_hex(a->bytes, a->sha256);
	return 0;
}

static void unmap_archive(struct agent_archive *a)
{
	if (a->map)
		munmap(a->map, a->bytes.n);
}

static int map_archives(struct install *in, struct err *err)
{
	const char *dir = in->opts->agent_dir;
	const int rc = map_archive(
		&in->zstd, arena_printf(in->arena, "%s/stoika-agent.tar.zst", dir), err);

	return rc < 0 ? rc
		      : map_archive(&in->gzip,
				arena_printf(in->arena, "%s/stoika-agent.tar.gz", dir), err);
}

const char *install_arguments(
	const struct install *in, const struct agent_archive *archive, const char *node)
{
	char sign[SIGN_TEXT_MAX];

	sign_key_public_text(keys_newest(in->keys), sign);
	return arena_printf(in->arena, "%s %s %s %s %s", archive->sha256,
		archive == &in->zstd ? "zstd" : "gzip", node, sign, link_key_public(in->keys->ssh));
}

/* --- one node --- */

static void start_command(struct job *j, const char *command);

static void on_opened(void *ctx, struct link *l)
{
	struct job *j = ctx;

	j->link = l;
	j->started = clock_mono();
	j->heard = 0;
	if (j->step == JOB_SCRIPT) {
		link_write_shared(l, str_of(INSTALL_SCRIPT));
		if (!j->has_agent)
			link_write_shared(l, j->archive->bytes);
	}
	link_write_eof(l);
}

static void on_data(void *ctx, struct link *l, bool is_stderr, struct str bytes)
{
	struct job *j = ctx;
	struct err why = {0};

	j->heard += bytes.n;
	if (j->heard > HEARD_MAX) {
		err_set(&why, E_LIMIT, "'%s' does not stop talking", j->node->name);
		err_hint(&why, "quieten the start-up files of the shell that the key gets there");
		link_abort(l, &why);
		return;
	}
	if (is_stderr)
		buf_add_str(&j->complaint, str_first(bytes, COMPLAINT_MAX - j->complaint.n));
	else
		buf_add_str(&j->said, str_first(bytes, SAID_MAX - j->said.n));
}

/* The last line of what the node complained of, for people. */
static const char *last_complaint(struct job *j)
{
	struct str rest = buf_str(&j->complaint), line, last = {"", 0};
	AUTO_BUF text = {0};

	while (str_line(&rest, &line))
		if (str_trim(line).n > 0)
			last = str_trim(line);
	buf_init(&text, 4 * COMPLAINT_MAX + 1);
	buf_add_printable(&text, last);
	return arena_strdup(j->session->in.arena, buf_text(&text));
}

static int judge_failure(struct job *j, const struct link_end *end, struct err *err)
{
	const char *why = last_complaint(j);
	const bool space = strstr(buf_text(&j->complaint), "No space") || strstr(why, "no space");

	err_set(err, space ? E_NOSPACE : E_REMOTE, "the agent cannot be installed on '%s': %s",
		j->node->name, *why ? why : "the node did not say why");
	if (space)
		err_hint(err, "make room in /opt, /etc and /root of '%s'; it is as it was before",
			j->node->name);
	else
		err_hint(err, "exit status %d; '%s' is as it was before", end->status,
			j->node->name);
	return -(int)err->code;
}

/* Which archive to send: the one that the node has already, else the one it can unpack. */
static void choose_archive(struct job *j, bool zstd, const char *has)
{
	const struct install *in = &j->session->in;

	j->has_agent = true;
	if (strncmp(has, in->zstd.sha256, SHORT_LEN) == 0) {
		j->archive = &in->zstd;
	} else if (strncmp(has, in->gzip.sha256, SHORT_LEN) == 0) {
		j->archive = &in->gzip;
	} else {
		j->archive = zstd ? &in->zstd : &in->gzip;
		j->has_agent = false;
	}
}

/* "STOIKA-PROBE Linux x86_64 0 yes 123456 none" somewhere in what was said. */
static int judge_probe(struct job *j, struct err *err)
{
	const char *at = strstr(buf_text(&j->said), "STOIKA-PROBE ");
	char kernel[32], arch[32], zstd[8], has[SHORT_LEN + 1];
	unsigned uid;
	unsigned long long kilobytes;

	if (!at || sscanf(at, "STOIKA-PROBE %31s %31s %u %7s %llu %12s", kernel, arch, &uid, zstd,
			   &kilobytes, has) != 6) {
		err_set(err, E_REMOTE, "'%s' does not run plain commands for this key: '%s'",
			j->node->name, last_complaint(j));
		return err_hint(err, "name a key that gets a shell: --identity FILE");
	}
	if (strcmp(kernel, "Linux") != 0 || strcmp(arch, "x86_64") != 0)
		return err_set(err, E_UNSUPPORTED,
			"'%s' is %s on %s; the agent runs on Linux on "
			"x86_64 only",
			j->node->name, kernel, arch);
	if (uid != 0) {
		err_set(err, E_DENIED, "the key logs in as user '%s' on '%s', not as root",
			j->node->user && *j->node->user ? j->node->user : "root", j->node->name);
		return err_hint(err, "set the node's user to root in the site file");
	}
	if (kilobytes < FREE_KB_MIN) {
		err_set(err, E_NOSPACE, "'%s' has %llu KiB free for /opt, the agent needs %d",
			j->node->name, kilobytes, FREE_KB_MIN);
		return err_hint(err, "make room there: df -h /opt");
	}
	choose_archive(j, strcmp(zstd, "yes") == 0, has);
	return 0;
}

static void start_script(struct job *j)
{
	const struct install *in = &j->session->in;
	const char *arguments = install_arguments(in, j->archive, j->node->name);

	j->step = JOB_SCRIPT;
	buf_clear(&j->said);
	buf_clear(&j->complaint);
	start_command(j, arena_printf(in->arena, FEED, strlen(INSTALL_SCRIPT), arguments));
}

static void probed(struct job *j)
{
	struct err err = {0};

	if (str_find_str(buf_str(&j->said), STR_LIT(WIRE_MAGIC)) != STR_NONE)
		j->step = JOB_RESIDENT;
	else if (judge_probe(j, &err) < 0)
		fail_job(j, &err);
	else
		start_script(j);
}

static void on_closed(void *ctx, struct link *l, const struct link_end *end, const struct err *err)
{
	struct job *j = ctx;
	const bool clean = end->how == LINK_EXITED && end->status == 0;
	struct err why = {0};

	(void)l;
	j->link = NULL;
	if (err->code && !(j->step == JOB_SCRIPT && clean)) {
		why = *err;
		if (why.code == E_AUTH)
			err_hint(&why, "name a key that may log in there now: --identity FILE");
		fail_job(j, &why);
	} else if (j->step == JOB_PROBE) {
		probed(j);
	} else if (clean && strstr(buf_text(&j->said), "STOIKA-INSTALLED ")) {
		j->step = JOB_GOOD;
	} else {
		judge_failure(j, end, &why);
		fail_job(j, &why);
	}
}

static const struct link_ops OPS = {on_opened, on_data, NULL, on_closed};

static void start_command(struct job *j, const char *command)
{
	const struct node_row *n = j->node;
	const struct link_target target = {
		.name = n->name,
		.address = n->address,
		.port = n->port ? n->port : 22,
		.user = n->user && *n->user ? n->user : "root",
		.host_key = n->host_key,
		.command = command,
	};

	link_start(j->session->links, &target, &OPS, j);
}

/* --- all nodes --- */

/* Why a node cannot be begun with at all. */
static int judge_node(struct session *s, const struct node_row *n, struct err *err)
{
	struct lease holder;
	int rc;

	if (!n->address || !*n->address) {
		err_set(err, E_SCHEMA, "'%s' has no address", n->name);
		return err_hint(err, "give it one in the site file, then: stoika import FILE");
	}
	if (!n->host_key || !*n->host_key) {
		err_set(err, E_HOSTKEY, "no host key of '%s' is pinned", n->name);
		return err_hint(err, "stoika agent install %s --known-hosts FILE", n->name);
	}
	rc = store_lease_take(s->in.store, s->in.arena, n->id, s->run, store_owner(s->in.arena),
		LEASE_TTL, &holder, err);
	return rc < 0 ? err_wrap(err, "'%s'", n->name) : 0;
}

static int begin(struct session *s, const struct node_refs *nodes, struct err *err)
{
	const char *probe = arena_printf(
		s->in.arena, PROBE, SHORT_LEN, s->in.zstd.sha256, SHORT_LEN, s->in.gzip.sha256);
	int rc = store_begin(s->in.store, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; rc == 0 && i < s->n; i++) {
		struct job *j = &s->jobs[i];
		struct err why = {0};

		*j = (struct job){.session = s, .node = nodes->at[i], .began = clock_mono()};
		buf_init(&j->said, SAID_MAX + 1);
		buf_init(&j->complaint, COMPLAINT_MAX + 1);
		rc = judge_node(s, j->node, &why);
		if (rc == 0) {
			start_command(j, probe);
		} else if (why.code == E_BUSY || why.code == E_HOSTKEY || why.code == E_SCHEMA) {
			fail_job(j, &why);
			rc = 0;
		} else {
			*err = why;
		}
		if (rc == 0 && j->step != JOB_BAD)
			rc = store_audit_add(s->in.store, s->in.opts->by, "agent install",
				j->node->name, s->in.gzip.sha256, err);
	}
	if (rc == 0)
		return store_commit(s->in.store, err);
	store_rollback(s->in.store);
	return rc;
}

static int drop_leases(struct session *s, struct err *err)
{
	int rc = store_begin(s->in.store, err);

	if (rc == 0)
		rc = store_lease_drop_run(s->in.store, s->run, err);
	if (rc == 0)
		return store_commit(s->in.store, err);
	store_rollback(s->in.store);
	return rc;
}

static void collect(const struct session *s, enum job_step step, struct node_refs *out)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->jobs[i].step == step)
			*vec_push(out) = s->jobs[i].node;
}

static int put_states(struct session *s, const struct node_refs *ready, struct err *err)
{
	int rc = store_begin(s->in.store, err);

	for (size_t i = 0; rc == 0 && i < ready->n; i++)
		rc = store_node_seen(
			s->in.store, ready->at[i]->id, NULL, NULL, NULL, "ready", "", err);
	if (rc == 0)
		return store_commit(s->in.store, err);
	store_rollback(s->in.store);
	return rc;
}

struct proof {
	const struct install_opts *opts;
	struct node_refs ready;
};

static void on_proven(void *ctx, const struct node_row *node, const struct node_result *r)
{
	struct proof *p = ctx;

	if (r->state == RESULT_OK)
		*vec_push(&p->ready) = node;
	if (p->opts->done)
		p->opts->done(p->opts->ctx, node, r);
}

/* The new agents' facts, over our own key: what they answer is the proof. */
static int prove(struct session *s, const struct node_refs *nodes, struct err *err)
{
	struct proof p = {.opts = s->in.opts};
	struct fleet_outcome facts;
	const struct fleet_opts o = {
		.mode = ORDER_FACTS,
		.nodes_text = "agent install",
		.by = s->in.opts->by,
		.ctx = &p,
		.done = on_proven,
	};
	int rc = fleet_run(s->in.store, s->in.keys, nodes, &o, &facts, err);

	if (rc == 0) {
		snprintf(s->out->id, sizeof s->out->id, "%s", facts.id);
		for (int r = 0; r < RESULT_N; r++)
			s->out->nodes.n[r] += facts.nodes.n[r];
		s->out->unreachable += facts.unreachable;
		rc = put_states(s, &p.ready, err);
	}
	vec_done(&p.ready);
	return rc;
}

/* A command that hangs, or trickles, is not waited for without end. */
static bool on_tick(void *ctx)
{
	struct session *s = ctx;
	const int64_t now = clock_mono();

	for (unsigned i = 0; i < s->n; i++) {
		const struct job *j = &s->jobs[i];
		struct err why = {0};

		if (!j->link || now - j->started <= COMMAND_TIME)
			continue;
		err_set(&why, E_TIMEOUT, "'%s' did not end a command within 15 minutes",
			j->node->name);
		err_hint(&why, "is the node overloaded, or a file system of it hung?");
		link_abort(j->link, &why);
	}
	return true;
}

static int run_links(struct session *s, const struct node_refs *nodes, const struct link_key *key,
	struct err *err)
{
	const struct link_set_opts o = {.key = key, .idle_timeout = SCRIPT_TIME, .max_open = 256};
	int rc = link_set_new(&o, &s->links, err);

	if (rc == 0)
		rc = begin(s, nodes, err);
	if (rc == 0)
		rc = link_set_run(s->links, on_tick, s, err);
	link_set_free(s->links);
	return rc;
}

static int finish(struct session *s, struct err *err)
{
	struct node_refs good = VEC_INIT, resident = VEC_INIT;
	int rc = drop_leases(s, err);

	collect(s, JOB_GOOD, &good);
	collect(s, JOB_RESIDENT, &resident);
	if (rc == 0 && resident.n > 0)
		rc = install_by_recipe(&s->in, &resident, &good, &s->out->nodes, err);
	if (rc == 0 && good.n > 0)
		rc = prove(s, &good, err);
	vec_done(&good);
	vec_done(&resident);
	return rc;
}

static int install(struct session *s, const struct node_refs *nodes, struct err *err)
{
	const struct install_opts *o = s->in.opts;
	struct link_key *identity = NULL;
	unsigned abandoned;
	int rc = fleet_recover(s->in.store, &abandoned, err);

	if (rc == 0)
		rc = run_make_id(s->run, err);
	if (rc == 0)
		rc = map_archives(&s->in, err);
	if (rc == 0 && o->identity)
		rc = link_key_load(o->identity, &identity, err);
	if (rc == 0)
		rc = run_links(s, nodes, identity ? identity : s->in.keys->ssh, err);
	if (rc == 0)
		rc = finish(s, err);
	link_key_free(identity);
	return rc;
}

int fleet_install(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct install_opts *o, struct fleet_outcome *out, struct err *err)
{
	struct session session = {
		.in = {.store = s, .keys = k, .opts = o, .arena = arena_new()},
		.out = out,
		.n = (unsigned)nodes->n,
		.jobs = xcalloc(nodes->n + 1, sizeof *session.jobs),
	};
	const int64_t began = clock_mono();
	int rc;

	*out = (struct fleet_outcome){0};
	rc = install(&session, nodes, err);
	out->took = clock_mono() - began;
	for (unsigned i = 0; i < session.n; i++) {
		buf_done(&session.jobs[i].said);
		buf_done(&session.jobs[i].complaint);
	}
	free(session.jobs);
	unmap_archive(&session.in.zstd);
	unmap_archive(&session.in.gzip);
	arena_free(session.in.arena);
	return rc;
}
