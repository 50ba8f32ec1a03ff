/* step_load - one step: its kind, what stands beside it, its arguments in step_args.c. */
#include "agent/base/buf.h"
#include "agent/recipe/recipe_priv.h"
#include "agent/recipe/type.h"

#include <stdio.h>
#include <string.h>

#define NAME_SHOWN 60

static int find_kind(const struct loader *l, const struct yaml_node *map, struct step *s,
	unsigned *at, struct err *err)
{
	const struct yaml_doc *d = l->recipe->doc;
	int rc = yaml_known_keys(d, map, l->step_keys, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < map->n; i++) {
		const struct kind *k = kind_find(map->key[i]->text.p);

		if (!k)
			continue;
		if (s->kind) {
			yaml_err(d, map->key[i], err, E_CONFLICT,
				"a step has one kind, and this one is a '%s' already",
				s->kind->name);
			return err_hint(err, "begin a new step with '- %s:'", k->name);
		}
		s->kind = k;
		*at = i;
	}
	if (s->kind)
		return 0;
	yaml_err(d, map, err, E_SCHEMA, "the step has no kind");
	return err_hint(err,
		"a kind is a key such as package, file, service or command; 'stoika help step' "
		"lists all");
}

static struct expr *literal(const struct loader *l, enum expr_op op, const struct yaml_node *n)
{
	struct expr *e = arena_alloc(l->arena, sizeof *e);
	struct origin *o = arena_alloc(l->arena, sizeof *o);

	*o = (struct origin){.file = l->recipe->doc->name,
		.line = n->line,
		.col = n->col,
		.source = l->recipe->doc->text,
		.text = n->text};
	e->op = op;
	e->origin = o;
	e->at = e->from = n->text.p;
	e->to = e->from ? e->from + n->text.n : NULL;
	e->n = n->kind == YAML_SCALAR ? 0 : n->n;
	e->depth = 3;
	e->arg = arena_alloc(l->arena, (e->n + 1) * sizeof *e->arg);
	if (op == EXPR_TEXT)
		e->text = n->text;
	if (op == EXPR_MAP)
		e->key = arena_alloc(l->arena, (e->n + 1) * sizeof *e->key);
	return e;
}

static int literal_text(
	const struct loader *l, const struct yaml_node *n, struct expr **out, struct err *err)
{
	const char *text;
	int rc = load_text(l, n, "an item of 'each'", &text, err);

	if (rc < 0)
		return rc;
	if (strstr(text, "{{")) {
		yaml_err(l->recipe->doc, n, err, E_SCHEMA, "items of 'each' are literal text");
		return err_hint(
			err, "write the whole list as an expression: each: [params.a, 'b']");
	}
	*out = literal(l, EXPR_TEXT, n);
	return 0;
}

static int literal_item(
	const struct loader *l, const struct yaml_node *n, struct expr **out, struct err *err)
{
	struct expr *e;
	int rc = 0;

	if (n->kind != YAML_MAP)
		return literal_text(l, n, out, err);
	e = literal(l, EXPR_MAP, n);
	for (unsigned i = 0; i < n->n && rc == 0; i++) {
		e->key[i] = n->key[i]->text;
		rc = literal_text(l, n->item[i], &e->arg[i], err);
	}
	*out = e;
	return rc;
}

/* each: an expression, or a YAML list of texts or of maps of texts. */
static int load_each(
	const struct loader *l, const struct yaml_node *n, struct step *s, struct err *err)
{
	int rc = 0;

	if (n->kind == YAML_SCALAR)
		return load_expr(l, n, "'each'", (struct readable){.steps = true}, &s->each, err);
	if (n->kind == YAML_MAP) {
		yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'each' must be a list, not a map");
		return err_hint(err, "write a list, or an expression such as params.names");
	}
	s->each = literal(l, EXPR_LIST, n);
	for (unsigned i = 0; i < n->n && rc == 0; i++)
		rc = literal_item(l, n->item[i], &s->each->arg[i], err);
	return rc;
}

static int load_as(struct loader *l, const struct yaml_node *n, struct step *s, struct err *err)
{
	struct as_name *mine;
	int rc = load_text(l, n, "'as'", &s->as, err);

	if (rc < 0)
		return rc;
	if (!load_is_identifier(n->text)) {
		yaml_err(l->recipe->doc, n, err, E_SCHEMA, "'as' must be a name, not '%.60s'",
			s->as);
		return err_hint(
			err, "use letters, digits and _, so that steps.NAME can be written");
	}
	for (const struct as_name *as = l->as; as; as = as->up) {
		if (strcmp(as->name, s->as) == 0) {
			yaml_err(l->recipe->doc, n, err, E_EXISTS, "a step is called '%s' already",
				s->as);
			return err_hint(err, "the other one is in line %u", as->at->line);
		}
	}
	mine = arena_alloc(l->arena, sizeof *mine);
	*mine = (struct as_name){s->as, n, l->as};
	l->as = mine;
	return 0;
}

static int load_notify(
	const struct loader *l, const struct yaml_node *n, struct step *s, struct err *err)
{
	if (n->kind == YAML_LIST)
		return load_words(l, n, "'notify'", NULL, &s->notify, &s->n_notify, err);
	s->notify = arena_alloc(l->arena, sizeof *s->notify);
	s->n_notify = 1;
	return load_text(l, n, "'notify'", &s->notify[0], err);
}

