/* audit - is the site's power, cooling and space right, what fits, what changed. */
#include "agent/base/clock.h"
#include "controller/command/audit_answer.h"
#include "controller/command/lang.h"
#include "controller/command/past.h"
#include "controller/command/table.h"
#include "inventory/audit/reach.h"
#include "inventory/catalog/catalog.h"
#include "inventory/report/audit_report.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX      ((size_t)256 << 20)
#define FIX_SITE_MAX  100 /* racks; in a larger site a rack that is named is mended by itself */
#define FIX_RACKS_MAX 10  /* worst first; a rack that is named always gets its fixes */

/* --- the site --- */

static int read_basis(const struct invocation *inv, struct audit_opts *o, struct err *err)
{
	const char *word = option_get(inv, "basis");
	const int basis = word ? model_word(MODEL_BASES, word) : BASIS_MAX;

	if (basis < 0) {
		err_set(err, E_SYNTAX, "there is no basis '%s'", word);
		return err_hint(err, "nameplate, max, capped or measured");
	}
	o->basis = (enum power_basis)basis;
	return 0;
}

static int read_site(const struct invocation *inv, struct model **out, struct err *err)
{
	const char *file = option_get(inv, "file");
	struct store *s = NULL;
	int rc;

	if (file)
		return past_read_file(inv, file, out, err);
	rc = session_open(inv, STORE_READ, &s, err);
	if (rc == 0)
		rc = store_load_model(s, option_get(inv, "site"), out, err);
	store_close(s);
	return rc;
}

/* --- what is asked --- */

struct asking {
	struct audit_opts opts;
	size_t racks[ARG_MAX_N];
	struct audit_subject lose[AUDIT_LOSE_MAX];
};

static int find_rack(const struct model *m, const char *name, size_t *out, struct err *err)
{
	*out = model_find_rack(m, name);
	if (*out != MODEL_NONE)
		return 0;
	err_set(err, E_NOTFOUND, "there is no rack '%s'", name);
	return err_hint(err, "'stoika list racks' has their names");
}

static int read_asking(
	const struct invocation *inv, const struct model *m, struct asking *q, struct err *err)
{
	const unsigned lost = option_count(inv, "lose");
	int rc;

	*q = (struct asking){.opts = {.policy = option_get(inv, "policy")}};
	rc = read_basis(inv, &q->opts, err);
	for (unsigned i = 0; i < inv->n_args && rc == 0; i++)
		rc = find_rack(m, inv->args[i], &q->racks[i], err);
	if (rc == 0 && lost > AUDIT_LOSE_MAX)
		rc = err_set(err, E_LIMIT, "at most %d things are lost at once", AUDIT_LOSE_MAX);
	for (unsigned i = 0; i < lost && rc == 0; i++)
		rc = audit_find(m, option_at(inv, "lose", i), &q->lose[i], err);
	q->opts.racks = q->racks;
	q->opts.n_racks = inv->n_args;
	q->opts.lose = q->lose;
	q->opts.n_lose = lost;
	return rc;
}

/* --- some racks of a large site --- */

/* What an audit of some racks goes by, while the store looks which parts of the site it needs. */
struct judging {
	const struct invocation *inv;
	enum power_basis basis;
	bool tight; /* a fix that helps a rack may be too much for a panel or UPS */
};

static bool may_trip(void *ctx, const struct model *m, const struct reach *r)
{
	struct judging *j = ctx;
	struct policy p;

	if (policy_make(m, option_get(j->inv, "policy"), &p, NULL) < 0)
		return true;
	j->tight = j->tight || !reach_fits(m, &p, r, j->basis);
	return reach_trips(m, &p, r, j->basis);
}

/* Whether each of the racks passes, so that nobody needs a fix. */
static bool all_pass(const struct invocation *inv, const struct model *m)
{
	struct audit a = {0};
	struct asking q;
	bool pass;

	if (read_asking(inv, m, &q, NULL) < 0)
		return false;
	q.opts.racks_only = true;
	pass = audit_run(m, &q.opts, &a, NULL) == 0 && a.count[AUDIT_PASS] == a.racks.n;
	audit_done(&a);
	return pass;
}

