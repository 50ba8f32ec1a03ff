/* workload - reads tasks, fills what is missing, estimates, asks. */
#include "inventory/design/workload.h"

#include "inventory/design/constant.h"
#include "inventory/design/llm_catalog.h"
#include "inventory/design/need.h"
#include "inventory/design/serve.h"

#include <math.h>
#include <string.h>

struct reading {
	const struct yaml_doc *doc;
	const struct yaml_node *node;
	struct workload *w;
	struct err *err;
	int rc;
};

static void keep(struct reading *r, int rc)
{
	if (r->rc == 0)
		r->rc = rc;
}

/* A number, or its default as a question between low and high. */
static double ask_or(struct reading *r, const char *key, double fallback, double low, double high)
{
	const struct yaml_node *n = yaml_get(r->node, key);
	double v = fallback;

	if (n) {
		if (r->rc == 0)
			keep(r, yaml_want_num(r->doc, n, key, 1e-9, 1e9, &v, r->err));
		return v;
	}
	if (r->w->n_questions < QUESTIONS_MOST)
		r->w->questions[r->w->n_questions++] =
			(struct question){.key = key, .used = fallback, .low = low, .high = high};
	return v;
}

static double optional(struct reading *r, const char *key)
{
	const struct yaml_node *n = yaml_get(r->node, key);
	double v = 0;

	if (n && r->rc == 0)
		keep(r, yaml_want_num(r->doc, n, key, 1e-9, 1e9, &v, r->err));
	return v;
}

static const char *text(struct reading *r, const char *key, const char *fallback)
{
	const struct yaml_node *n = yaml_get(r->node, key);
	struct str s;

	if (!n || r->rc < 0)
		return fallback;
	keep(r, yaml_want_text(r->doc, n, key, &s, r->err));
	return r->rc < 0 ? fallback : s.p;
}

/* What a library refused, with the place of the key it is about. */
static void placed(struct reading *r, const char *key, int rc)
{
	const struct yaml_node *at = yaml_get(r->node, key);
	const struct err was = *r->err;

	if (rc >= 0 || r->rc < 0)
		return;
	r->rc = yaml_err(r->doc, at ? at : r->node, r->err, was.code, "%s", was.msg);
	if (was.hint[0])
		(void)err_hint(r->err, "%s", was.hint);
}

static void read_model(struct reading *r, const struct catalog *c)
{
	const char *name = text(r, "model", NULL), *kind = text(r, "kind", "inference");
	struct task *t = &r->w->task;

	if (r->rc == 0 && strcmp(kind, "inference") != 0)
		keep(r, yaml_err(r->doc, yaml_get(r->node, "kind"), r->err, E_UNSUPPORTED,
				"a workload of kind '%.40s' is not compared, only inference",
				kind));
	if (r->rc == 0 && !name)
		keep(r, yaml_err(r->doc, r->node, r->err, E_SCHEMA, "'model' is missing"));
	if (r->rc < 0)
		return;
	placed(r, "model", llm_find(c, name, &r->w->model, NULL, r->err));
	if (r->rc == 0)
		placed(r, "model", llm_check(&r->w->model, r->err));
	t->model = &r->w->model;
	if (r->rc == 0)
		placed(r, "precision",
			precision_find(text(r, "precision", "bf16"), &t->weights, r->err));
	if (r->rc == 0)
		placed(r, "kv_precision",
			precision_find(text(r, "kv_precision", "bf16"), &t->kv, r->err));
}

static void read_load(struct reading *r)
{
	struct task *t = &r->w->task;

	t->isl = ask_or(r, "prompt", 2048, 512, 16384);
	t->osl = ask_or(r, "answer", 512, 128, 2048);
	t->ttft = optional(r, "ttft_s");
	t->itl = optional(r, "itl_ms") / 1e3;
	t->utilisation = optional(r, "utilisation");
	r->w->rps = optional(r, "rps");
	if (r->w->rps > 0)
		t->sequences = ceil(serve_concurrency(
			r->w->rps, t->ttft > 0 ? t->ttft : 1, t->osl, t->itl > 0 ? t->itl : 0.05));
	else
		t->sequences = ask_or(r, "sequences", 16, 4, 128);
	if (r->rc == 0 && t->utilisation > 0)
		placed(r, "utilisation", need_share("utilisation", t->utilisation, r->err));
}

static double gpus_of(const struct workload_set *s, const struct task *t)
{
	struct choice rows[CHOICE_MOST];

	if (choice_compare(t, s->cards, s->n_cards, rows, NULL) < 0 || !rows[0].fits)
		return NAN;
	return rows[0].gpus;
}

