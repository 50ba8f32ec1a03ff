/* case_audit - audit cases: a site, changes of it, what the audit must say. */
#include "agent/base/buf.h"
#include "inventory/audit/audit.h"
#include "inventory/import/import.h"
#include "tests/cases/case_answer.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 0.005
#define SITE_MAX  ((size_t)1 << 20)

struct question {
	struct tally *t;
	const char *name;
	const struct yaml_node *node;
	const struct model *m;
	struct audit *audit;
};

/* --- the site's text --- */

/* Replaces what each edit names; false when it is not there. */
static bool edit_text(struct str text, const struct yaml_node *edits, struct buf *out)
{
	AUTO_BUF now = {0};

	buf_init(&now, SITE_MAX);
	buf_add_str(&now, text);
	for (unsigned i = 0; edits && i < edits->n; i++) {
		const char *from = case_text(edits->item[i], "from");
		const char *to = case_text(edits->item[i], "to");
		struct str rest = buf_str(&now);
		bool found = false;
		AUTO_BUF next = {0};

		buf_init(&next, SITE_MAX);
		if (!from || !*from || !to)
			return false;
		for (;;) {
			const size_t at = str_find_str(rest, str_of(from));

			if (at == STR_NONE)
				break;
			found = true;
			buf_add_str(&next, str_first(rest, at));
			buf_add_text(&next, to);
			rest = str_from(rest, at + strlen(from));
		}
		if (!found)
			return false;
		buf_add_str(&next, rest);
		buf_clear(&now);
		buf_add_str(&now, buf_str(&next));
	}
	buf_add_str(out, buf_str(&now));
	return buf_ok(out);
}

/* --- what is expected --- */

static const struct finding *find_finding(const struct question *q, const struct yaml_node *want)
{
	const char *rule = case_text(want, "rule"), *subject = case_text(want, "subject");

	vec_each(&q->audit->findings, const struct finding, f) {
		if (!rule || strcmp(audit_rule_name(f->rule), rule) != 0)
			continue;
		if (!subject || strcmp(audit_name(q->audit->arena, q->m, f->subject), subject) == 0)
			return f;
	}
	return NULL;
}

static void check_word(
	const struct question *q, const struct yaml_node *want, const char *key, const char *got)
{
	const char *word = case_text(want, key);

	if (word)
		case_report(q->t, got && strcmp(word, got) == 0, q->name,
			"%s %s: expected %s, got %s",
			case_text(want, "rule") ? case_text(want, "rule") : "rack", key, word,
			got ? got : "nothing");
}

static void check_number(
	const struct question *q, const struct yaml_node *want, const char *key, double got)
{
	const double number = case_number(want, key, NAN);

	if (!isnan(number))
		case_report(q->t, case_near(number, got, case_number(want, "tolerance", TOLERANCE)),
			q->name, "%s %s: expected %g, got %.6g, error %.3f %%",
			case_text(want, "rule") ? case_text(want, "rule") : "rack", key, number,
			got, 100 * fabs(got / number - 1));
}

static void check_finding(const struct question *q, const struct yaml_node *want)
{
	const struct finding *f = find_finding(q, want);
	const char *rule = case_text(want, "rule"), *absent = case_text(want, "absent");
	const char *says = case_text(want, "says");

	if (rule && audit_rule_find(rule) == RULE_N) {
		case_report(q->t, false, q->name, "there is no rule '%s'", rule);
	} else if (absent) {
		case_report(q->t, !f, q->name, "%s: expected nothing, got %s", rule ? rule : "?",
			f ? f->text : "nothing");
	} else if (!f) {
		case_report(q->t, false, q->name, "%s: no finding", rule ? rule : "?");
	} else {
		check_word(q, want, "verdict", audit_verdict_name(f->verdict));
		check_word(q, want, "line", f->line);
		check_word(q, want, "unit", f->unit);
		check_word(q, want, "loss", audit_name(q->audit->arena, q->m, f->loss));
		check_number(q, want, "value", f->value);
		check_number(q, want, "limit", f->limit);
		if (says)
			case_report(q->t, strstr(f->text, says) != NULL, q->name,
				"%s: expected '%s' in '%s'", rule, says, f->text);
	}
}

static const struct audit_rack *rack_of(const struct question *q)
{
	const char *name = case_text(q->node, "rack");

	vec_each(&q->audit->racks, const struct audit_rack, r)
		if (!name || strcmp(q->m->racks.at[r->rack].name, name) == 0)
			return r;
	return NULL;
}

