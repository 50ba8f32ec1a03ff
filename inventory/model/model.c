/* model - storage, names and ranges of the site in memory. */
#include "inventory/model/model.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"

#include <ctype.h>
#include <string.h>

const char *const MODEL_ORIGINS[] = {
	"declared", "catalogue", "reported", "verified", "assumed", NULL};
const char *const MODEL_BASES[] = {"nameplate", "max", "capped", "measured", NULL};
const char *const MODEL_STATUSES[] = {"planned", "staged", "active", "offline", NULL};
const char *const MODEL_FACES[] = {"front", "rear", NULL};
const char *const MODEL_PORT_KINDS[] = {"ethernet", "infiniband", "power", "bmc", NULL};
/* The first word of these stands for "not stated" and is written in no file. */
const char *const MODEL_PHASES[] = {"-", "L1", "L2", "L3", "L1L2", "L2L3", "L3L1", "L1L2L3", NULL};
const char *const MODEL_VOLTS[] = {"-", "LL", "LN", NULL};
const char *const MODEL_PSU_CURVES[] = {"-", "gold", "platinum", "titanium", NULL};
const char *const MODEL_AIRFLOWS[] = {"-", "front-to-rear", "rear-to-front", "side", NULL};
const char *const MODEL_CONFIDENCES[] = {"-", "low", "medium", "high", NULL};

#define WORDS(list) ((sizeof(list) / sizeof *(list)) - 1)
_Static_assert(WORDS(MODEL_ORIGINS) == ORIGIN_N, "a word for each origin");
_Static_assert(WORDS(MODEL_BASES) == BASIS_N, "a word for each basis");
_Static_assert(WORDS(MODEL_STATUSES) == STATUS_N, "a word for each status");
_Static_assert(WORDS(MODEL_FACES) == FACE_N, "a word for each face");
_Static_assert(WORDS(MODEL_PORT_KINDS) == PORT_N, "a word for each kind of port");
_Static_assert(WORDS(MODEL_PHASES) == PHASE_N, "a word for each phase");
_Static_assert(WORDS(MODEL_PSU_CURVES) == CURVE_N, "a word for each curve");
_Static_assert(WORDS(MODEL_AIRFLOWS) == AIRFLOW_N, "a word for each airflow");
_Static_assert(WORDS(MODEL_CONFIDENCES) == CONFIDENCE_N, "a word for each confidence");

/* One part of a range expression: head[lo-hi]tail, or a plain name when there is no bracket. */
struct span {
	struct str head, tail;
	uint64_t lo, hi;
	int width;
};

static const char *word_at(const char *const *words, unsigned n, unsigned i)
{
	return i < n ? words[i] : "?";
}

static int parse_span(struct str part, struct span *sp, struct err *err)
{
	const size_t open = str_find(part, '['), close = str_find(part, ']');
	struct str inside, lo;

	if (open == STR_NONE || close == STR_NONE || close < open)
		return err_set(
			err, E_SYNTAX, "'" STR_FMT "' has an unmatched bracket", STR_ARG(part));
	sp->head = str_first(part, open);
	sp->tail = str_from(part, close + 1);
	inside = str_first(str_from(part, open + 1), close - open - 1);
	if (str_find(sp->tail, '[') != STR_NONE || str_find(sp->tail, ']') != STR_NONE)
		return err_set(
			err, E_SYNTAX, "'" STR_FMT "' has more than one bracket", STR_ARG(part));
	if (str_ends(inside, "-") || !str_next(&inside, '-', &lo) || lo.n > 6 || inside.n > 6 ||
		!str_to_u64(lo, &sp->lo) || !str_to_u64(inside.n ? inside : lo, &sp->hi))
		return err_set(err, E_SYNTAX,
			"'" STR_FMT "' has no range such as [0-7] in its bracket", STR_ARG(part));
	if (sp->hi < sp->lo)
		return err_set(
			err, E_SYNTAX, "the range in '" STR_FMT "' runs backwards", STR_ARG(part));
	sp->width = (int)lo.n;
	return 0;
}

static int expand_part(struct arena *a, struct str part, struct model_names *out, struct err *err)
{
	struct span sp;

	if (part.n == 0)
		return err_set(err, E_SYNTAX, "a name is missing in the range");
	if (str_find(part, '[') == STR_NONE && str_find(part, ']') == STR_NONE) {
		*vec_push(out) = arena_text(a, part);
		return 0;
	}
	if (parse_span(part, &sp, err) < 0)
		return -E_SYNTAX;
	if (sp.hi - sp.lo >= MODEL_RANGE_MAX)
		return err_set(err, E_LIMIT, "'" STR_FMT "' stands for more than %d names",
			STR_ARG(part), MODEL_RANGE_MAX);
	for (uint64_t v = sp.lo; v <= sp.hi; v++)
		*vec_push(out) = arena_printf(a, STR_FMT "%0*llu" STR_FMT, STR_ARG(sp.head),
			sp.width, (unsigned long long)v, STR_ARG(sp.tail));
	return 0;
}

