/* llm_catalog - names are compared by their letters and digits only. */
#include "inventory/design/llm_catalog.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define NAME_MOST 64

static void squeeze(const char *name, char out[NAME_MOST])
{
	static const char *const tails[] = {"instruct", "chat", "hf", NULL};
	const char *slash = strrchr(name, '/');
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : name; *p && n + 1 < NAME_MOST; p++)
		if (isalnum((unsigned char)*p))
			out[n++] = (char)tolower((unsigned char)*p);
	out[n] = '\0';
	for (const char *const *t = tails; *t; t++) {
		const size_t tail = strlen(*t);

		if (n > tail && strcmp(out + n - tail, *t) == 0) {
			n -= tail;
			out[n] = '\0';
		}
	}
	if (strncmp(out, "meta", 4) == 0)
		memmove(out, out + 4, n - 3);
}

static bool same(const char *want, const char *name)
{
	char squeezed[NAME_MOST];

	squeeze(name, squeezed);
	return strcmp(want, squeezed) == 0;
}

/* aliases are shown as "A, B" */
static bool among(const char *want, const char *list)
{
	struct str rest = str_of(list), part;

	while (str_next(&rest, ',', &part)) {
		char name[NAME_MOST] = "";

		part = str_first(str_trim(part), sizeof name - 1);
		memcpy(name, part.p, part.n);
		if (same(want, name))
			return true;
	}
	return false;
}

static double num(const struct catalog_entry *e, const char *key)
{
	const double v = catalog_num(e, key);

	return isnan(v) ? 0 : v;
}

static bool is_true(const struct catalog_entry *e, const char *key)
{
	const char *text = catalog_text(e, key);

	return text && (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0);
}

static void fill(const struct catalog_entry *e, struct llm *m)
{
	const char *attention = catalog_text(e, "attention"), *mlp = catalog_text(e, "mlp");

	*m = (struct llm){0};
	for (const struct llm_field *f = LLM_FIELDS; f->key; f++)
		*llm_field(m, f) = num(e, f->key);
	m->state_bytes = num(e, "state_bytes");
	m->context = num(e, "context");
	m->stated = num(e, "params");
	m->stated_active = num(e, "params_active");
	for (size_t n = 0; e->name[n] && n + 1 < sizeof m->name; n++)
		m->name[n] = e->name[n];
	m->tied = is_true(e, "tied");
	m->qkv_bias = is_true(e, "qkv_bias");
	m->plain_mlp = mlp && strcmp(mlp, "plain") == 0;
	if (attention && strcmp(attention, "mla") == 0)
		m->attention = ATTENTION_MLA;
	else if (attention && strcmp(attention, "hybrid") == 0)
		m->attention = ATTENTION_HYBRID;
}

int llm_find(
	const struct catalog *c, const char *name, struct llm *out, double *gflops, struct err *err)
{
	char want[NAME_MOST];

	squeeze(name, want);
	for (size_t i = 0; i < c->entries.n; i++) {
		const struct catalog_entry *e = c->entries.at[i];
		const char *aliases;

		if (e->kind != CATALOG_MODEL)
			continue;
		aliases = catalog_text(e, "aliases");
		if (!same(want, e->id) && !same(want, e->name) &&
			!(aliases && among(want, aliases)))
			continue;
		fill(e, out);
		if (gflops)
			*gflops = num(e, "gflops");
		return 0;
	}
	(void)err_set(err, E_NOTFOUND, "the catalogue has no model '%.64s'", name);
	return err_hint(err, "give its layers, hidden, heads ... or add it to models.yaml; stoika "
			     "catalog list models");
}