static void check_rack(const struct question *q)
{
	const struct audit_rack *r = rack_of(q);
	const struct yaml_node *figures = yaml_get(q->node, "figures");
	const bool whole = !case_text(q->node, "rack");

	if (!r) {
		case_report(q->t, false, q->name, "there is no such rack");
		return;
	}
	check_word(
		q, q->node, "verdict", audit_verdict_name(whole ? q->audit->verdict : r->verdict));
	check_word(q, q->node, "binding",
		r->binding == MODEL_NONE ? "none"
					 : audit_rule_name(q->audit->findings.at[r->binding].rule));
	check_number(q, figures, "watts", r->watts);
	check_number(q, figures, "heat_w", r->heat_w);
	check_number(q, figures, "room_w", r->room_w);
	check_number(q, figures, "liquid_w", r->liquid_w);
	check_number(q, figures, "cfm", r->cfm);
	check_number(q, figures, "kg", r->kg);
	check_number(q, figures, "floor_kpa", r->floor_kpa);
	check_number(q, figures, "units_free", r->units_free);
	check_number(q, figures, "units_gap", r->units_gap);
}

static void ask(struct question *q)
{
	const struct yaml_node *expect = yaml_get(q->node, "expect");
	const struct yaml_node *lose = yaml_get(q->node, "lose");
	const char *basis = case_text(q->node, "basis");
	struct case_value names[AUDIT_LOSE_MAX];
	struct audit_subject lost[AUDIT_LOSE_MAX];
	struct audit_opts o = {.policy = case_text(q->node, "policy"), .lose = lost};
	struct audit audit = {0};
	struct err err;
	int rc = 0;

	o.basis = basis ? (enum power_basis)model_word(MODEL_BASES, basis) : BASIS_MAX;
	o.n_lose = case_values(lose, names, AUDIT_LOSE_MAX);
	for (size_t i = 0; i < o.n_lose && rc == 0; i++)
		rc = audit_find(q->m, names[i].word, &lost[i], &err);
	if (rc == 0)
		rc = audit_run(q->m, &o, &audit, &err);
	if (rc < 0) {
		case_report(q->t, false, q->name, "%s", err.msg);
		return;
	}
	q->audit = &audit;
	check_rack(q);
	for (unsigned i = 0; expect && i < expect->n; i++)
		check_finding(q, expect->item[i]);
	if (yaml_get(q->node, "fixes"))
		case_fixes(q->t, q->name, yaml_get(q->node, "fixes"), &audit, &o);
	if (yaml_get(q->node, "fit"))
		case_fit(q->t, q->name, yaml_get(q->node, "fit"), q->m, &o);
	audit_done(&audit);
}

static void run_question(struct tally *t, struct str site, const struct yaml_node *node)
{
	struct question q = {.t = t, .name = case_text(node, "name"), .node = node};
	const char *refused = case_text(node, "refused");
	struct err_list errors = {0};
	struct model *m = NULL;
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, SITE_MAX);
	if (!edit_text(site, yaml_get(node, "edit"), &text)) {
		case_report(t, false, q.name, "an edit finds nothing to replace");
		return;
	}
	rc = import_site_text(t->file, buf_str(&text), &m, &errors);
	if (refused)
		case_report(t, rc < 0 && strstr(errors.list.at[0].msg, refused), q.name,
			"expected refused with '%s', got %s", refused,
			rc < 0 ? errors.list.at[0].msg : "a site");
	else if (rc < 0)
		case_report(t, false, q.name, "line %u of the site: %s", errors.list.at[0].line,
			errors.list.at[0].msg);
	q.m = m;
	if (rc == 0 && !refused)
		ask(&q);
	model_free(m);
	err_list_done(&errors);
}

void case_audits(struct tally *t, const struct yaml_doc *doc)
{
	const struct yaml_node *site = yaml_get(doc->root, "site");
	const struct yaml_node *audits = yaml_get(doc->root, "audits");

	if (site->kind != YAML_SCALAR || !audits || audits->kind != YAML_LIST || audits->n == 0)
		case_report(t, false, "file", "'site' is a text and 'audits' a list");
	else
		for (unsigned i = 0; i < audits->n; i++)
			run_question(t, site->text, audits->item[i]);
}
