/* store_vars - what the layers of each node's variables come to, summed once per combination. */
#include "agent/base/buf.h"
#include "inventory/store/store_priv.h"

#define SUM_MAX ((size_t)4 << 20)

struct sums {
	struct model_index *index; /* the layers' texts, in one -> place in at */
	struct vec(const char *) at;
};

static int sum(struct arena *a, const struct node_row *n, const char **out, struct err *err)
{
	AUTO_JSON values = NULL;
	AUTO_BUF text;
	int rc;

	buf_init(&text, SUM_MAX);
	rc = vars_resolve(n->layers, VARS_LAYERS, &values, NULL, err);
	if (rc < 0)
		return rc;
	json_write(values, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "the variables of node '%s' are longer than %zu bytes",
			n->name, SUM_MAX);
	*out = arena_text(a, buf_str(&text));
	return 0;
}

/* A line break is in no JSON text that we write. */
static const char *key_of(struct arena *a, const struct node_row *n)
{
	const struct vars_layer *l = n->layers;

#define TEXT(i) l[i].text ? l[i].text : ""
	return arena_printf(a, "%s\n%s\n%s\n%s\n%s", TEXT(0), TEXT(1), TEXT(2), TEXT(3), TEXT(4));
#undef TEXT
}

static int sum_once(
	struct arena *a, struct arena *keys, struct sums *s, struct node_row *n, struct err *err)
{
	size_t at;
	int rc = 0;

	n->vars = "{}";
	if (!vars_any(n->layers, VARS_LAYERS))
		return 0;
	at = model_index_put(s->index, NOUN_N, 0, key_of(keys, n), s->at.n);
	if (at == MODEL_NONE) {
		at = s->at.n;
		rc = sum(a, n, vec_push(&s->at), err);
	}
	n->vars = s->at.at[at];
	return rc;
}

int store_sum_vars(struct arena *a, struct node_rows *rows, struct err *err)
{
	struct sums s = {.index = model_index_new()};
	struct arena *keys = arena_new();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rows->n; i++)
		rc = sum_once(a, keys, &s, &rows->at[i], err);
	model_index_free(s.index);
	vec_done(&s.at);
	arena_free(keys);
	return rc;
}