/* The racks named, without the rest of the site; *out NULL when all of it is needed. */
static int read_racks(const struct invocation *inv, struct model **out, struct err *err)
{
	struct judging j = {.inv = inv};
	struct store_part_asked asked = {.site = option_get(inv, "site"),
		.racks = inv->args,
		.n = inv->n_args,
		.trips = may_trip,
		.ctx = &j};
	struct audit_opts o = {.basis = BASIS_MAX};
	struct store *s = NULL;
	int rc = read_basis(inv, &o, err);

	*out = NULL;
	asked.basis = j.basis = o.basis;
	if (rc == 0)
		rc = session_open(inv, STORE_READ, &s, err);
	if (rc == 0)
		rc = store_load_part(s, &asked, out, err);
	store_close(s);
	if (rc < 0 || !*out || option_get(inv, "no-fixes"))
		return rc;
	/* fixes move boxes to other racks where the site is small enough to try */
	if ((j.tight || asked.site_racks <= FIX_SITE_MAX) && !all_pass(inv, *out)) {
		model_free(*out);
		*out = NULL;
	}
	return rc;
}

/* Losses that are asked for, places and orders are of the whole site. */
static bool is_of_racks(const struct invocation *inv)
{
	static const char *const whole[] = {"file", "lose", "fit", "restart"};

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (option_count(inv, whole[i]))
			return false;
	return inv->n_args > 0;
}

/* --- fixes --- */

static int by_verdict(const void *a, const void *b)
{
	const struct audit_rack *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	return (x->rack > y->rack) - (x->rack < y->rack);
}

static int find_fixes(const struct invocation *inv, const struct audit *a,
	const struct audit_opts *o, struct audit_fixes *out, struct err *err)
{
	struct vec(struct audit_rack) racks = VEC_INIT;
	int rc = 0;

	if (option_get(inv, "no-fixes") || o->n_lose)
		return 0;
	vec_each(&a->racks, const struct audit_rack, r)
		*vec_push(&racks) = *r;
	vec_sort(&racks, by_verdict);
	for (size_t i = 0; i < racks.n && rc == 0; i++) {
		const bool bad = i < FIX_RACKS_MAX && racks.at[i].verdict == AUDIT_FAIL;

		if (o->n_racks || bad)
			rc = fix_find(inv->arena, a, o, racks.at[i].rack, out, err);
	}
	vec_done(&racks);
	return rc;
}

/* --- answers --- */

static int write_files(const struct invocation *inv, const struct audit_report *r,
	const struct report_opts *o, struct err *err)
{
	static const struct {
		const char *option;
		enum report_kind kind;
	} kinds[] = {{"html", REPORT_HTML}, {"md", REPORT_MD}, {"xlsx", REPORT_XLSX}};
	int rc = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && rc == 0; i++) {
		const char *path = option_get(inv, kinds[i].option);

		if (path)
			rc = report_audit_write(kinds[i].kind, r, o->lang, path, err);
	}
	return rc;
}

static bool to_files_only(const struct invocation *inv)
{
	return !inv->json &&
	       (option_get(inv, "html") || option_get(inv, "md") || option_get(inv, "xlsx"));
}

static int answer_audit(const struct invocation *inv, const struct model *m, const struct asking *q,
	bool *failed, struct err *err)
{
	struct audit_fixes fixes = VEC_INIT;
	struct report_opts o;
	struct audit a = {0};
	char when[24];
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, TEXT_MAX);
	rc = lang_opts(inv, &o, err);
	if (rc == 0)
		rc = audit_run(m, &q->opts, &a, err);
	if (rc == 0)
		rc = find_fixes(inv, &a, &q->opts, &fixes, err);
	if (rc == 0) {
		struct audit_report r = {
			.audit = &a, .fixes = fixes.at, .n_fixes = fixes.n, .when = when};

		clock_format(clock_wall(), when);
		*failed = a.verdict == AUDIT_FAIL;
		rc = write_files(inv, &r, &o, err);
		if (rc == 0 && !to_files_only(inv)) {
			report_audit(&r, &o, &text);
			session_print(&text);
		}
	}
	vec_done(&fixes);
	audit_done(&a);
	return rc;
}

