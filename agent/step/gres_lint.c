#include "agent/step/gres_lint.h"

#include "agent/base/buf.h"
#include "agent/base/fs.h"
#include "agent/base/hostlist.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CONF_MAX  (1u << 20)
#define TYPES_MAX 16
#define COUNT_MAX 100000u
#define TYPE_ROOM 64

/* GPUs of one Type, as one of the files has them; type "" for those without. */
struct amount {
	char type[TYPE_ROOM];
	unsigned count;
};

struct gpus {
	struct amount of[TYPES_MAX];
	unsigned n;
	bool lines, detect;
};

struct lint {
	const struct gres_node *node;
	json_t *findings;
};

/* --- Slurm's lists --- */

/* The next part between commas that stand outside of brackets. */
static bool next_part(struct str *list, struct str *part)
{
	unsigned depth = 0;
	size_t i = 0;

	if (list->n == 0)
		return false;
	for (; i < list->n && (list->p[i] != ',' || depth > 0); i++) {
		if (list->p[i] == '[')
			depth++;
		else if (list->p[i] == ']' && depth > 0)
			depth--;
	}
	*part = str_trim(str_first(*list, i));
	*list = str_from(*list, i < list->n ? i + 1 : i);
	return true;
}

/* "[0-7,9]" as two numbers at a time. */
static bool next_range(struct str *ranges, uint64_t *low, uint64_t *high)
{
	struct str one, first;
	size_t dash;

	if (!str_next(ranges, ',', &one))
		return false;
	dash = str_find(one, '-');
	first = dash == STR_NONE ? one : str_first(one, dash);
	if (!str_to_u64(first, low))
		return false;
	*high = *low;
	return dash == STR_NONE || str_to_u64(str_from(one, dash + 1), high);
}

/* Splits "n[1-2]-ib" into what stands before, in and behind the first brackets. */
static bool split_brackets(struct str part, struct str *head, struct str *inside, struct str *tail)
{
	const size_t open = str_find(part, '[');
	const size_t close = open == STR_NONE ? STR_NONE : str_find(str_from(part, open), ']');

	if (close == STR_NONE)
		return false;
	*head = str_first(part, open);
	*inside = str_first(str_from(part, open + 1), close - 1);
	*tail = str_from(part, open + close + 1);
	return true;
}

/* Of NodeName, where ALL stands for every node. */
static bool names_node(struct str list, struct str node)
{
	return str_is(list, "ALL") || hostlist_has(list, node);
}

unsigned gres_list_count(struct str list)
{
	struct str part, head, inside, tail;
	uint64_t low, high, sum = 0;

	while (next_part(&list, &part) && sum < COUNT_MAX) {
		if (!split_brackets(part, &head, &inside, &tail)) {
			sum += part.n > 0;
			continue;
		}
		while (next_range(&inside, &low, &high) && sum < COUNT_MAX)
			if (high >= low)
				sum += high - low < COUNT_MAX ? high - low + 1 : COUNT_MAX;
	}
	return sum < COUNT_MAX ? (unsigned)sum : COUNT_MAX;
}

/* --- the two files --- */

/* The value of KEY=, whose case does not count, in a line; {NULL, 0} without one. */
static struct str value_of_key(struct str line, const char *key)
{
	struct str word;

	while (str_next(&line, ' ', &word)) {
		const size_t equal = str_find(word, '=');

		if (equal == strlen(key) && strncasecmp(word.p, key, equal) == 0)
			return str_from(word, equal + 1);
	}
	return (struct str){NULL, 0};
}

/* The line without its comment, blanks for tabs. */
static struct str clean_line(struct str line, char *room, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < line.n && line.p[i] != '#' && n < size; i++)
		room[n++] = line.p[i] == '\t' || line.p[i] == '\r' ? ' ' : line.p[i];
	return (struct str){room, n};
}