static void weigh(const struct workload_set *s, struct workload *w)
{
	for (unsigned i = 0; i < w->n_questions; i++) {
		struct question *q = &w->questions[i];
		struct task t = w->task;
		double *field = strcmp(q->key, "prompt") == 0   ? &t.isl
				: strcmp(q->key, "answer") == 0 ? &t.osl
								: &t.sequences;

		*field = q->low;
		q->gpus_low = gpus_of(s, &t);
		*field = q->high;
		q->gpus_high = gpus_of(s, &t);
	}
}

static int read_one(const struct yaml_doc *doc, const struct yaml_node *node,
	const struct catalog *c, double per_node, struct workload_set *s, struct err *err)
{
	static const char *const known[] = {"name", "kind", "model", "precision", "kv_precision",
		"prompt", "answer", "sequences", "rps", "ttft_s", "itl_ms", "utilisation", NULL};
	struct workload *w = &s->at[s->n];
	struct reading r = {.doc = doc, .node = node, .w = w, .err = err};

	keep(&r, yaml_want_map(doc, node, "a workload", err));
	if (r.rc == 0)
		keep(&r, yaml_known_keys(doc, node, known, err));
	w->name = text(&r, "name", "task");
	w->task.per_node = per_node;
	if (r.rc == 0)
		read_model(&r, c);
	if (r.rc == 0)
		read_load(&r);
	if (r.rc == 0)
		placed(&r, "prompt", choice_compare(&w->task, s->cards, s->n_cards, w->rows, err));
	if (r.rc == 0)
		weigh(s, w);
	s->n += r.rc == 0;
	return r.rc;
}

static int read_cards(const struct yaml_doc *doc, const struct catalog *c, struct workload_set *s,
	struct err *err)
{
	const struct yaml_node *list = yaml_get(doc->root, "gpus");
	int rc;

	if (list && (rc = yaml_want_list(doc, list, "'gpus'", err)) < 0)
		return rc;
	if (list && (list->n == 0 || list->n > CHOICE_MOST))
		return yaml_err(doc, list, err, E_LIMIT,
			"'gpus' names %u cards, 1 to %d are compared", list->n, CHOICE_MOST);
	for (unsigned i = 0; list && i < list->n; i++) {
		struct str name;

		if ((rc = yaml_want_text(doc, list->item[i], "a GPU", &name, err)) < 0)
			return rc;
		if (card_find(c, name.p, &s->cards[s->n_cards++], err) < 0)
			return yaml_err(doc, list->item[i], err, E_NOTFOUND,
				"the catalogue has no gpu '%.64s'", name.p);
	}
	for (size_t i = 0; !list && i < c->entries.n && s->n_cards < CHOICE_MOST; i++)
		if (c->entries.at[i]->kind == CATALOG_GPU)
			(void)card_find(c, c->entries.at[i]->id, &s->cards[s->n_cards++], err);
	return 0;
}

int workload_read(const struct yaml_doc *doc, const struct catalog *c, struct workload_set **out,
	struct err *err)
{
	static const char *const known[] = {"design", "gpus", "per_node", "workloads", NULL};
	const struct yaml_node *list = yaml_get(doc->root, "workloads");
	const struct yaml_node *name = yaml_get(doc->root, "design");
	const struct yaml_node *node = yaml_get(doc->root, "per_node");
	struct workload_set *s = arena_alloc(doc->arena, sizeof *s);
	int64_t per_node = 8;
	int rc;

	if ((rc = yaml_want_map(doc, doc->root, "a design", err)) < 0 ||
		(rc = yaml_known_keys(doc, doc->root, known, err)) < 0 ||
		(node &&
			(rc = yaml_want_int(doc, node, "'per_node'", 1, 72, &per_node, err)) < 0) ||
		(rc = read_cards(doc, c, s, err)) < 0)
		return rc;
	if (!list || list->kind != YAML_LIST || list->n == 0)
		return yaml_err(
			doc, list ? list : doc->root, err, E_SCHEMA, "'workloads' must be a list");
	if (list->n > WORKLOADS_MOST)
		return yaml_err(doc, list, err, E_LIMIT, "more than %d workloads", WORKLOADS_MOST);
	s->name = name && name->kind == YAML_SCALAR ? name->text.p : "design";
	for (unsigned i = 0; i < list->n; i++)
		if ((rc = read_one(doc, list->item[i], c, (double)per_node, s, err)) < 0)
			return rc;
	*out = s;
	return 0;
}