/* The site's type, or the catalogue's, which is added to the site in memory. */
static int find_type(struct model *m, const char *name, size_t *type, struct err *err)
{
	struct catalog_notes notes = VEC_INIT;
	struct device_type found;
	struct catalog *c = NULL;
	int rc;

	*type = model_find_type(m, name);
	if (*type != MODEL_NONE)
		return 0;
	rc = catalog_load(NULL, &c, NULL, err);
	if (rc == 0)
		rc = catalog_device_type(c, name, m->arena, &found, &notes, err);
	if (rc == 0) {
		*type = m->types.n;
		*vec_push(&m->types) = found;
	} else {
		err_set(err, E_NOTFOUND, "neither the site nor the catalogue has a type '%s'",
			name);
		err_hint(err, "'stoika catalog list servers' has the catalogue's");
	}
	vec_done(&notes);
	catalog_free(c);
	return rc < 0 ? -E_NOTFOUND : 0;
}

static int answer_fit(const struct invocation *inv, struct model *m, const struct asking *q,
	bool *failed, struct err *err)
{
	const char *number = option_get(inv, "count");
	uint64_t count = 0;
	struct fit f = {0};
	struct report_opts o;
	AUTO_BUF text = {0};
	size_t type;
	int rc = lang_opts(inv, &o, err);

	buf_init(&text, TEXT_MAX);
	if (rc < 0)
		return rc;
	if (number && (!str_to_u64(str_of(number), &count) || count == 0 || count > 100000))
		return err_set(err, E_SYNTAX, "--count is a number of devices, not '%s'", number);
	rc = find_type(m, option_get(inv, "fit"), &type, err);
	if (rc == 0)
		rc = fit_find(m, &q->opts, type, (unsigned)count, &f, err);
	if (rc == 0) {
		answer_print_fit(&f, &o, &text);
		session_print(&text);
		*failed = count ? f.total < count : f.total == 0;
	}
	fit_done(&f);
	return rc;
}

static int answer_restart(const struct invocation *inv, const struct model *m,
	const struct asking *q, struct err *err)
{
	struct restart_plan plan = {.batches = 0};
	struct audit a = {0};
	struct report_opts o;
	AUTO_BUF text = {0};
	int rc = lang_opts(inv, &o, err);

	buf_init(&text, TEXT_MAX);
	if (rc == 0)
		rc = audit_run(m, &q->opts, &a, err);
	if (rc == 0) {
		restart_make(&a, &plan);
		answer_print_restart(m, &plan, &o, &text);
		session_print(&text);
	}
	restart_done(&plan);
	audit_done(&a);
	return rc;
}

/* What is asked of a model that is there. */
static int answer(
	const struct invocation *inv, struct model *m, bool part, bool *failed, struct err *err)
{
	struct asking q;
	int rc = read_asking(inv, m, &q, err);

	q.opts.racks_only = part;
	if (rc == 0 && option_get(inv, "count") && !option_get(inv, "fit"))
		rc = err_set(err, E_SYNTAX, "--count goes with --fit TYPE");
	if (rc == 0 && option_get(inv, "restart"))
		rc = answer_restart(inv, m, &q, err);
	else if (rc == 0 && option_get(inv, "fit"))
		rc = answer_fit(inv, m, &q, failed, err);
	else if (rc == 0)
		rc = answer_audit(inv, m, &q, failed, err);
	return rc;
}

static int run_audit(struct invocation *inv)
{
	struct model *m = NULL;
	struct err err;
	bool failed = false, part;
	int rc = is_of_racks(inv) ? read_racks(inv, &m, &err) : 0;

	part = m != NULL;
	if (rc == 0 && !part)
		rc = read_site(inv, &m, &err);
	if (rc == 0)
		rc = answer(inv, m, part, &failed, &err);
	model_free(m);
	if (rc < 0)
		return command_fail(inv, &err);
	return failed ? EXIT_SOME : EXIT_OK;
}