static void add_gpus(struct gpus *g, struct str type, unsigned count)
{
	unsigned i = 0;

	while (i < g->n && !str_is(type, g->of[i].type))
		i++;
	if (i == TYPES_MAX)
		return;
	if (i == g->n) {
		snprintf(
			g->of[i].type, TYPE_ROOM, STR_FMT, STR_ARG(str_first(type, TYPE_ROOM - 1)));
		g->of[i].count = 0;
		g->n++;
	}
	g->of[i].count += count;
}

/* "gpu:h100:8(S:0-1),shard:16": the GPUs of it. */
static void read_gres(struct str gres, struct gpus *g)
{
	struct str part, word;

	while (str_next(&gres, ',', &part)) {
		struct str type = {"", 0};
		uint64_t count = 1;

		part = str_first(part, str_find(part, '('));
		if (!str_next(&part, ':', &word) || !str_is(word, "gpu"))
			continue;
		while (str_next(&part, ':', &word))
			if (!str_to_u64(word, &count))
				type = word;
		add_gpus(g, type, count < COUNT_MAX ? (unsigned)count : COUNT_MAX);
	}
}

/* What slurm.conf wants of the node; false when it does not name it. */
static bool read_slurm(struct str conf, struct str node, struct gpus *want, bool *has_type)
{
	struct str line, value;
	char room[4096];
	bool named = false;

	*has_type = false;
	while (str_line(&conf, &line)) {
		line = clean_line(line, room, sizeof room);
		value = value_of_key(line, "GresTypes");
		*has_type = *has_type || str_find_str(value, STR_LIT("gpu")) != STR_NONE;
		value = value_of_key(line, "NodeName");
		if (value.n == 0 || !names_node(value, node))
			continue;
		named = true;
		want->n = 0;
		read_gres(value_of_key(line, "Gres"), want);
	}
	return named;
}

static void read_gres_line(struct str line, struct gpus *have)
{
	const struct str files = value_of_key(line, "File"), count = value_of_key(line, "Count");
	struct str type = value_of_key(line, "Type");
	uint64_t n = 1;

	have->lines = true;
	if (files.n > 0)
		n = gres_list_count(files);
	else
		(void)str_to_u64(count, &n);
	add_gpus(have, type.p ? type : STR_LIT(""), n < COUNT_MAX ? (unsigned)n : COUNT_MAX);
}

static void read_gres_conf(struct str conf, struct str node, struct gpus *have)
{
	struct str line, value;
	char room[4096];

	while (str_line(&conf, &line)) {
		line = clean_line(line, room, sizeof room);
		value = value_of_key(line, "NodeName");
		if (value.n > 0 && !names_node(value, node))
			continue;
		value = value_of_key(line, "AutoDetect");
		if (value.n > 0)
			have->detect = !(value.n == 3 && strncasecmp(value.p, "off", 3) == 0);
		if (str_is(value_of_key(line, "Name"), "gpu"))
			read_gres_line(line, have);
	}
}

/* --- findings --- */

__attribute__((format(printf, 3, 4))) static void find(
	struct lint *l, const char *level, const char *fmt, ...)
{
	json_t *one = json_object();
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	json_put_str(one, "level", level);
	json_put_str(one, "node", l->node->name);
	json_put_str(one, "text", text);
	json_array_append_new(l->findings, one);
}

/* Slurm compares in small letters, blanks as underscores. */
static bool type_fits(const struct gres_node *node, const char *type, char *name, size_t size)
{
	char small[TYPE_ROOM];
	size_t n = 0;

	for (; node->gpu[n] && n + 1 < size; n++)
		name[n] = node->gpu[n] == ' ' ? '_' : (char)tolower((unsigned char)node->gpu[n]);
	name[n] = '\0';
	for (n = 0; type[n] && n + 1 < sizeof small; n++)
		small[n] = (char)tolower((unsigned char)type[n]);
	small[n] = '\0';
	return strstr(name, small) != NULL;
}

/* True when a type is wrong: then its count says nothing. */
static bool judge_types(struct lint *l, const struct gpus *g, const char *file)
{
	char name[128];
	bool wrong = false;

	for (unsigned i = 0; l->node->gpu[0] && i < g->n; i++) {
		if (type_fits(l->node, g->of[i].type, name, sizeof name))
			continue;
		wrong = true;
		find(l, "error", "%s: type '%s' of %s is no substring of '%s'", l->node->name,
			g->of[i].type, file, name);
	}
	return wrong;
}