int model_expand_range(struct arena *a, const char *range, struct model_names *out, struct err *err)
{
	struct str rest = str_of(range), part;
	int rc;

	if (rest.n == 0)
		return err_set(err, E_SYNTAX, "a range of names is empty");
	while (str_next(&rest, ',', &part)) {
		rc = expand_part(a, str_trim(part), out, err);
		if (rc < 0)
			return rc;
		if (out->n > MODEL_RANGE_MAX)
			return err_set(err, E_LIMIT, "'%s' stands for more than %d names", range,
				MODEL_RANGE_MAX);
	}
	return 0;
}

struct model *model_new(void)
{
	struct model *m = xcalloc(1, sizeof *m);

	m->arena = arena_new();
	m->site = "";
	m->terms.altitude_m = MODEL_UNSET;
	return m;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	vec_done(&m->locations);
	vec_done(&m->racks);
	vec_done(&m->zones);
	vec_done(&m->panels);
	vec_done(&m->feeds);
	vec_done(&m->pdus);
	vec_done(&m->outlets);
	vec_done(&m->types);
	vec_done(&m->templates);
	vec_done(&m->devices);
	vec_done(&m->ports);
	vec_done(&m->cords);
	vec_done(&m->cables);
	vec_done(&m->nodes);
	vec_done(&m->upses);
	vec_done(&m->generators);
	vec_done(&m->banks);
	vec_done(&m->units);
	vec_done(&m->reservations);
	vec_done(&m->roles);
	vec_done(&m->notes);
	arena_free(m->arena);
	free(m);
}

const struct fact_note *model_note(
	const struct model *m, unsigned noun, size_t row, const char *field)
{
	vec_each(&m->notes, const struct fact_note, note)
		if (note->noun == noun && note->row == row && strcmp(note->field, field) == 0)
			return note;
	return NULL;
}

size_t model_find_rack(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->racks.n; i++)
		if (strcmp(m->racks.at[i].name, name) == 0)
			return i;
	return MODEL_NONE;
}

size_t model_find_device(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->devices.n; i++)
		if (strcmp(m->devices.at[i].name, name) == 0)
			return i;
	return MODEL_NONE;
}

size_t model_find_type(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->types.n; i++)
		if (strcmp(m->types.at[i].name, name) == 0)
			return i;
	return MODEL_NONE;
}

/* Length of a run of digits and where its value begins, past leading zeros. */
static size_t digit_run(const char *s, const char **value)
{
	size_t n = 0, zeros = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	while (zeros + 1 < n && s[zeros] == '0')
		zeros++;
	*value = s + zeros;
	return n;
}

static int compare_numbers(const char **a, const char **b)
{
	const char *va, *vb;
	const size_t na = digit_run(*a, &va), nb = digit_run(*b, &vb);
	const size_t la = na - (size_t)(va - *a), lb = nb - (size_t)(vb - *b);
	int c = la != lb ? (la < lb ? -1 : 1) : memcmp(va, vb, la);

	*a += na;
	*b += nb;
	return c;
}

int model_compare_names(const char *a, const char *b)
{
	const char *const start_a = a, *const start_b = b;
	int c = 0;

	while (c == 0 && *a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			c = compare_numbers(&a, &b);
			continue;
		}
		c = (unsigned char)*a - (unsigned char)*b;
		a++;
		b++;
	}
	if (c == 0)
		c = (unsigned char)*a - (unsigned char)*b;
	if (c == 0) /* "01" and "1" are two names */
		c = strcmp(start_a, start_b);
	return (c > 0) - (c < 0);
}

const char *model_origin_name(enum fact_origin o)
{
	return word_at(MODEL_ORIGINS, ORIGIN_N, o);
}

const char *model_basis_name(enum power_basis b)
{
	return word_at(MODEL_BASES, BASIS_N, b);
}

const char *model_status_name(enum device_status s)
{
	return word_at(MODEL_STATUSES, STATUS_N, s);
}

const char *model_face_name(enum rack_face f)
{
	return word_at(MODEL_FACES, FACE_N, f);
}

const char *model_port_kind_name(enum port_kind k)
{
	return word_at(MODEL_PORT_KINDS, PORT_N, k);
}

int model_word(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}
