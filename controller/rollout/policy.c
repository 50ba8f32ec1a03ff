/* policy - readings of a policy: values, waves, the window; fences are policy_fence.c. */
#include "controller/rollout/policy.h"

#include "agent/base/buf.h"
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/yaml.h"
#include "controller/rollout/policy_priv.h"

#include <stdio.h>
#include <string.h>

#define MINUTE        INT64_C(60)
#define DAY           (24 * 60 * MINUTE)
#define HOUR          (60 * MINUTE * CLOCK_SEC)
#define DAY_MINUTES   (24 * 60)
#define SPAN_MAX_DAYS 30
#define NODES_MAX     1000000

const char *const ROLLOUT_ORDERS[] = {"name", "rack", "random", NULL};
const char *const ROLLOUT_FAILURES[] = {"rollback", "quarantine", "stop", NULL};
const char *const ROLLOUT_DAYS[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

static const char *const KEYS[] = {"rollout", "canary", "waves", "soak", "max_unavailable",
	"budgets", "unit", "pair", "failures", "window", "order", "seed", "retry", "on_failure",
	"fence", "reboot", "timeouts", NULL};

void rollout_policy_preset(struct rollout_policy *p)
{
	*p = (struct rollout_policy){.name = "preset",
		.class_by = {"type", "os"},
		.n_class_by = 2,
		.canaries = 1,
		.waves = {{1, false}, {5, true}, {25, true}, {100, true}},
		.n_waves = 4,
		.max_unavailable = {10, true},
		.budgets = {{"rack", {1, false}}},
		.n_budgets = 1,
		.failures = {5, true},
		.same_failure = 2,
		.retry = 1,
		.fence = {.by = FENCE_NONE,
			.jobs = FENCE_WAIT,
			.deadline = 8 * HOUR,
			.grace = 2 * MINUTE * CLOCK_SEC},
		.reboot_within = 15 * MINUTE * CLOCK_SEC,
		.timeouts = {[TIMEOUT_PREFLIGHT] = 5 * MINUTE * CLOCK_SEC,
			[TIMEOUT_STAGE] = 30 * MINUTE * CLOCK_SEC,
			[TIMEOUT_FENCE] = 5 * MINUTE * CLOCK_SEC,
			[TIMEOUT_APPLY] = HOUR,
			[TIMEOUT_SERVICES] = 10 * MINUTE * CLOCK_SEC,
			[TIMEOUT_VERIFY] = 15 * MINUTE * CLOCK_SEC,
			[TIMEOUT_ROLLBACK] = HOUR}};
}

unsigned amount_of(struct amount m, unsigned all)
{
	const unsigned n = m.percent ? (unsigned)((uint64_t)all * m.n / 100) : m.n;

	return n > 0 || m.n == 0 ? n : 1;
}

unsigned amount_up(struct amount m, unsigned all)
{
	const unsigned n = m.percent ? (unsigned)(((uint64_t)all * m.n + 99) / 100) : m.n;

	return n < all ? n : all;
}

/* --- readings --- */

static int read_amount(const struct reader *r, const struct yaml_node *n, const char *what,
	struct amount *out, struct err *err)
{
	struct str text;
	uint64_t v;
	int rc = yaml_want_text(r->doc, n, what, &text, err);

	if (rc < 0)
		return rc;
	out->percent = str_ends(text, "%");
	if (out->percent)
		text = str_first(text, text.n - 1);
	if (str_to_u64(text, &v) && v <= (out->percent ? 100 : NODES_MAX)) {
		out->n = (unsigned)v;
		return 0;
	}
	yaml_err(r->doc, n, err, E_SCHEMA, "%s must be a number of nodes or a share of them", what);
	return err_hint(err, "such as 2 or 10%%");
}

int policy_read_span(const struct reader *r, const struct yaml_node *n, const char *what,
	int64_t *out, struct err *err)
{
	static const struct {
		char unit;
		int64_t seconds;
	} UNITS[] = {{'s', 1}, {'m', MINUTE}, {'h', 60 * MINUTE}, {'d', DAY}};
	struct str text;
	uint64_t v;
	int rc = yaml_want_text(r->doc, n, what, &text, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0] && text.n > 1; i++) {
		if (text.p[text.n - 1] != UNITS[i].unit ||
			!str_to_u64(str_first(text, text.n - 1), &v) || v > 1000000 ||
			(int64_t)v * UNITS[i].seconds > (int64_t)SPAN_MAX_DAYS * DAY)
			continue;
		*out = (int64_t)v * UNITS[i].seconds * CLOCK_SEC;
		return 0;
	}
	yaml_err(r->doc, n, err, E_SCHEMA, "%s must be a time of at most %d days", what,
		SPAN_MAX_DAYS);
	return err_hint(err, "such as 90s, 10m, 1h or 1d");
}

