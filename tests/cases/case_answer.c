/* case_answer - what audit cases expect of fixes and of what fits. */
#include "tests/cases/case_answer.h"

#include "inventory/audit/fit.h"
#include "inventory/audit/fix.h"

#include <math.h>
#include <string.h>

static const struct audit_fix *find_fix(const struct audit_fixes *list, const char *kind)
{
	vec_each(list, const struct audit_fix, f)
		if (kind && strcmp(fix_kind_name(f->kind), kind) == 0)
			return f;
	return NULL;
}

static void check_fix(struct tally *t, const char *name, const struct yaml_node *want,
	const struct audit_fixes *list)
{
	const char *kind = case_text(want, "kind"), *after = case_text(want, "after");
	const char *says = case_text(want, "says");
	const struct audit_fix *f = find_fix(list, kind);
	const double watts = case_number(want, "watts", NAN), unit = case_number(want, "unit", NAN);

	if (case_text(want, "absent")) {
		case_report(t, !f, name, "fix %s: expected none, got '%s'", kind ? kind : "?",
			f ? f->text : "none");
		return;
	}
	if (!f) {
		case_report(t, false, name, "fix %s: none is offered", kind ? kind : "?");
		return;
	}
	if (after)
		case_report(t, strcmp(after, audit_verdict_name(f->after)) == 0, name,
			"fix %s after: expected %s, got %s", kind, after,
			audit_verdict_name(f->after));
	if (!isnan(watts))
		case_report(t, case_near(watts, f->watts, 1e-9), name,
			"fix %s watts: expected %g, got %g", kind, watts, f->watts);
	if (!isnan(unit))
		case_report(t, (double)f->unit == unit, name, "fix %s unit: expected %g, got %u",
			kind, unit, f->unit);
	if (says)
		case_report(t, strstr(f->text, says) != NULL, name, "fix %s: expected '%s' in '%s'",
			kind, says, f->text);
}

void case_fixes(struct tally *t, const char *name, const struct yaml_node *want,
	const struct audit *audit, const struct audit_opts *o)
{
	struct audit_fixes list = VEC_INIT;
	struct arena *a = arena_new();
	struct err err;

	if (fix_find(a, audit, o, audit->racks.at[0].rack, &list, &err) < 0)
		case_report(t, false, name, "%s", err.msg);
	else
		for (unsigned i = 0; i < want->n; i++)
			check_fix(t, name, want->item[i], &list);
	vec_done(&list);
	arena_free(a);
}

static void check_count(struct tally *t, const char *name, const struct yaml_node *want,
	const char *key, double got)
{
	const double number = case_number(want, key, NAN);

	if (!isnan(number))
		case_report(
			t, number == got, name, "fit %s: expected %g, got %g", key, number, got);
}

static void check_fit(
	struct tally *t, const char *name, const struct yaml_node *want, const struct fit *f)
{
	const struct fit_rack *r = &f->racks.at[0];
	const char *limit = case_text(want, "limit"), *move = case_text(want, "move");
	const char *says = case_text(want, "says");
	const char *got = r->limit == RULE_N ? "none" : audit_rule_name(r->limit);

	check_count(t, name, want, "total", f->total);
	check_count(t, name, want, "given_back", f->given_back);
	check_count(t, name, want, "bound", r->bound);
	check_count(t, name, want, "move_to", r->move_to);
	check_count(t, name, want, "then_at", r->then_at);
	if (f->places.n)
		check_count(t, name, want, "first_unit", f->places.at[0].unit);
	if (limit)
		case_report(t, strcmp(limit, got) == 0, name, "fit limit: expected %s, got %s",
			limit, got);
	if (move)
		case_report(t,
			r->move != MODEL_NONE &&
				strcmp(move, f->model->devices.at[r->move].name) == 0,
			name, "fit move: expected %s, got %s", move,
			r->move == MODEL_NONE ? "none" : f->model->devices.at[r->move].name);
	if (says)
		case_report(t, strstr(r->text, says) != NULL, name, "fit: expected '%s' in '%s'",
			says, r->text);
}

void case_fit(struct tally *t, const char *name, const struct yaml_node *want,
	const struct model *m, const struct audit_opts *o)
{
	const char *type = case_text(want, "type");
	const size_t row = type ? model_find_type(m, type) : MODEL_NONE;
	struct fit f;
	struct err err;

	if (fit_find(m, o, row, (unsigned)case_number(want, "count", 0), &f, &err) < 0) {
		case_report(t, false, name, "%s", err.msg);
		return;
	}
	check_fit(t, name, want, &f);
	fit_done(&f);
}
