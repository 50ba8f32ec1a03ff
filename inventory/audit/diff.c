/* diff - both sides as sorted lines, walked together. */
#include "inventory/audit/diff.h"

#include <math.h>
#include <string.h>

static const char *const KINDS[DIFF_N] = {
	"rack_new", "rack_gone", "rack", "new", "gone", "verdict", "value"};

const char *diff_kind_name(enum diff_kind k)
{
	return k < DIFF_N ? KINDS[k] : "?";
}

/* A rack (rule RULE_N) or a finding of one. */
struct line {
	const char *rack; /* NULL: the site */
	enum audit_rule rule;
	const char *subject;
	enum audit_verdict verdict;
	const struct finding *finding;
};
struct lines vec(struct line);

static int compare(const struct line *a, const struct line *b)
{
	int c;

	if (!a->rack || !b->rack)
		c = (a->rack == NULL) - (b->rack == NULL);
	else
		c = model_compare_names(a->rack, b->rack);
	if (c == 0 && a->rule != b->rule)
		c = a->rule == RULE_N ? -1 : b->rule == RULE_N ? 1 : a->rule < b->rule ? -1 : 1;
	return c == 0 && a->subject && b->subject ? model_compare_names(a->subject, b->subject) : c;
}

static int by_key(const void *a, const void *b)
{
	return compare(a, b);
}

static void list_lines(struct arena *arena, const struct audit *a, struct lines *out)
{
	vec_each(&a->racks, const struct audit_rack, r)
		*vec_push(out) =
			(struct line){.rack = arena_strdup(arena, a->model->racks.at[r->rack].name),
				.rule = RULE_N,
				.verdict = r->verdict};
	vec_each(&a->findings, const struct finding, f) {
		const char *rack = f->rack == MODEL_NONE ? NULL : a->model->racks.at[f->rack].name;

		*vec_push(out) = (struct line){.rack = arena_strdup(arena, rack),
			.rule = f->rule,
			.subject = audit_name(arena, a->model, f->subject),
			.verdict = f->verdict,
			.finding = f};
	}
	vec_sort(out, by_key);
}

static bool moved(const struct finding *a, const struct finding *b)
{
	if (isnan(a->value) || isnan(b->value))
		return isnan(a->value) != isnan(b->value);
	return fabs(a->value - b->value) > DIFF_SHARE * fmax(fabs(a->value), fabs(b->value));
}

static void say(
	struct audit_diff *d, enum diff_kind kind, const struct line *a, const struct line *b)
{
	const struct line *now = b ? b : a;
	struct audit_change *c = vec_push(&d->changes);

	*c = (struct audit_change){.kind = kind,
		.rack = now->rack,
		.subject = now->subject,
		.rule = now->rule,
		.before = a ? a->verdict : AUDIT_PASS,
		.after = b ? b->verdict : AUDIT_PASS,
		.was = a && a->finding ? a->finding->value : MODEL_UNSET,
		.is = b && b->finding ? b->finding->value : MODEL_UNSET,
		.unit = now->finding ? arena_strdup(d->arena, now->finding->unit) : "",
		.text = now->finding ? arena_strdup(d->arena, now->finding->text) : ""};
}

static void say_gone(struct audit_diff *d, const struct line *a)
{
	if (a->rule == RULE_N)
		say(d, DIFF_RACK_GONE, a, NULL);
	else if (a->verdict != AUDIT_PASS)
		say(d, DIFF_GONE, a, NULL);
}

static void say_new(struct audit_diff *d, const struct line *b)
{
	if (b->rule == RULE_N)
		say(d, DIFF_RACK_NEW, NULL, b);
	else if (b->verdict != AUDIT_PASS)
		say(d, DIFF_NEW, NULL, b);
}

static void say_both(struct audit_diff *d, const struct line *a, const struct line *b)
{
	if (a->rule == RULE_N) {
		d->better += b->verdict < a->verdict;
		d->worse += b->verdict > a->verdict;
		if (a->verdict != b->verdict)
			say(d, DIFF_RACK, a, b);
	} else if (a->verdict != b->verdict) {
		say(d, DIFF_VERDICT, a, b);
	} else if (moved(a->finding, b->finding)) {
		say(d, DIFF_VALUE, a, b);
	}
}

void diff_make(const struct audit *before, const struct audit *after, struct audit_diff *out)
{
	struct lines a = VEC_INIT, b = VEC_INIT;
	size_t i = 0, k = 0;

	*out = (struct audit_diff){
		.arena = arena_new(), .before = before->verdict, .after = after->verdict};
	list_lines(out->arena, before, &a);
	list_lines(out->arena, after, &b);
	while (i < a.n || k < b.n) {
		const int c = i == a.n ? 1 : k == b.n ? -1 : compare(&a.at[i], &b.at[k]);

		if (c == 0)
			say_both(out, &a.at[i++], &b.at[k++]);
		else if (c < 0)
			say_gone(out, &a.at[i++]);
		else
			say_new(out, &b.at[k++]);
	}
	vec_done(&a);
	vec_done(&b);
}

void diff_done(struct audit_diff *d)
{
	if (!d)
		return;
	vec_done(&d->changes);
	if (d->arena)
		arena_free(d->arena);
	d->arena = NULL;
}
