#include "controller/command/rollout_run.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "controller/command/foretell.h"
#include "controller/command/lang.h"
#include "controller/command/rollout_view.h"
#include "controller/command/session.h"
#include "controller/secret/secret.h"
#include "inventory/store/rollout.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLAGS_MAX (8u << 10)

/* --- options over the policy --- */

static const struct {
	const char *option, *before, *behind;
} FLAGS[] = {
	{"max-unavailable", "max_unavailable: ", ""},
	{"waves", "waves: [", "]"},
	{"on-failure", "on_failure: ", ""},
	{"fence", "fence: {by: ", "}"},
	{"reboot-wait", "reboot: {within: ", "}"},
};

/* A word, a number, a list of them: nothing that YAML would read as something else. */
static bool is_plain(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-%., ") == strlen(text);
}

static int read_flags(const struct invocation *inv, struct buf *out, struct err *err)
{
	for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
		const char *value = option_get(inv, FLAGS[i].option);

		if (value && !is_plain(value)) {
			err_set(err, E_SYNTAX, "--%s '%.60s' is no value of a policy",
				FLAGS[i].option, value);
			return err_hint(err, "'stoika help rollout explain' shows a policy");
		}
		if (value)
			buf_addf(out, "%s%s%s\n", FLAGS[i].before, value, FLAGS[i].behind);
	}
	return buf_ok(out) ? 0
			   : err_set(err, E_LIMIT, "options over the policy of more than %u bytes",
				     FLAGS_MAX);
}

/* What asks for another kind of run. */
int rollout_judge_options(const struct invocation *inv, struct err *err)
{
	static const char *const others[] = {"plan", "parallel", "roles"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (option_get(inv, others[i])) {
			err_set(err, E_CONFLICT, "--rollout and --%s do not go together",
				others[i]);
			return err_hint(err,
				"a rollout names its recipes, plans each node when its "
				"turn comes, and takes its width from the policy");
		}
	return 0;
}

static int read_order(const struct invocation *inv, const struct rollout_begin *b,
	struct frozen *out, struct err *err)
{
	AUTO_BUF flags = {0};
	int rc = rollout_judge_options(inv, err);

	buf_init(&flags, FLAGS_MAX);
	if (rc == 0)
		rc = read_flags(inv, &flags, err);
	*out = (struct frozen){
		.params = b->params, .recipes = b->recipes, .n_recipes = b->n_recipes};
	return rc < 0 ? rc
		      : frozen_read_policy(
				inv->arena, option_get(inv, "rollout"), buf_text(&flags), out, err);
}

/* --- driven --- */

struct driving {
	struct store *store;
	struct rollout_view *view;
	struct secrets *secrets;
};

static int on_secrets(void *ctx, const struct pack_recipe *recipes, unsigned n,
	const struct secrets **out, struct err *err)
{
	struct driving *d = ctx;
	const int rc = session_secrets(d->store, recipes, n, &d->secrets, err);

	*out = d->secrets;
	return rc;
}

static void on_began(void *ctx, const char *run)
{
	rollout_view_began(((struct driving *)ctx)->view, run);
}

static void on_moved(void *ctx, const struct node_row *node, const struct drive_move *m)
{
	rollout_view_moved(((struct driving *)ctx)->view, node, m);
}

static void on_turn(void *ctx, const struct drive *d)
{
	(void)d;
	rollout_view_turn(((struct driving *)ctx)->view);
}

static int drive(const struct invocation *inv, struct store *s, const struct keys *k,
	const struct rollout_opts *order, struct err *err)
{
	struct rollout_opts opts = *order, *o = &opts;
	struct report_opts look;
	struct driving d = {.store = s};
	struct rollout_outcome out;
	int code = lang_opts(inv, &look, err);

	if (code < 0)
		return code;
	d.view = rollout_view_new(s, &look);
	o->by = session_user(inv);
	o->kex = option_get(inv, "kex");
	o->ctx = &d;
	o->secrets = on_secrets;
	o->began = on_began;
	o->moved = on_moved;
	o->turn = on_turn;
	code = rollout_drive(s, k, o, &out, err);
	if (code == 0)
		code = rollout_view_finish(d.view, &out, err);
	rollout_view_free(d.view);
	secrets_close(d.secrets);
	return code;
}

/* --- begun --- */

static void ask(const struct rollout_begin *b, const struct rollout_policy *p, enum text_lang lang)
{
	AUTO_BUF text = {0}, nodes = {0}, safe = {0};

	buf_init(&text, 4096);
	buf_init(&nodes, 64);
	buf_init(&safe, 16384);
	text_add_count(&nodes, lang, COUNT_ON_NODES, b->nodes->n);
	TEXT_FILL(&text, lang, TEXT_GO_ASK_ROLLOUT, b->recipes_text, buf_text(&nodes), p->name);
	session_add_lines(&safe, buf_str(&text));
	fprintf(stderr, "%s ", buf_text(&safe));
}

/* Only a person can be asked; a script says --yes. English is understood in every language. */
static int confirm(const struct invocation *inv, const struct rollout_begin *b,
	const struct rollout_policy *p, struct err *err)
{
	struct report_opts o;
	char line[16] = "";
	int rc = lang_opts(inv, &o, err);

	if (rc < 0 || option_get(inv, "yes"))
		return rc;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		err_set(err, E_STATE, "a rollout asks before it begins with %zu node%s",
			b->nodes->n, b->nodes->n == 1 ? "" : "s");
		return err_hint(
			err, "say --yes where nobody can be asked; --explain only foretells it");
	}
	ask(b, p, o.lang);
	if (fgets(line, sizeof line, stdin)) {
		const struct str said = str_trim(str_of(line));

		if (str_is(said, "yes") || str_is(said, text_get(o.lang, TEXT_GO_YES)))
			return 0;
	}
	return err_set(err, E_CANCELLED, "nothing was begun");
}

