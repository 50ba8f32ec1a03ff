/* order - the signed body of an order. Unknown keys are refused: what is not understood cannot be
 * obeyed. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/sign.h"
#include "agent/wire/message.h"

#include <string.h>

#define ORDER_BYTES_MAX   (1u << 20)
#define ORDER_RECIPES_MAX 256
#define ORDER_BY_MAX      200
#define NONCE_LEN         32
#define DIGEST_LEN        64
#define RUN_ID_MAX        64
#define ORDER_SECRETS_MAX 1000
#define SECRET_NAME_MAX   128
#define NUMBER_MAX        INT64_C(9000000000) /* seconds that still fit as nanoseconds */

static const char *const MODES[] = {
	[ORDER_PLAN] = "plan",
	[ORDER_APPLY] = "apply",
	[ORDER_CHECK] = "check",
	[ORDER_FACTS] = "facts",
	[ORDER_ATTACH] = "attach",
	[ORDER_RESUME] = "resume",
	[ORDER_UNDO] = "undo",
	[ORDER_REKEY] = "rekey",
	[ORDER_STAGE] = "stage",
	[ORDER_EVIDENCE] = "evidence",
};
#define MODES_N (sizeof MODES / sizeof *MODES)

static const char *const KEYS[] = {"run", "mode", "node", "nonce", "bundle", "by", "issued",
	"expires", "after", "expect", "rekey", "undo_of", "stay", "reboot_asked", "secrets",
	"recipes", "facts", "vars", NULL};

static bool is_hex(const char *z, size_t n)
{
	return strlen(z) == n && strspn(z, "0123456789abcdef") == n;
}

