/* fleet_order - what a node is sent: its own signed order, and the bundle that all share. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "agent/base/seal.h"
#include "agent/base/sign.h"
#include "agent/recipe/recipe.h"
#include "controller/fleet/fleet_priv.h"
#include "controller/fleet/site_pack.h"

#include <stdlib.h>
#include <string.h>

#define BODY_MAX (1u << 20)
#define SLICE    (512u << 10) /* of the bundle per frame */
/* The nonce makes an order good for one session; the time only bounds a stolen clock. */
#define ORDER_LIFE INT64_C(86400)

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

static int prepare_head(struct hub *h, struct str sig, struct buf *head, struct err *err)
{
	const struct bundle_stream *b = &h->stream;
	AUTO_JSON m = message_new("bundle");
	const size_t n = h->pack.payload.n;

	json_put_text(m, "manifest", h->pack.manifest);
	json_put_text(m, "sig", sig);
	json_put_int(m, "size", (int64_t)n);
	message_write(m, head);
	buf_add(head, n >= SLICE ? b->frame_head : b->last_head, 5);
	if (!buf_ok(head))
		return err_set(
			err, E_LIMIT, "the manifest of the bundle is too long for a message");
	return 0;
}

/* While the signing key is replaced, the bundle is there with the signature of either key. */
static int prepare_stream(struct hub *h, struct err *err)
{
	struct bundle_stream *b = &h->stream;
	char sig[SIGN_TEXT_MAX];
	int rc;

	b->payload = h->pack.payload;
	make_head(b->frame_head, SLICE);
	make_head(b->last_head, h->pack.payload.n % SLICE);
	rc = prepare_head(h, h->pack.sig, &b->head[0], err);
	if (rc < 0 || !h->keys->next)
		return rc;
	rc = sign_make(h->keys->next, h->pack.manifest, sig, err);
	return rc < 0 ? rc : prepare_head(h, str_of(sig), &b->head[1], err);
}

int order_prepare(struct hub *h, const struct node_refs *nodes, struct err *err)
{
	const struct fleet_opts *o = h->opts;
	const struct pack_recipe *recipes;
	unsigned n_recipes;
	int rc = params_prepare(h, nodes, err);

	buf_init(&h->stream.head[0], 2 * WIRE_FRAME_MAX);
	buf_init(&h->stream.head[1], 2 * WIRE_FRAME_MAX);
	if (rc < 0 || o->n_recipes == 0)
		return rc;
	rc = site_pack_add(h->store, h->arena, o->recipes, o->n_recipes, &recipes, &n_recipes, err);
	if (rc == 0)
		rc = pack_make(h->store, h->keys, recipes, n_recipes, &h->pack, err);
	return rc < 0 ? rc : prepare_stream(h, err);
}

void order_cleanup(struct hub *h)
{
	params_cleanup(h);
	buf_done(&h->stream.head[0]);
	buf_done(&h->stream.head[1]);
	pack_done(&h->pack);
}

void order_send_bundle(struct task *t)
{
	const struct bundle_stream *b = &t->fleet->hub->stream;
	struct str rest = b->payload;

	if (t->bundle_sent)
		return;
	t->bundle_sent = true;
	link_write_shared(t->link, buf_str(&b->head[t->signer == t->fleet->hub->keys->next]));
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

	if (t->follow || t->attach || f->opts->mode == ORDER_ATTACH) {
		o->mode = ORDER_ATTACH;
		o->run = t->follow ? t->follow : f->out->id;
		o->after = t->follow ? 0 : t->seen;
		return;
	}
	o->mode = f->opts->mode;
	o->run = f->out->id;
	o->stay = f->stay;
	o->undo_of = o->mode == ORDER_UNDO ? f->opts->undo_of : NULL;
	o->reboot_asked = f->opts->mode == ORDER_APPLY && f->hub->reboot_asked;
	o->expect = f->opts->preview ? ORDER_PREVIEW : t->expect;
	if (o->mode == ORDER_RESUME)
		o->after = t->seen;
	if (o->mode == ORDER_REKEY)
		o->rekey = f->opts->rekey;
	if (f->opts->n_recipes == 0)
		return;
	o->bundle = f->hub->pack.digest;
	o->n_recipes = f->opts->n_recipes;
	o->recipes = recipes;
	for (unsigned i = 0; i < o->n_recipes; i++)
		recipes[i] = (struct order_recipe){f->opts->recipes[i].name, t->set->params[i]};
}