/* What could stand there instead: the one that was meant, or all. */
static int hint_words(struct str text, const char *const *words, struct err *err)
{
	const char *near = err_nearest(text.p, words);
	AUTO_BUF all = {0};

	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	buf_init(&all, 400);
	for (unsigned i = 0; words[i]; i++)
		buf_addf(&all, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
	return err_hint(err, "%s", buf_text(&all));
}

int policy_read_word(const struct reader *r, const struct yaml_node *n, const char *what,
	const char *const *words, unsigned *out, struct err *err)
{
	struct str text;
	int rc = yaml_want_text(r->doc, n, what, &text, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; words[i]; i++) {
		if (str_is(text, words[i])) {
			*out = i;
			return 0;
		}
	}
	yaml_err(r->doc, n, err, E_SCHEMA, "%s cannot be '" STR_FMT "'", what,
		STR_ARG(str_first(text, 40)));

	return hint_words(text, words, err);
}

/* The name of a domain: rack, feed, leaf, partition, or a variable of the nodes. */
static int read_domain(const struct reader *r, const struct yaml_node *n, const char *what,
	const char **out, struct err *err)
{
	struct str text;
	int rc = yaml_want_text(r->doc, n, what, &text, err);

	if (rc < 0)
		return rc;
	if (!str_is_name(text)) {
		yaml_err(r->doc, n, err, E_SCHEMA, "%s must be the name of a domain", what);
		return err_hint(err, "rack, feed, leaf, partition, type, os, or a variable's name");
	}
	*out = arena_text(r->arena, text);
	return 0;
}

static int read_classes(const struct reader *r, const struct yaml_node *list, struct err *err)
{
	int rc = yaml_want_list(r->doc, list, "'by'", err);

	if (rc < 0)
		return rc;
	if (list->n > ROLLOUT_CLASS_MAX || list->n == 0) {
		yaml_err(r->doc, list, err, E_SCHEMA, "'by' takes one to %d domains",
			ROLLOUT_CLASS_MAX);
		return err_hint(err, "such as [type, os]");
	}
	r->out->n_class_by = list->n;
	for (unsigned i = 0; i < list->n && rc == 0; i++)
		rc = read_domain(r, list->item[i], "'by'", &r->out->class_by[i], err);
	return rc;
}

static int read_canary(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	static const char *const CANARY_KEYS[] = {"by", "count", NULL};
	const struct yaml_node *by, *count;
	int64_t v = 1;
	int rc = yaml_want_map(r->doc, map, "'canary'", err);

	if (rc == 0)
		rc = yaml_known_keys(r->doc, map, CANARY_KEYS, err);
	if (rc == 0 && (by = yaml_get(map, "by")))
		rc = read_classes(r, by, err);
	if (rc == 0 && (count = yaml_get(map, "count")))
		rc = yaml_want_int(r->doc, count, "'count'", 0, 100, &v, err);
	r->out->canaries = (unsigned)v;
	return rc;
}

/* A wave must reach further than the one before it; the last one reaches all. */
static int judge_waves(const struct reader *r, const struct yaml_node *list, struct err *err)
{
	const struct amount *w = r->out->waves;

	for (unsigned i = 1; i < list->n; i++) {
		if (w[i].percent == w[i - 1].percent && w[i].n <= w[i - 1].n) {
			yaml_err(r->doc, list->item[i], err, E_CONFLICT,
				"this wave reaches no further than the one before it");
			return err_hint(err, "waves say how many have gone when each ends");
		}
	}
	if (!w[list->n - 1].percent || w[list->n - 1].n != 100) {
		yaml_err(r->doc, list->item[list->n - 1], err, E_SCHEMA,
			"the last wave must be 100%%");
		return err_hint(err, "give fewer nodes to 'apply' if not all are meant");
	}
	return 0;
}

static int read_waves(const struct reader *r, const struct yaml_node *list, struct err *err)
{
	int rc = yaml_want_list(r->doc, list, "'waves'", err);

	if (rc < 0)
		return rc;
	if (list->n == 0 || list->n > ROLLOUT_WAVES_MAX)
		return yaml_err(r->doc, list, err, E_SCHEMA, "'waves' takes one to %d waves",
			ROLLOUT_WAVES_MAX);
	r->out->n_waves = list->n;
	for (unsigned i = 0; i < list->n; i++) {
		rc = read_amount(r, list->item[i], "a wave", &r->out->waves[i], err);
		if (rc == 0 && r->out->waves[i].n == 0)
			rc = yaml_err(r->doc, list->item[i], err, E_SCHEMA, "a wave of nobody");
		if (rc < 0)
			return rc;
	}
	return judge_waves(r, list, err);
}

static int read_soak(const struct reader *r, const struct yaml_node *n, struct err *err)
{
	static const char *const SOAK_KEYS[] = {"canary", "wave", "node", NULL};
	const struct yaml_node *v;
	int rc;

	if (n->kind == YAML_SCALAR) {
		rc = policy_read_span(r, n, "'soak'", &r->out->soak_wave, err);
		r->out->soak_canary = r->out->soak_wave;
		return rc;
	}
	rc = yaml_want_map(r->doc, n, "'soak'", err);
	if (rc == 0)
		rc = yaml_known_keys(r->doc, n, SOAK_KEYS, err);
	if (rc == 0 && (v = yaml_get(n, "canary")))
		rc = policy_read_span(r, v, "'canary'", &r->out->soak_canary, err);
	if (rc == 0 && (v = yaml_get(n, "wave")))
		rc = policy_read_span(r, v, "'wave'", &r->out->soak_wave, err);
	if (rc == 0 && (v = yaml_get(n, "node")))
		rc = policy_read_span(r, v, "'node'", &r->out->soak_node, err);
	return rc;
}

static int read_budgets(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	int rc = yaml_want_map(r->doc, map, "'budgets'", err);

	if (rc < 0)
		return rc;
	if (map->n > ROLLOUT_BUDGETS_MAX)
		return yaml_err(
			r->doc, map, err, E_LIMIT, "more than %d budgets", ROLLOUT_BUDGETS_MAX);
	r->out->n_budgets = map->n;
	for (unsigned i = 0; i < map->n; i++) {
		struct rollout_budget *b = &r->out->budgets[i];

		rc = read_domain(r, map->key[i], "a budget", &b->domain, err);
		if (rc == 0)
			rc = read_amount(r, map->item[i], "a budget", &b->most, err);
		if (rc == 0 && b->most.n == 0) {
			yaml_err(r->doc, map->item[i], err, E_SCHEMA,
				"a budget of nobody would hold the rollout for ever");
			rc = err_hint(err, "leave it out, or allow 1");
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_failures(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	static const char *const FAILURE_KEYS[] = {"most", "same", NULL};
	const struct yaml_node *v;
	int64_t same = r->out->same_failure;
	int rc = yaml_want_map(r->doc, map, "'failures'", err);

	if (rc == 0)
		rc = yaml_known_keys(r->doc, map, FAILURE_KEYS, err);
	if (rc == 0 && (v = yaml_get(map, "most")))
		rc = read_amount(r, v, "'most'", &r->out->failures, err);
	if (rc == 0 && (v = yaml_get(map, "same")))
		rc = yaml_want_int(r->doc, v, "'same'", 0, 1000, &same, err);
	r->out->same_failure = (unsigned)same;
	return rc;
}

/* "HH:MM" in minutes; -1 when it is none. */
static int clock_minutes(struct str text)
{
	uint64_t h, m;

	if (text.n != 5 || text.p[2] != ':' || !str_to_u64(str_first(text, 2), &h) ||
		!str_to_u64(str_from(text, 3), &m) || h > 23 || m > 59)
		return -1;
	return (int)(h * 60 + m);
}

static int read_clock(const struct reader *r, const struct yaml_node *map, const char *key,
	unsigned *out, struct err *err)
{
	const struct yaml_node *n = yaml_get(map, key);
	struct str text = {"", 0};
	int rc = n ? yaml_want_text(r->doc, n, key, &text, err) : 0;
	const int minutes = clock_minutes(text);

	if (rc < 0)
		return rc;
	if (minutes >= 0) {
		*out = (unsigned)minutes;
		return 0;
	}
	yaml_err(r->doc, n ? n : map, err, E_SCHEMA, "the window needs '%s' as a time of day", key);
	return err_hint(err, "write %s: \"22:00\"", key);
}

static int read_utc(const struct reader *r, const struct yaml_node *n, struct err *err)
{
	struct str text;
	int minutes;
	int rc = yaml_want_text(r->doc, n, "'utc'", &text, err);

	if (rc < 0)
		return rc;
	minutes = text.n == 6 ? clock_minutes(str_from(text, 1)) : -1;
	if (minutes >= 0 && minutes <= 14 * 60 && (text.p[0] == '+' || text.p[0] == '-')) {
		r->out->utc_minutes = text.p[0] == '-' ? -minutes : minutes;
		return 0;
	}
	yaml_err(r->doc, n, err, E_SCHEMA, "'utc' must be a difference to UTC");
	return err_hint(err, "write utc: \"+03:00\"");
}

static int read_days(const struct reader *r, const struct yaml_node *list, struct err *err)
{
	int rc = yaml_want_list(r->doc, list, "'days'", err);

	r->out->window_days = 0;
	for (unsigned i = 0; rc == 0 && i < list->n; i++) {
		unsigned day = 0;

		rc = policy_read_word(r, list->item[i], "a day", ROLLOUT_DAYS, &day, err);
		r->out->window_days |= 1u << day;
	}
	if (rc == 0 && r->out->window_days == 0)
		rc = yaml_err(r->doc, list, err, E_SCHEMA, "a window of no day never opens");
	return rc;
}

static int read_window(const struct reader *r, const struct yaml_node *map, struct err *err)
{
	static const char *const WINDOW_KEYS[] = {"days", "from", "to", "utc", NULL};
	const struct yaml_node *v;
	int rc = yaml_want_map(r->doc, map, "'window'", err);

	r->out->window_days = 0x7F;
	if (rc == 0)
		rc = yaml_known_keys(r->doc, map, WINDOW_KEYS, err);
	if (rc == 0 && (v = yaml_get(map, "days")))
		rc = read_days(r, v, err);
	if (rc == 0)
		rc = read_clock(r, map, "from", &r->out->window_from, err);
	if (rc == 0)
		rc = read_clock(r, map, "to", &r->out->window_to, err);
	if (rc == 0 && (v = yaml_get(map, "utc")))
		rc = read_utc(r, v, err);
	if (rc == 0 && r->out->window_from == r->out->window_to) {
		yaml_err(r->doc, map, err, E_SCHEMA, "the window opens and closes at once");
		rc = err_hint(err, "leave the window out if any time will do");
	}
	return rc;
}

/* --- the whole --- */

static int read_scalars(const struct reader *r, const struct yaml_node *root, struct err *err)
{
	struct rollout_policy *p = r->out;
	unsigned order = p->order, failure = p->on_failure;
	int64_t seed = (int64_t)p->seed, retry = p->retry;
	const struct yaml_node *v;
	int rc = 0;

	if ((v = yaml_get(root, "rollout")))
		rc = read_domain(r, v, "'rollout'", &p->name, err);
	if (rc == 0 && (v = yaml_get(root, "max_unavailable")))
		rc = read_amount(r, v, "'max_unavailable'", &p->max_unavailable, err);
	if (rc == 0 && v && p->max_unavailable.n == 0)
		rc = yaml_err(r->doc, v, err, E_SCHEMA, "nobody could ever go");
	if (rc == 0 && (v = yaml_get(root, "unit")))
		rc = read_domain(r, v, "'unit'", &p->unit, err);
	if (rc == 0 && (v = yaml_get(root, "pair")))
		rc = read_domain(r, v, "'pair'", &p->pair, err);
	if (rc == 0 && (v = yaml_get(root, "order")))
		rc = policy_read_word(r, v, "'order'", ROLLOUT_ORDERS, &order, err);
	if (rc == 0 && (v = yaml_get(root, "on_failure")))
		rc = policy_read_word(r, v, "'on_failure'", ROLLOUT_FAILURES, &failure, err);
	if (rc == 0 && (v = yaml_get(root, "seed")))
		rc = yaml_want_int(r->doc, v, "'seed'", 0, INT64_MAX, &seed, err);
	if (rc == 0 && (v = yaml_get(root, "retry")))
		rc = yaml_want_int(r->doc, v, "'retry'", 0, 10, &retry, err);
	p->order = (enum rollout_order)order;
	p->on_failure = (enum rollout_failure)failure;
	p->seed = (uint64_t)seed;
	p->retry = (unsigned)retry;
	return rc;
}

static int read_parts(const struct reader *r, const struct yaml_node *root, struct err *err)
{
	static const struct {
		const char *key;
		int (*read)(const struct reader *, const struct yaml_node *, struct err *);
	} PARTS[] = {{"canary", read_canary}, {"waves", read_waves}, {"soak", read_soak},
		{"budgets", read_budgets}, {"failures", read_failures}, {"window", read_window},
		{"fence", policy_read_fence}, {"reboot", policy_read_reboot},
		{"timeouts", policy_read_timeouts}};

	for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
		const struct yaml_node *n = yaml_get(root, PARTS[i].key);
		const int rc = n ? PARTS[i].read(r, n, err) : 0;

		if (rc < 0)
			return rc;
	}
	return policy_judge_fence(r, root, err);
}

/* What the document leaves out stays as it is in *out. */
static int read_policy(
	struct arena *a, const struct yaml_doc *d, struct rollout_policy *out, struct err *err)
{
	const struct reader r = {a, d, out};
	int rc = yaml_want_map(d, d->root, "a rollout policy", err);

	if (rc == 0)
		rc = yaml_known_keys(d, d->root, KEYS, err);
	if (rc == 0)
		rc = read_scalars(&r, d->root, err);
	if (rc == 0)
		rc = read_parts(&r, d->root, err);
	if (rc < 0 && err && !*err->hint)
		return err_hint(err, "'stoika help rollout explain' shows a policy");
	return rc;
}

int rollout_policy_change(struct arena *a, const char *name, struct str text,
	struct rollout_policy *p, struct err *err)
{
	struct yaml_doc *d;
	const int rc = yaml_parse(a, name, text, &YAML_CAPS_RECIPE, &d, err);

	return rc < 0 ? rc : read_policy(a, d, p, err);
}

int rollout_policy_parse(struct arena *a, const char *name, struct str text,
	struct rollout_policy *out, struct err *err)
{
	rollout_policy_preset(out);
	out->name = arena_strdup(a, name);
	return rollout_policy_change(a, name, text, out, err);
}

int rollout_policy_load(
	struct arena *a, const char *path, struct rollout_policy *out, struct err *err)
{
	struct yaml_doc *d;
	const int rc = yaml_load(a, path, &YAML_CAPS_RECIPE, &d, err);

	if (rc < 0)
		return rc;
	rollout_policy_preset(out);
	out->name = arena_strdup(a, d->name);
	return read_policy(a, d, out, err);
}

/* --- the window --- */

/* A window that goes past midnight belongs to the day on which it opened. */
static bool is_open(const struct rollout_policy *p, int64_t local_minutes)
{
	const unsigned minute = (unsigned)(local_minutes % DAY_MINUTES);
	const unsigned day = (unsigned)((local_minutes / DAY_MINUTES + 3) % 7); /* 1970: Thursday */
	const unsigned before = (day + 6) % 7;

	if (p->window_from < p->window_to)
		return (p->window_days >> day & 1) && minute >= p->window_from &&
		       minute < p->window_to;
	return ((p->window_days >> day & 1) && minute >= p->window_from) ||
	       ((p->window_days >> before & 1) && minute < p->window_to);
}

int64_t rollout_window_opens(const struct rollout_policy *p, int64_t now)
{
	const int64_t offset = (int64_t)p->utc_minutes * MINUTE;
	int64_t minute = (now + offset) / MINUTE;

	if (p->window_days == 0 || is_open(p, minute))
		return now;
	for (int i = 0; i < 8 * DAY_MINUTES && !is_open(p, minute); i++)
		minute++;
	return minute * MINUTE - offset;
}