static void add_words(struct buf *b, const struct yaml_node *n, bool keys, const char *sep)
{
	for (unsigned i = 0; i < n->n; i++) {
		const struct yaml_node *word = keys ? n->key[i] : n->item[i];

		if (i > 0)
			buf_add_text(b, sep);
		buf_add_str(b, word->text);
	}
}

/* A name for people from the kind and its main argument: "package chrony, curl". */
static const char *make_name(
	const struct loader *l, const struct step *s, const struct yaml_node *map)
{
	const struct yaml_node *main = yaml_get(map, s->kind->params[0].name);
	bool command = strcmp(s->kind->name, "command") == 0;
	struct str text, line;
	AUTO_BUF b;

	buf_init(&b, 64u << 10);
	if (!main && command)
		main = yaml_get(map, "shell");
	if (main && main->kind == YAML_SCALAR)
		buf_add_str(&b, main->text);
	else if (main)
		add_words(&b, main, main->kind == YAML_MAP, command ? " " : ", ");
	text = line = buf_str(&b);
	if (!str_line(&text, &line))
		line = STR_LIT("");
	text = line;
	if (line.n > NAME_SHOWN)
		for (line.n = NAME_SHOWN - 3; ((unsigned char)line.p[line.n] & 0xC0) == 0x80;)
			line.n--;
	return arena_printf(l->arena, "%s " STR_FMT "%s", s->kind->name, STR_ARG(line),
		line.n < text.n ? "..." : "");
}

/* What stands beside the kind, but for 'as', which only later steps may read. */
static int load_beside(
	const struct loader *l, const struct yaml_node *map, struct step *s, struct err *err)
{
	const struct yaml_node *when = yaml_get(map, "when"), *each = yaml_get(map, "each");
	const struct yaml_node *notify = yaml_get(map, "notify"), *name = yaml_get(map, "name");
	int rc = 0;

	if (each && (rc = load_each(l, each, s, err)) < 0)
		return rc;
	if (when && (rc = load_expr(l, when, "'when'",
			     (struct readable){.item = each != NULL, .steps = true}, &s->when,
			     err)) < 0)
		return rc;
	if (notify && (rc = load_notify(l, notify, s, err)) < 0)
		return rc;
	return name ? load_line(l, name, "'name'", &s->name, err) : 0;
}

static int load_step(struct loader *l, const struct yaml_node *map, struct step *s, struct err *err)
{
	const struct yaml_node *as = yaml_get(map, "as");
	unsigned at = 0;
	int rc;

	s->at = map;
	if (map->kind != YAML_MAP) {
		yaml_err(l->recipe->doc, map, err, E_SCHEMA, "a step must be a map");
		return err_hint(err, "such as - package: {names: [chrony]}");
	}
	if ((rc = find_kind(l, map, s, &at, err)) < 0 || (rc = load_beside(l, map, s, err)) < 0)
		return rc;
	if (map->item[at]->kind != YAML_MAP) {
		yaml_err(l->recipe->doc, map->item[at], err, E_SCHEMA, "'%s' must be a map",
			s->kind->name);
		return err_hint(err, "write %s: {%s: ...}", s->kind->name, s->kind->params[0].name);
	}
	rc = load_args(l, s, map->item[at],
		(struct readable){.item = s->each != NULL, .steps = true}, err);
	if (rc < 0)
		return rc;
	if (!s->name)
		s->name = make_name(l, s, map->item[at]);
	return as ? load_as(l, as, s, err) : 0;
}

int load_steps(struct loader *l, const struct yaml_node *list, const char *what,
	struct step **steps, unsigned *n, struct err *err)
{
	int rc;

	if (!list)
		return 0;
	if ((rc = load_want_list(l, list, what, "- package: {names: [chrony]}", err)) < 0)
		return rc;
	if (list->n > RECIPE_STEPS_MAX)
		return yaml_err(l->recipe->doc, list, err, E_LIMIT, "%s holds more than %d steps",
			what, RECIPE_STEPS_MAX);
	*steps = arena_alloc(l->arena, (list->n + 1) * sizeof **steps);
	for (unsigned i = 0; i < list->n; i++) {
		(*steps)[i].index = i;
		if ((rc = load_step(l, list->item[i], &(*steps)[i], err)) < 0)
			return rc;
	}
	*n = list->n;
	return 0;
}

static int fail_handler(const struct loader *l, const struct step *s, unsigned at, struct err *err)
{
	const struct yaml_node *n = yaml_get(s->at, "notify");
	const struct recipe *r = l->recipe;
	const char **names = arena_alloc(l->arena, (r->n_handlers + 1) * sizeof *names), *near;

	for (unsigned i = 0; i < r->n_handlers; i++)
		names[i] = r->handlers[i].name;
	near = err_nearest(s->notify[at], names);
	yaml_err(r->doc, n->kind == YAML_LIST ? n->item[at] : n, err, E_NOTFOUND,
		"there is no handler '%.80s'", s->notify[at]);
	if (near)
		return err_hint(err, "did you mean '%s'?", near);
	if (r->n_handlers == 0)
		return err_hint(err, "the recipe has no 'handlers:'");
	return err_hint(err, "the first handler is '%s'", names[0]);
}

int load_check_notify(const struct loader *l, const struct step *steps, unsigned n, struct err *err)
{
	const struct recipe *r = l->recipe;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < steps[i].n_notify; k++) {
			unsigned h = 0;

			while (h < r->n_handlers &&
				strcmp(r->handlers[h].name, steps[i].notify[k]) != 0)
				h++;
			if (h == r->n_handlers)
				return fail_handler(l, &steps[i], k, err);
		}
	}
	return 0;
}