/* Names of the secrets into the order; the list is the caller's to free. */
static const char **name_secrets(const struct task *t, struct order *o)
{
	json_t *values = t->set && o->mode != ORDER_ATTACH ? t->set->secrets : NULL, *value;
	const char **names = xcalloc(json_object_size(values) + 1, sizeof *names), *name;

	json_object_foreach(values, name, value)
	{
		names[o->n_secrets++] = name;
	}
	o->secrets = names;
	return names;
}

/* The values, in a message of their own; they are nowhere else on the way. */
static int write_secrets(struct task *t, struct err *err)
{
	AUTO_JSON m = message_new("secrets");
	AUTO_BUF out = {0};
	bool fits;

	buf_init(&out, WIRE_FRAME_MAX);
	json_object_set(m, "values", t->set->secrets);
	message_write(m, &out);
	fits = buf_ok(&out);
	if (fits)
		link_write(t->link, buf_str(&out));
	seal_wipe(&out);
	return fits ? 0 : err_set(err, E_LIMIT, "the secrets for '%s' are too long", t->node->name);
}

static int write_message(struct task *t, const json_t *m, struct err *err)
{
	AUTO_BUF out = {0};

	buf_init(&out, 2 * BODY_MAX);
	message_write(m, &out);
	if (!buf_ok(&out))
		return err_set(err, E_LIMIT, "the order for '%s' is too long", t->node->name);
	link_write(t->link, buf_str(&out));
	return 0;
}

static int write_order(struct task *t, const struct order *o, struct err *err)
{
	char sig[SIGN_TEXT_MAX];
	AUTO_JSON m = message_new("order");
	AUTO_BUF body = {0};
	int rc;

	buf_init(&body, BODY_MAX);
	order_format(o, &body);
	if (!buf_ok(&body))
		return err_set(err, E_LIMIT, "the order for '%s' is too long", t->node->name);
	if (o->stay)
		hash_hex(buf_str(&body), t->body_hash);
	rc = sign_make(t->signer, buf_str(&body), sig, err);
	if (rc < 0)
		return rc;
	json_put_text(m, "body", buf_str(&body));
	json_put_str(m, "sig", sig);
	return write_message(t, m, err);
}

int order_again(struct task *t, struct err *err)
{
	const struct fleet *f = t->fleet;
	char sig[SIGN_TEXT_MAX];
	AUTO_JSON m = message_new("again");
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, 512);
	order_again_text(&text, t->nonce, f->out->id, t->body_hash);
	rc = sign_make(t->signer, buf_str(&text), sig, err);
	if (rc < 0)
		return rc;
	json_put_str(m, "run", f->out->id);
	json_put_str(m, "sig", sig);
	t->given = true;
	return write_message(t, m, err);
}

int order_send(struct task *t, const char *nonce, const json_t *held, struct err *err)
{
	const struct fleet *f = t->fleet;
	struct order_recipe *recipes = xcalloc(f->opts->n_recipes + 1, sizeof *recipes);
	AUTO_JSON facts = node_facts(t->node);
	struct order o = {.node = t->node->name,
		.nonce = nonce,
		.by = f->opts->by,
		.issued = clock_wall() / CLOCK_SEC,
		.node_facts = facts,
		.vars = t->set ? t->set->vars : NULL};
	const char **names;
	int rc;

	o.expires = o.issued + ORDER_LIFE;
	snprintf(t->nonce, sizeof t->nonce, "%s", nonce);
	choose_mode(t, &o, recipes);
	names = name_secrets(t, &o);
	rc = write_order(t, &o, err);
	if (rc == 0 && o.n_secrets > 0)
		rc = write_secrets(t, err);
	free(recipes);
	free(names);
	if (rc < 0)
		return rc;
	if (o.mode != ORDER_ATTACH)
		t->given = true;
	/* unasked, which saves the node's asking for it */
	if (o.bundle && !is_held(held, o.bundle))
		order_send_bundle(t);
	return 0;
}