static int run_diff(struct invocation *inv)
{
	struct model *m[2] = {NULL, NULL};
	struct audit a[2] = {{0}, {0}};
	struct audit_opts o = {.policy = option_get(inv, "policy")};
	struct report_opts look;
	struct audit_diff d = {0};
	AUTO_BUF text = {0};
	struct err err;
	int rc;

	buf_init(&text, TEXT_MAX);
	rc = read_basis(inv, &o, &err);
	if (rc == 0)
		rc = lang_opts(inv, &look, &err);
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = past_load_named(inv, inv->args[i], option_get(inv, "site"), &m[i], &err);
		if (rc == 0)
			rc = audit_run(m[i], &o, &a[i], &err);
	}
	if (rc == 0) {
		diff_make(&a[0], &a[1], &d);
		answer_print_diff(&d, &look, &text);
		session_print(&text);
	}
	diff_done(&d);
	for (int i = 0; i < 2; i++) {
		audit_done(&a[i]);
		model_free(m[i]);
	}
	if (rc < 0)
		return command_fail(inv, &err);
	return d.after == AUDIT_FAIL ? EXIT_SOME : EXIT_OK;
}

#define POLICY_OPTION                                                                         \
	{                                                                                     \
		"policy", 'p', "P",                                                           \
			"strict80, iec100, or the site's own; the site's if not given", false \
	}
#define BASIS_OPTION                                                                             \
	{                                                                                        \
		"basis", 'b', "B", "nameplate, max, capped or measured; max if not given", false \
	}

static const struct option AUDIT_OPTIONS[] = {
	POLICY_OPTION,
	BASIS_OPTION,
	{"lose", 'l', "X",
		"lose this feed, PDU, PDU/BANK, panel, UPS or cooling unit (feed:X, PDU:X "
		"where both have the name); again: at once",
		true},
	{"fit", 0, "TYPE", "how many more devices of this type fit, and what stops the next one",
		false},
	{"count", 'n', "N", "with --fit: N are wanted", false},
	{"restart", 0, NULL, "in which order and how many at once to switch on after a blackout",
		false},
	{"site", 's', "SITE", "of several in the database", false},
	{"file", 'f', "FILE", "a site file instead of the database", false},
	{"no-fixes", 0, NULL, "do not look for fixes", false},
	{"html", 0, "FILE", "write a page with the racks drawn", false},
	{"md", 0, "FILE", "write Markdown", false},
	{"xlsx", 0, "FILE", "write a spreadsheet", false},
	LANG_OPTION,
	{0},
};

const struct command COMMAND_AUDIT = {
	.name = "audit",
	.args = "[RACK...]",
	.max_args = ARG_MAX_N,
	.summary = "power, cooling and space of racks, now and after each single loss",
	.about =
		"Each rack's verdict with the rule that decides, every finding with its arithmetic, and\n"
		"fixes that were audited before they are offered. Status 1 when something fails.\n",
	.options = AUDIT_OPTIONS,
	.run = run_audit,
};

static const struct option DIFF_OPTIONS[] = {
	POLICY_OPTION,
	BASIS_OPTION,
	{"site", 's', "SITE", "of several in the database", false},
	LANG_OPTION,
	{0},
};

const struct command COMMAND_AUDIT_DIFF = {
	.name = "audit diff",
	.args = "DATE|FILE DATE|FILE",
	.min_args = 2,
	.max_args = 2,
	.summary = "what changed between the audits of two days or site files",
	.about =
		"A date is the site as it was imported last until then: 2026-11-01 (its end),\n"
		"2026-11-01T10:00 (local time; Z or +03:00 behind it), yesterday, now. 'stoika list\n"
		"versions' has the imports. Racks and findings are matched by name; what passes in both\n"
		"and did not move is left out.\n",
	.options = DIFF_OPTIONS,
	.run = run_diff,
};