static int explain(const struct invocation *inv, const struct rollout_begin *b,
	const struct rollout_policy *policy, struct err *err)
{
	const struct foretell ask = {.policy = policy,
		.nodes = b->nodes,
		.basis = BASIS_MEASURED,
		.takes = FORETELL_TAKES * 60 * CLOCK_SEC};

	return foretell(inv, b->store, &ask, err);
}

int rollout_begin(const struct invocation *inv, const struct rollout_begin *b, struct err *err)
{
	struct frozen order;
	struct rollout_opts o = {.order = &order, .nodes = b->nodes, .nodes_text = b->nodes_text};
	int rc = read_order(inv, b, &order, err);

	if (rc == 0 && option_get(inv, "explain"))
		return explain(inv, b, &order.policy, err);
	if (rc == 0)
		rc = confirm(inv, b, &order.policy, err);
	return rc < 0 ? rc : drive(inv, b->store, b->keys, &o, err);
}

/* --- gone on with --- */

/* It has a driver: that one is asked. */
static int ask_driver(
	const struct invocation *inv, struct store *s, const char *run, struct err *err)
{
	int rc = store_begin(s, err);

	if (rc < 0)
		return rc;
	rc = store_rollout_ask(s, run, "resume", session_user(inv), err);
	if (rc < 0) {
		store_rollback(s);
		return rc;
	}
	rc = store_commit(s, err);
	if (rc == 0 && !inv->json)
		printf("its driver was asked to go on: stoika run watch %s\n", run);
	return rc;
}

/* What broke off by itself goes on by a person's word only; who is under way comes home. */
static int judge_broken(
	const struct invocation *inv, struct store *s, const char *run, struct err *err)
{
	struct rollout_row row;
	bool under_way = false;
	int rc = store_rollout_get(s, inv->arena, run, &row, err);

	if (rc == 0)
		rc = rollout_is_under_way(s, inv->arena, run, &under_way, err);
	if (rc < 0 || !row.paused || under_way || option_get(inv, "forgive") ||
		strncmp(row.reason, ROLLOUT_PAUSED_BY, strlen(ROLLOUT_PAUSED_BY)) == 0)
		return rc;
	err_set(err, E_STATE, "rollout %s broke off: %s", run, row.reason);
	return err_hint(err, "look at it: stoika run show %s; then: stoika run resume %s --forgive",
		run, run);
}

int rollout_resume(const struct invocation *inv, struct store *s, const struct keys *k,
	const char *run, struct err *err)
{
	struct rollout_opts o = {.run = run, .forgive = option_get(inv, "forgive") != NULL};
	int code = judge_broken(inv, s, run, err);

	if (code == 0)
		code = drive(inv, s, k, &o, err);
	return code == -E_BUSY ? ask_driver(inv, s, run, err) : code;
}