bool order_is_run_id(const char *z)
{
	const size_t n = strlen(z);

	return n >= 1 && n <= RUN_ID_MAX && strspn(z, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static bool is_line(const char *z)
{
	for (const char *c = z; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			return false;
	return *z && strlen(z) <= ORDER_BY_MAX;
}

static bool is_name(const char *z)
{
	return str_is_name(str_of(z));
}

static bool is_nonce(const char *z)
{
	return is_hex(z, NONCE_LEN);
}

static bool is_digest(const char *z)
{
	return is_hex(z, DIGEST_LEN);
}

static bool is_expect(const char *z)
{
	return is_digest(z) || strcmp(z, ORDER_PREVIEW) == 0;
}

static bool is_key(const char *z)
{
	return *z && strlen(z) < SIGN_TEXT_MAX && is_line(z);
}

/* As the store of secrets names them: plain names, in folders. */
static bool is_secret_name(const char *z)
{
	struct str rest = str_of(z), part;

	if (rest.n == 0 || rest.n > SECRET_NAME_MAX || z[rest.n - 1] == '/')
		return false;
	while (str_next(&rest, '/', &part))
		if (!str_is_name(part))
			return false;
	return true;
}

/* The texts of an order: which must be there, and what they must look like. */
static const struct field {
	const char *key;
	bool required;
	bool (*fits)(const char *z);
	const char *expected;
} FIELDS[] = {
	{"run", true, order_is_run_id, "a run id of a-z, 0-9 and '-', at most 64 long"},
	{"node", true, is_name, "a node's name"},
	{"nonce", true, is_nonce, "32 hex digits"},
	{"bundle", false, is_digest, "64 hex digits"},
	{"by", true, is_line, "one line on who gave the order, at most 200 bytes"},
	{"expect", false, is_expect, "the hash of a plan, 64 hex digits"},
	{"rekey", false, is_key, "a public key"},
	{"undo_of", false, order_is_run_id, "a run id"},
};
enum {
	FIELD_RUN,
	FIELD_NODE,
	FIELD_NONCE,
	FIELD_BUNDLE,
	FIELD_BY,
	FIELD_EXPECT,
	FIELD_REKEY,
	FIELD_UNDO_OF,
	FIELD_N
};

static int check_keys(json_t *body, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach(body, key, value)
	{
		unsigned i = 0;

		while (KEYS[i] && strcmp(KEYS[i], key) != 0)
			i++;
		if (KEYS[i])
			continue;
		err_set(err, E_SCHEMA, "the order has an unknown key '%s'", key);
		return err_hint(err,
			"the agent may be older than the controller: stoika agent install NODE");
	}
	return 0;
}

static int parse_field(struct arena *a, const json_t *body, const struct field *f, const char **out,
	struct err *err)
{
	const char *z = json_get_str(body, f->key, NULL);

	*out = NULL;
	if (!z && !f->required && !json_get(body, f->key))
		return 0;
	if (!z || !f->fits(z))
		return err_set(err, E_SCHEMA, "order: '%s' must be %s", f->key, f->expected);
	*out = arena_strdup(a, z);
	return 0;
}

static int parse_number(
	const json_t *body, const char *key, bool required, int64_t *out, struct err *err)
{
	const int64_t v = json_get_int(body, key, required ? -1 : 0);

	if (v < 0 || v > NUMBER_MAX)
		return err_set(err, E_SCHEMA,
			"order: '%s' must be a whole number from 0 to 9000000000", key);
	*out = v;
	return 0;
}

static int parse_mode(const json_t *body, enum order_mode *out, struct err *err)
{
	const char *z = json_get_str(body, "mode", "");

	for (unsigned i = 0; i < MODES_N; i++)
		if (strcmp(MODES[i], z) == 0) {
			*out = (enum order_mode)i;
			return 0;
		}
	return err_set(err, E_SCHEMA,
		"order: 'mode' must be plan, apply, check, facts, attach, resume, undo or rekey");
}

static int parse_object(const json_t *body, const char *key, json_t **out, struct err *err)
{
	*out = json_get(body, key);
	if (*out && !json_is_object(*out))
		return err_set(err, E_SCHEMA, "order: '%s' must be an object", key);
	return 0;
}

static int parse_truth(const json_t *body, const char *key, bool *out, struct err *err)
{
	const json_t *v = json_get(body, key);

	if (v && !json_is_boolean(v))
		return err_set(err, E_SCHEMA, "order: '%s' must be true or false", key);
	*out = json_is_true(v);
	return 0;
}

static int parse_secrets(struct arena *a, const json_t *body, struct order *o, struct err *err)
{
	json_t *list = json_get(body, "secrets");
	const size_t n = list ? json_array_size(list) : 0;

	if (list && !json_is_array(list))
		return err_set(err, E_SCHEMA, "order: 'secrets' must be a list of names");
	if (n > ORDER_SECRETS_MAX)
		return err_set(err, E_LIMIT, "order: %zu secrets, at most %d are allowed", n,
			ORDER_SECRETS_MAX);
	o->secrets = arena_alloc(a, (n + 1) * sizeof *o->secrets);
	for (; o->n_secrets < n; o->n_secrets++) {
		const char *name = json_string_value(json_array_get(list, o->n_secrets));

		if (!name || !is_secret_name(name))
			return err_set(err, E_SCHEMA, "order: 'secrets' must be a list of names");
		o->secrets[o->n_secrets] = arena_strdup(a, name);
	}
	return 0;
}

static int parse_recipe(
	struct arena *a, const json_t *item, struct order_recipe *out, struct err *err)
{
	const char *name = json_get_str(item, "name", "");
	json_t *params = json_get(item, "params");

	if (!is_name(name))
		return err_set(err, E_SCHEMA, "order: a recipe's 'name' must be a plain name");
	if (params && !json_is_object(params))
		return err_set(
			err, E_SCHEMA, "order: 'params' of recipe '%s' must be an object", name);
	out->name = arena_strdup(a, name);
	out->params = params;
	return 0;
}

static int parse_recipes(struct arena *a, const json_t *body, struct order *o, struct err *err)
{
	json_t *list = json_get(body, "recipes");
	const size_t n = list ? json_array_size(list) : 0;

	if (list && !json_is_array(list))
		return err_set(err, E_SCHEMA, "order: 'recipes' must be a list");
	if (n > ORDER_RECIPES_MAX)
		return err_set(err, E_LIMIT, "order: %zu recipes, at most %d are allowed", n,
			ORDER_RECIPES_MAX);
	o->recipes = arena_alloc(a, (n + 1) * sizeof *o->recipes);
	o->n_recipes = (unsigned)n;
	for (unsigned i = 0; i < n; i++) {
		const int rc = parse_recipe(a, json_array_get(list, i), &o->recipes[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* What each mode cannot do without, and what only some may have. */
static const struct need {
	bool bundle, recipes, expect, rekey;
} NEEDS[] = {
	[ORDER_PLAN] = {.bundle = true, .recipes = true},
	[ORDER_APPLY] = {.bundle = true, .recipes = true, .expect = true},
	[ORDER_CHECK] = {.bundle = true, .recipes = true},
	[ORDER_FACTS] = {0},
	[ORDER_ATTACH] = {0},
	[ORDER_RESUME] = {0},
	[ORDER_UNDO] = {.bundle = true, .recipes = true, .expect = true},
	[ORDER_REKEY] = {.rekey = true},
	[ORDER_STAGE] = {.bundle = true, .recipes = true},
	[ORDER_EVIDENCE] = {0},
};

/* A plan's hash is for an apply; only an undo is looked at by the same order. */
static int check_expect(const struct order *o, struct err *err)
{
	const bool preview = o->expect && strcmp(o->expect, ORDER_PREVIEW) == 0;

	if (o->expect && (!NEEDS[o->mode].expect || (preview && o->mode != ORDER_UNDO)))
		return err_set(err, E_SCHEMA, "order: '%s' takes no such 'expect'", MODES[o->mode]);
	return 0;
}

static int check_whole(const struct order *o, struct err *err)
{
	const struct need *need = &NEEDS[o->mode];

	if (need->bundle && !o->bundle)
		return err_set(err, E_SCHEMA, "order: '%s' needs a 'bundle'", MODES[o->mode]);
	if (need->recipes && o->n_recipes == 0)
		return err_set(err, E_SCHEMA, "order: '%s' needs 'recipes'", MODES[o->mode]);
	if (need->rekey != (o->rekey != NULL))
		return err_set(err, E_SCHEMA, "order: '%s' %s 'rekey'", MODES[o->mode],
			need->rekey ? "needs" : "takes no");
	if (o->undo_of && o->mode != ORDER_UNDO)
		return err_set(err, E_SCHEMA, "order: '%s' takes no 'undo_of'", MODES[o->mode]);
	if (o->expires < o->issued)
		return err_set(err, E_SCHEMA, "order: it expires before it was issued");
	return check_expect(o, err);
}

static int parse_texts(struct arena *a, struct order *o, struct err *err)
{
	const char *text[FIELD_N];

	for (unsigned i = 0; i < FIELD_N; i++) {
		const int rc = parse_field(a, o->body, &FIELDS[i], &text[i], err);

		if (rc < 0)
			return rc;
	}
	o->run = text[FIELD_RUN];
	o->node = text[FIELD_NODE];
	o->nonce = text[FIELD_NONCE];
	o->bundle = text[FIELD_BUNDLE];
	o->by = text[FIELD_BY];
	o->expect = text[FIELD_EXPECT];
	o->rekey = text[FIELD_REKEY];
	o->undo_of = text[FIELD_UNDO_OF];
	return 0;
}

static int parse_body(struct arena *a, struct order *o, struct err *err)
{
	int rc;

	if (!json_is_object(o->body))
		return err_set(err, E_SCHEMA, "an order must be an object");
	if ((rc = check_keys(o->body, err)) < 0 || (rc = parse_texts(a, o, err)) < 0 ||
		(rc = parse_mode(o->body, &o->mode, err)) < 0 ||
		(rc = parse_number(o->body, "issued", true, &o->issued, err)) < 0 ||
		(rc = parse_number(o->body, "expires", true, &o->expires, err)) < 0 ||
		(rc = parse_number(o->body, "after", false, &o->after, err)) < 0 ||
		(rc = parse_truth(o->body, "stay", &o->stay, err)) < 0 ||
		(rc = parse_truth(o->body, "reboot_asked", &o->reboot_asked, err)) < 0 ||
		(rc = parse_secrets(a, o->body, o, err)) < 0 ||
		(rc = parse_object(o->body, "facts", &o->node_facts, err)) < 0 ||
		(rc = parse_object(o->body, "vars", &o->vars, err)) < 0 ||
		(rc = parse_recipes(a, o->body, o, err)) < 0)
		return rc;
	return check_whole(o, err);
}

const char *order_mode_name(enum order_mode m)
{
	return (unsigned)m < MODES_N ? MODES[m] : "unknown";
}

static json_t *recipes_json(const struct order *o)
{
	json_t *recipes = json_array();

	for (unsigned i = 0; i < o->n_recipes; i++) {
		json_t *item = json_object();

		json_put_str(item, "name", o->recipes[i].name);
		if (o->recipes[i].params)
			json_object_set(item, "params", o->recipes[i].params);
		json_array_append_new(recipes, item);
	}
	return recipes;
}

static void put_optional(json_t *body, const struct order *o)
{
	if (o->after > 0)
		json_put_int(body, "after", o->after);
	json_put_str(body, "expect", o->expect);
	json_put_str(body, "rekey", o->rekey);
	json_put_str(body, "undo_of", o->undo_of);
	if (o->stay)
		json_put_bool(body, "stay", true);
	if (o->reboot_asked)
		json_put_bool(body, "reboot_asked", true);
	if (o->n_secrets > 0) {
		json_t *names = json_array();

		for (unsigned i = 0; i < o->n_secrets; i++)
			json_array_append_new(names, json_string(o->secrets[i]));
		json_object_set_new(body, "secrets", names);
	}
	if (o->node_facts)
		json_object_set(body, "facts", o->node_facts);
	if (o->vars)
		json_object_set(body, "vars", o->vars);
}

void order_format(const struct order *o, struct buf *out)
{
	AUTO_JSON body = json_object();

	json_put_str(body, "run", o->run);
	json_put_str(body, "mode", order_mode_name(o->mode));
	json_put_str(body, "node", o->node);
	json_put_str(body, "nonce", o->nonce);
	json_put_str(body, "bundle", o->bundle);
	json_put_str(body, "by", o->by);
	json_put_int(body, "issued", o->issued);
	json_put_int(body, "expires", o->expires);
	json_object_set_new(body, "recipes", recipes_json(o));
	put_optional(body, o);
	json_write(body, out);
}

int order_parse(struct arena *a, struct str body, struct order *out, struct err *err)
{
	struct order o = {0};
	int rc = json_parse(body, ORDER_BYTES_MAX, "order", &o.body, err);

	if (rc < 0)
		return rc;
	rc = parse_body(a, &o, err);
	if (rc < 0)
		order_done(&o);
	else
		*out = o;
	return rc;
}

void order_done(struct order *o)
{
	if (!o)
		return;
	json_drop(&o->body);
	json_drop(&o->secret_values);
}

void order_again_text(
	struct buf *out, const char *nonce, const char *run, const char body_hash[static HASH_HEX])
{
	buf_addf(out, "again\n%s\n%s\n%s", nonce, run, body_hash);
}
