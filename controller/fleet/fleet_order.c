/* fleet_order - what a node is sent: its own signed order, and the bundle that all share. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/fleet_priv.h"

#include <stdlib.h>
#include <string.h>

#define BODY_MAX (1u << 20)
#define SLICE    (512u << 10) /* of the bundle per frame */
/* The nonce makes an order good for one session; the time only bounds a stolen clock. */
#define ORDER_LIFE INT64_C(86400)
#define VARS_MAX   (256u << 10)

/* Length of what follows (big-endian), then the type: see frame.h. */
static void make_head(char head[static 5], size_t payload)
{
	const uint32_t n = (uint32_t)payload + 1;

	head[0] = (char)(n >> 24);
	head[1] = (char)(n >> 16);
	head[2] = (char)(n >> 8);
	head[3] = (char)n;
	head[4] = 'D';
}

static int prepare_stream(struct fleet *f, struct err *err)
{
	struct bundle_stream *b = &f->stream;
	AUTO_JSON m = message_new("bundle");
	const size_t n = f->pack.payload.n, rest = n % SLICE;

	json_put_text(m, "manifest", f->pack.manifest);
	json_put_text(m, "sig", f->pack.sig);
	json_put_int(m, "size", (int64_t)n);
	b->payload = f->pack.payload;
	make_head(b->frame_head, SLICE);
	make_head(b->last_head, rest);
	message_write(m, &b->head);
	buf_add(&b->head, n >= SLICE ? b->frame_head : b->last_head, 5);
	if (!buf_ok(&b->head))
		return err_set(
			err, E_LIMIT, "the manifest of the bundle is too long for a message");
	return 0;
}

/* What was given for each recipe, judged and completed once for all nodes. */
static int prepare_params(struct fleet *f, struct err *err)
{
	const struct fleet_opts *o = f->opts;

	f->params = xcalloc(o->n_recipes + 1, sizeof *f->params);
	for (unsigned i = 0; i < o->n_recipes; i++) {
		const struct pack_recipe *r = &o->recipes[i];
		const int rc =
			recipe_params(r->recipe, json_get(o->params, r->name), &f->params[i], err);

		if (rc < 0)
			return err_wrap(err, "recipe '%s'", r->name);
	}
	return 0;
}

int order_prepare(struct fleet *f, struct err *err)
{
	const struct fleet_opts *o = f->opts;
	int rc;

	buf_init(&f->stream.head, 2 * WIRE_FRAME_MAX);
	if (o->n_recipes == 0)
		return 0;
	rc = prepare_params(f, err);
	if (rc == 0)
		rc = pack_make(
			store_path(f->store), f->keys, o->recipes, o->n_recipes, &f->pack, err);
	return rc < 0 ? rc : prepare_stream(f, err);
}

void order_cleanup(struct fleet *f)
{
	for (unsigned i = 0; f->params && i < f->opts->n_recipes; i++)
		json_decref(f->params[i]);
	free(f->params);
	buf_done(&f->stream.head);
	pack_done(&f->pack);
}

void order_send_bundle(struct task *t)
{
	const struct bundle_stream *b = &t->fleet->stream;
	struct str rest = b->payload;

	if (t->bundle_sent)
		return;
	t->bundle_sent = true;
	link_write_shared(t->link, buf_str(&b->head));
	while (rest.n > 0) {
		link_write_shared(t->link, str_first(rest, SLICE));
		rest = str_from(rest, SLICE);
		if (rest.n > 0)
			link_write_shared(t->link,
				(struct str){rest.n >= SLICE ? b->frame_head : b->last_head, 5});
	}
}

static json_t *node_facts(const struct node_row *n)
{
	json_t *facts = json_object();

	json_put_str(facts, "name", n->name);
	json_put_str(facts, "address", n->address);
	json_put_str(facts, "site", n->site);
	json_put_str(facts, "rack", n->rack);
	json_put_str(facts, "role", n->role);
	return facts;
}

static bool is_held(const json_t *held, const char *digest)
{
	size_t i;
	const json_t *item;

	json_array_foreach(held, i, item)
	{
		const char *text = json_string_value(item);

		if (text && strcmp(text, digest) == 0)
			return true;
	}
	return false;
}

/* The parts of the order that depend on what this session is for. */
static void choose_mode(const struct task *t, struct order *o, struct order_recipe *recipes)
{
	const struct fleet *f = t->fleet;

	if (t->follow || t->attach) {
		o->mode = ORDER_ATTACH;
		o->run = t->follow ? t->follow : f->out->id;
		o->after = t->follow ? 0 : t->seen;
		return;
	}
	o->mode = f->opts->mode;
	o->run = f->out->id;
	if (o->mode == ORDER_FACTS)
		return;
	o->bundle = f->pack.digest;
	o->n_recipes = f->opts->n_recipes;
	o->recipes = recipes;
	for (unsigned i = 0; i < o->n_recipes; i++)
		recipes[i] = (struct order_recipe){f->opts->recipes[i].name, f->params[i]};
}

static int write_order(struct task *t, const struct order *o, struct err *err)
{
	char sig[SIGN_TEXT_MAX];
	AUTO_JSON m = message_new("order");
	AUTO_BUF body = {0}, out = {0};
	int rc;

	buf_init(&body, BODY_MAX);
	buf_init(&out, 2 * BODY_MAX);
	order_format(o, &body);
	rc = sign_make(t->fleet->keys->sign, buf_str(&body), sig, err);
	if (rc < 0)
		return rc;
	json_put_text(m, "body", buf_str(&body));
	json_put_str(m, "sig", sig);
	message_write(m, &out);
	if (!buf_ok(&body) || !buf_ok(&out))
		return err_set(err, E_LIMIT, "the order for '%s' is too long", t->node->name);
	link_write(t->link, buf_str(&out));
	return 0;
}

int order_send(struct task *t, const char *nonce, const json_t *held, struct err *err)
{
	const struct fleet *f = t->fleet;
	struct order_recipe *recipes = xcalloc(f->opts->n_recipes + 1, sizeof *recipes);
	AUTO_JSON facts = node_facts(t->node);
	AUTO_JSON vars = NULL;
	struct order o = {.node = t->node->name,
		.nonce = nonce,
		.by = f->opts->by,
		.issued = clock_wall() / CLOCK_SEC,
		.node_facts = facts};
	const char *text = t->node->vars && *t->node->vars ? t->node->vars : "{}";
	int rc = json_parse(str_of(text), VARS_MAX, "vars", &vars, err);

	o.expires = o.issued + ORDER_LIFE;
	o.vars = vars;
	choose_mode(t, &o, recipes);
	if (rc == 0)
		rc = write_order(t, &o, err);
	free(recipes);
	if (rc < 0)
		return rc;
	if (o.mode != ORDER_ATTACH)
		t->given = true;
	/* unasked, which saves the node's asking for it */
	if (o.bundle && !is_held(held, o.bundle))
		order_send_bundle(t);
	return 0;
}