/* How many of the type would be registered; a type that is not said takes any. */
static unsigned registers(const struct gpus *have, const struct gres_node *node, const char *type)
{
	unsigned sum = 0;

	if (!have->lines)
		return have->detect ? node->gpus : 0;
	for (unsigned i = 0; i < have->n; i++)
		if (!type[0] || !have->of[i].type[0] || strcasecmp(have->of[i].type, type) == 0)
			sum += have->of[i].count;
	return sum;
}

static void judge_count(struct lint *l, const struct gpus *have, const struct amount *want)
{
	const unsigned got = registers(have, l->node, want->type);
	const bool unknown = !have->lines && have->detect && l->node->gpus == 0;

	if (!have->lines && !have->detect)
		find(l, "error", "%s: gres.conf has neither its GPUs nor AutoDetect",
			l->node->name);
	else if (!unknown && got < want->count)
		find(l, "error",
			"%s would register %u: 'gres/gpu count reported lower than configured (%u < %u)'",
			l->node->name, got, got, want->count);
}

static void judge_more(struct lint *l, const struct gpus *want, const struct gpus *have)
{
	unsigned wanted = 0, named = 0;

	for (unsigned i = 0; i < want->n; i++)
		wanted += want->of[i].count;
	for (unsigned i = 0; i < have->n; i++)
		named += have->of[i].count;
	if (l->node->gpus > named)
		named = l->node->gpus;
	if (named > wanted)
		find(l, "warning", "%s has %u GPUs and %u are configured: Slurm ignores the others",
			l->node->name, named, wanted);
}

void gres_lint(
	struct str slurm_conf, struct str gres_conf, const struct gres_node *node, json_t *findings)
{
	struct lint l = {node, findings};
	struct gpus want = {.n = 0}, have = {.n = 0};
	bool has_type, wrong;

	if (!read_slurm(slurm_conf, str_of(node->name), &want, &has_type))
		return;
	read_gres_conf(gres_conf, str_of(node->name), &have);
	if (want.n > 0 && !has_type)
		find(&l, "error", "%s has Gres=gpu, and GresTypes does not name gpu", node->name);
	wrong = judge_types(&l, &want, "slurm.conf");
	wrong = judge_types(&l, &have, "gres.conf") || wrong;
	for (unsigned i = 0; i < want.n && !wrong; i++)
		judge_count(&l, &have, &want.of[i]);
	if (!wrong)
		judge_more(&l, &want, &have);
}

/* A file that is not there yet has nothing in it. */
static int read_conf(
	const struct step_env *env, const json_t *path, struct buf *text, struct err *err)
{
	const int rc = fs_read(env->root, json_string_value(path), text, err);

	return rc == -E_NOTFOUND ? 0 : rc;
}

int probe_gres_lint(
	const struct step_env *env, const json_t *args, struct value *out, struct err *err)
{
	const json_int_t gpus = json_integer_value(json_array_get(args, 4));
	const struct gres_node node = {json_string_value(json_array_get(args, 2)),
		json_string_value(json_array_get(args, 3)),
		gpus < 0 ? 0 : (unsigned)(gpus < COUNT_MAX ? gpus : COUNT_MAX)};
	json_t *findings;
	AUTO_BUF slurm = {0};
	AUTO_BUF gres = {0};
	int rc;

	buf_init(&slurm, CONF_MAX);
	buf_init(&gres, CONF_MAX);
	rc = read_conf(env, json_array_get(args, 0), &slurm, err);
	if (rc == 0)
		rc = read_conf(env, json_array_get(args, 1), &gres, err);
	if (rc < 0)
		return rc;
	findings = json_array();
	gres_lint(buf_str(&slurm), buf_str(&gres), &node, findings);
	*out = value_of(findings);
	return 0;
}
