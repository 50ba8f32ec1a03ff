/* import - every refusal with its place, all errors in one pass, and the round trip of export. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "tests/unit/import/same_rows.h"
#include "tests/unit/t.h"

#ifndef EXAMPLES
#define EXAMPLES TEST_DIR "/../../../inventory/examples"
#endif

static const char BASE[] = "site: lab\n"                                                     /* 1 */
			   "locations: [hall]\n"                                             /* 2 */
			   "panels:\n"                                                       /* 3 */
			   "  - {name: P1, location: hall}\n"                                /* 4 */
			   "racks:\n"                                                        /* 5 */
			   "  - name: R1\n"                                                  /* 6 */
			   "    height_u: 20\n"                                              /* 7 */
			   "    feeds:\n"                                                    /* 8 */
			   "      - {name: A, panel: P1, volts: 400, phases: 3, amps: 32}\n" /* 9 */
			   "      - {name: B, volts: 230, phases: 1, amps: 16}\n"       /* 10 */
			   "    pdus:\n"                                                /* 11 */
			   "      - {name: PA, feed: A, outlets: {C19: \"[1-4]\"}}\n"   /* 12 */
			   "      - {name: PB, feed: B, outlets: {C13: \"[1-4]\"}}\n"   /* 13 */
			   "device_types:\n"                                            /* 14 */
			   "  - name: box\n"                                            /* 15 */
			   "    height_u: 4\n"                                          /* 16 */
			   "    watts: {max: 2000}\n"                                   /* 17 */
			   "    psus: 2\n"                                              /* 18 */
			   "    ports: {ethernet: \"eth[0-1]\", infiniband: ib0}\n"     /* 19 */
			   "devices:\n"                                                 /* 20 */
			   "  - name: box1\n"                                           /* 21 */
			   "    type: box\n"                                            /* 22 */
			   "    rack: R1\n"                                             /* 23 */
			   "    position: 1\n"                                          /* 24 */
			   "    cords: {psu1: PA/1, psu2: PB/1}\n"                      /* 25 */
			   "    node: {address: 10.0.0.1, role: gpu}\n"                 /* 26 */
			   "  - name: box2\n"                                           /* 27 */
			   "    type: box\n"                                            /* 28 */
			   "    rack: R1\n"                                             /* 29 */
			   "    position: 5\n"                                          /* 30 */
			   "    cords: {psu1: PA/2}\n"                                  /* 31 */
			   "cables:\n"                                                  /* 32 */
			   "  - {a: box1/eth0, b: box2/eth0, type: dac, length_m: 2}\n" /* 33 */
			   "nodes:\n"                                                   /* 34 */
			   "  - {name: bare, address: 10.0.0.9}\n";                     /* 35 */

/* text with the first old replaced by new_; the caller frees it. */
static char *edit(const char *text, const char *old, const char *new_)
{
	const char *at = strstr(text, old);

	if (!at)
		fail_msg("'%s' is not in the base", old);
	return at ? xasprintf("%.*s%s%s", (int)(at - text), text, new_, at + strlen(old)) : NULL;
}

static int import(const char *text, struct model **m, struct err_list *e)
{
	return import_site_text("site.yaml", str_of(text), m, e);
}

static void show(const struct err_list *e)
{
	vec_each(&e->list, struct err, it)
		print_message("  %u:%u %s [%s]\n", it->line, it->col, it->msg, it->hint);
}

/* One edit, one error. */
static const struct refusal {
	const char *old, *new_;
	enum ec code;
	unsigned line;
	const char *says, *hints;
	unsigned more; /* errors that follow from it */
} REFUSALS[] = {
	{"site: lab", "sita: lab", E_SCHEMA, 1, "the file does not name its site", "'site: NAME'",
		1},
	{"site: lab", "site: lab\nrakcs: []", E_SCHEMA, 2, "unknown key 'rakcs'", "'racks'", 0},
	{"site: lab", "site: lab\nabout: [a]", E_SCHEMA, 2, "'about' must be", NULL, 0},
	{"height_u: 20", "height: 20", E_SCHEMA, 7, "unknown key 'height'",
		"did you mean 'height_u'?", 0},
	{"height_u: 20", "height_u: 20U", E_SCHEMA, 7, "'20U'", "the unit is U", 0},
	{"height_u: 20", "height_u: 0", E_SCHEMA, 7, "'height_u'", NULL, 0},
	{"height_u: 20", "height_u: 7", E_CONFLICT, 30,
		"'box2' takes units 5 to 8, but rack 'R1' has 7", NULL, 0},
	{"panel: P1", "panel: P2", E_NOTFOUND, 9, "there is no panel 'P2'", "did you mean 'P1'?",
		0},
	{"volts: 400", "volts: 230", E_SCHEMA, 9, "three phases; 230 V is the voltage of one",
		"line to line: 400", 0},
	{"volts: 400", "volts: 120", E_SCHEMA, 9, "three phases", "208", 0},
	{"volts: 400", "volts: 40", E_SCHEMA, 9, "expected 190 to 1000", NULL, 0},
	{"volts: 230", "volts: 400", E_SCHEMA, 10, "one phase; 400 V is the voltage between three",
		NULL, 0},
	{"volts: 230", "volts: -230", E_SCHEMA, 10, "from 0 to 1000000, not '-230'", NULL, 0},
	{"volts: 400, ", "", E_SCHEMA, 9, "feed 'A' states no volts", NULL, 0},
	{"volts: 400", "volts: 400V", E_SCHEMA, 9, "'400V'", "a plain number; the unit is V", 0},
	{", amps: 16", "", E_SCHEMA, 10, "feed 'B' states no amps", "16, 32, 63", 0},
	{"amps: 16", "amps: -16", E_SCHEMA, 10, "from 0 to 1000000, not '-16'", NULL, 0},
	{"amps: 16", "amps: 0", E_SCHEMA, 10, "0 A", NULL, 0},
	{"phases: 3", "phases: 2", E_SCHEMA, 9, "2 phases, expected 1 or 3", NULL, 0},
	{"phases: 3, ", "", E_SCHEMA, 9, "the feed has no 'phases'", NULL, 0},
	{"amps: 32", "amps: 32, max_utilization: 80", E_SCHEMA, 9, "at most 1", NULL, 0},
	{"name: B,", "name: A,", E_EXISTS, 10, "feed 'A' is there already (line 9)", NULL, 1},
	{"feed: A", "feed: AA", E_NOTFOUND, 12, "there is no feed 'AA'", "did you mean 'A'?", 0},
	{"feed: A, ", "", E_SCHEMA, 12, "the PDU has no 'feed'", NULL, 0},
	{"{C19: \"[1-4]\"}", "{C19: \"[1-9999]\"}", E_LIMIT, 12, "more than 4096", NULL, 0},
	{"{C19: \"[1-4]\"}", "{C19: \"[4-1]\"}", E_SYNTAX, 12, "runs backwards", NULL, 0},
	{"{C19: \"[1-4]\"}", "{C15x: \"[1-4]\"}", E_SCHEMA, 12, "'C15x' is no outlet of IEC 60320",
		"'C15'", 0},
	{"{C19: \"[1-4]\"}", "{C19: \"[1-4],2\"}", E_EXISTS, 12, "outlet '2' is there already",
		NULL, 0},
	{"{C19: \"[1-4]\"}", "[{names: \"[1-4]\", phase: 4}]", E_SCHEMA, 12, "'4' is no phase",
		NULL, 0},
	{"{C19: \"[1-4]\"}", "[{names: \"[1-4]\", tpe: C19}]", E_SCHEMA, 12, "unknown key 'tpe'",
		"'type'", 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpu: {recipe: [base]}}", E_SCHEMA, 3,
		"unknown key 'recipe'", "'recipes'", 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpu: {recipes: base}}", E_SCHEMA, 3,
		"'recipes' must be a list", "[base, node-exporter]", 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpu: {recipes: [base, a/b]}}", E_SCHEMA,
		3, "an item of 'recipes' is no name", NULL, 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpu: {recipes: [base, base]}}", E_EXISTS,
		3, "'recipes' has 'base' twice", NULL, 0},
	{"locations: [hall]", "locations: [hall]\nroles: [gpu]", E_SCHEMA, 3,
		"'roles' must be a map", NULL, 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpuu: {}}", E_NOTFOUND, 27,
		"node 'box1' has role 'gpu', which 'roles' does not describe", "'gpuu'", 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpu: {check: {every: 5}}}", E_SCHEMA, 3,
		"'5' is no period", "30m", 0},
	{"locations: [hall]", "locations: [hall]\nroles: {gpu: {check: {window: noon}}}", E_SCHEMA,
		3, "'noon' is no window", "22:00-05:30", 0},
	{"locations: [hall]", "locations: [hall]\nvars: [a]", E_SCHEMA, 3, "'vars' must be a map",
		"ntp_server", 0},
	{"locations: [hall]", "locations: [{name: hall, vars: {k: {$secrt: x}}}]", E_SCHEMA, 2,
		"'$secrt' is no way to name a secret", "{$secret: NAME}", 0},
	{"role: gpu}", "role: gpu, vars: {k: {$secret: x, y: 1}}}", E_SCHEMA, 26,
		"'$secret' is no way to name a secret", NULL, 0},
	{"height_u: 4\n", "hight_u: 4\n    height_u: 4\n", E_SCHEMA, 16, "unknown key 'hight_u'",
		"'height_u'", 0},
	{"watts: {max: 2000}", "watts: 2kW", E_SCHEMA, 17, "'2kW'", "the unit is W", 0},
	{"watts: {max: 2000}", "watts: {maximum: 2000}", E_SCHEMA, 17, "unknown key 'maximum'",
		NULL, 0},
	{"psus: 2", "psus: 2\n    psus_needed: 3", E_CONFLICT, 19, "needs 3 PSUs but has 2", NULL,
		0},
	{"ethernet: \"eth[0-1]\"", "ethernt: \"eth[0-1]\", ethernet: \"eth[0-1]\"", E_SCHEMA, 19,
		"'ethernt' is no kind of port", "'ethernet'", 0},
	{"infiniband: ib0", "infiniband: eth0", E_EXISTS, 19, "the type has port 'eth0' already",
		NULL, 0},
	{"infiniband: ib0", "infiniband: psu2", E_EXISTS, 19, "the type has port 'psu2' already",
		NULL, 0},
	{"name: box2", "name: box1", E_EXISTS, 27, "device 'box1' is there already (line 21)", NULL,
		1},
	{"    position: 5", "    position: 4", E_CONFLICT, 30,
		"'box2' and 'box1' (line 21) both take unit 4 of rack 'R1'", "units 1 to 4", 0},
	{"    position: 5", "    position: 18", E_CONFLICT, 30,
		"units 18 to 21, but rack 'R1' has 20", NULL, 0},
	{"    position: 5", "    position: 5\n    status: live", E_SCHEMA, 31,
		"'live' is no status", "planned, staged, active, offline", 0},
	{"    type: box\n    rack: R1\n    position: 5", "    type: bx\n    position: 5",
		E_NOTFOUND, 28, "there is no device type 'bx'", "'box'", 0},
	{"    rack: R1\n    position: 5", "    position: 5", E_CONFLICT, 29,
		"'box2' has a position but no rack", NULL, 0},
	{"psu1: PA/2", "psu3: PA/2", E_CONFLICT, 31, "'box2' is a 'box' and has 2 PSUs, no 'psu3'",
		NULL, 0},
	{"psu1: PA/2", "pse1: PA/2", E_NOTFOUND, 31, "'box2' has no port 'pse1'", "'psu1'", 0},
	{"psu1: PA/2", "eth0: PA/2", E_CONFLICT, 31, "takes no cord", NULL, 0},
	{"psu1: PA/2", "psu1: PA/1", E_CONFLICT, 31,
		"outlet 'PA/1' has the cord of 'box1/psu1' already (line 25)", "a free outlet", 0},
	{"psu1: PA/2", "psu1: PC/2", E_NOTFOUND, 31, "there is no PDU 'PC'", "did you mean 'PA'?",
		0},
	{"psu1: PA/2", "psu1: PA/7", E_NOTFOUND, 31, "'PA' has no outlet '7'", NULL, 0},
	{"psu1: PA/2", "psu1: PA", E_SCHEMA, 31, "must name a PDU and an outlet", "PDU-A/1", 0},
	{"a: box1/eth0", "a: box9/eth0", E_NOTFOUND, 33, "there is no device 'box9'", "'box1'", 0},
	{"a: box1/eth0", "a: box1/eth9", E_NOTFOUND, 33, "'box1' has no port 'eth9'", "'eth0'", 0},
	{"a: box1/eth0, ", "", E_SCHEMA, 33, "'a' must name a device and a port", "gpu01/eth0", 0},
	{"a: box1/eth0", "a: box1", E_SCHEMA, 33, "'box1' names no port", NULL, 0},
	{"a: box1/eth0", "a: box2/eth0", E_CONFLICT, 33, "joins 'box2/eth0' to itself", NULL, 0},
	{"a: box1/eth0", "a: box1/ib0", E_CONFLICT, 33,
		"'box1/ib0' (infiniband) to 'box2/eth0' (ethernet)", NULL, 0},
	{"a: box1/eth0", "a: box1/psu1", E_CONFLICT, 33, "is a power port and takes no cable",
		"'cords'", 0},
	{"length_m: 2}", "length_m: -2}", E_SCHEMA, 33, "'length_m'", NULL, 0},
	{"length_m: 2}", "length_m: 2m}", E_SCHEMA, 33, "'2m'", "the unit is m", 0},
	{"length_m: 2}", "length_m: 2}\n  - {a: box1/eth0, b: box2/eth1}", E_CONFLICT, 34,
		"'box1/eth0' is cabled already (line 33)", NULL, 0},
	{"address: 10.0.0.9", "address: 10.0.0.1", E_CONFLICT, 35,
		"nodes 'bare' and 'box1' (line 26) have one address, '10.0.0.1' port 22", NULL, 0},
	{"address: 10.0.0.9", "address: 10.0.0.300", E_SCHEMA, 35, "'10.0.0.300' is no IP address",
		"such as 10.0.0.7", 0},
	{"node: {address: 10.0.0.1, role: gpu}", "node: 10.0.0.1", E_SCHEMA, 26,
		"a node must be a map", "{address: 10.0.0.7}", 0},
	{"height_u: 4\n", "height_u: four\n", E_SCHEMA, 16, "'four'", "the unit is U", 0},
	{"psus: 2", "psus: two", E_SCHEMA, 18, "'two'", NULL, 0},
	{", address: 10.0.0.9", "", E_SCHEMA, 35, "node 'bare' has no address", "address:", 0},
	{"address: 10.0.0.9", "address: \"10.0.0.9 or so\"", E_SCHEMA, 35, "is no IP address", NULL,
		0},
	{"address: 10.0.0.9", "address: 10.0.0.9, host_key: ssh-foo AAAA", E_SCHEMA, 35,
		"of no known type", "ssh-keyscan", 0},
	{"address: 10.0.0.9", "address: 10.0.0.9, host_key: ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAA",
		E_SCHEMA, 35, "of no known type", NULL, 0},
	{"address: 10.0.0.9", "address: 10.0.0.9, port: 70000", E_SCHEMA, 35, "'port'", NULL, 0},
	{"address: 10.0.0.9", "adress: 10.0.0.9, address: 10.0.0.9", E_SCHEMA, 35,
		"unknown key 'adress'", "'address'", 0},
	{"name: bare", "name: box1", E_EXISTS, 35, "node 'box1' is there already (line 26)", NULL,
		0},
	{"name: bare", "name: \"a b\"", E_SCHEMA, 35, "'name' must be a name", NULL, 0},
	{"locations: [hall]", "locations: hall", E_SCHEMA, 2, "'locations' must be a list", NULL,
		1},
	{"cables:\n", "cables:\n  - 7\n", E_SCHEMA, 33, "a cable must be a map", NULL, 0},
};

static void check_refusal(const char *base, const struct refusal *r)
{
	AUTO_STR text = edit(base, r->old, r->new_);
	struct err_list e = {0};
	struct model *m = NULL;
	const int rc = import(text, &m, &e);
	const struct err *err = e.list.at;
	bool found = false;

	if (rc == 0)
		fail_msg("'%s' is not refused", r->new_);
	assert_null(m);
	for (size_t i = 0; i < e.list.n; i++, err++)
		found = found || (err->code == r->code && err->line == r->line &&
					 strstr(err->msg, r->says) &&
					 (!r->hints || strstr(err->hint, r->hints)));
	if (!found || e.total != 1 + r->more) {
		show(&e);
		fail_msg("expected %u '%s' [%s] for '%s'", r->line, r->says,
			r->hints ? r->hints : "", r->new_);
	}
	assert_string_equal(e.list.at[0].file, "site.yaml");
	assert_true(e.list.at[0].col > 0);
	assert_true(e.list.at[0].excerpt[0] != '\0');
	err_list_done(&e);
}

TEST(the_base_is_fine)
{
	struct err_list e = {0};
	struct model *m = NULL;

	if (import(BASE, &m, &e) < 0)
		show(&e);
	assert_non_null(m);
	assert_int_equal(m->devices.n, 2);
	assert_int_equal(m->ports.n, 10);
	assert_int_equal(m->cords.n, 3);
	assert_int_equal(m->nodes.n, 2);
	assert_int_equal(m->devices.at[1].line, 27);
	assert_string_equal(m->nodes.at[0].name, "box1");
	assert_int_equal(m->nodes.at[0].device, 0);
	assert_int_equal(m->nodes.at[1].device, MODEL_NONE);
	assert_true(isnan(m->devices.at[0].watts_cap));
	model_free(m);
	err_list_done(&e);
}

TEST(refusals)
{
	for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++)
		check_refusal(BASE, &REFUSALS[i]);
}

TEST(all_errors_in_one_pass)
{
	AUTO_STR one = edit(BASE, "height_u: 20", "height: 20");
	AUTO_STR two = edit(one, "volts: 400", "volts: 230");
	AUTO_STR three = edit(two, "psu1: PA/2", "psu1: PA/1");
	AUTO_STR text = edit(three, "address: 10.0.0.9", "address: 10.0.0.1");
	const unsigned lines[] = {7, 9, 31, 35};
	struct err_list e = {0};
	struct model *m = NULL;

	assert_true(import(text, &m, &e) < 0);
	assert_null(m);
	assert_int_equal(e.total, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(e.list.at[i].line, lines[i]);
	err_list_done(&e);
}

TEST(errors_are_capped)
{
	struct err_list e = {0};
	struct model *m = NULL;
	AUTO_BUF text = {0};
	const int64_t before = clock_mono();

	buf_init(&text, 64u << 20);
	buf_add_text(&text, "site: x\ncables:\n");
	for (int i = 0; i < 100000; i++)
		buf_addf(&text, "  - {a: d%d/p, b: e%d/p}\n", i, i);
	assert_int_equal(import(buf_text(&text), &m, &e), -E_NOTFOUND);
	assert_int_equal(e.list.n, IMPORT_ERRORS_MAX);
	assert_int_equal(e.total, 200000);
	assert_true(clock_mono() - before < 20 * CLOCK_SEC);
	err_list_done(&e);
}

/* Small files that ask for much. */
TEST(ranges_cannot_eat_the_memory)
{
	struct err_list e = {0};
	struct model *m = NULL;
	AUTO_BUF text = {0};

	buf_init(&text, 64u << 20);
	buf_add_text(&text, "site: x\ndevice_types:\n  - {name: t, height_u: 0, ports: "
			    "{ethernet: \"e[0-4095]\"}}\ndevices:\n");
	for (int i = 0; i < 400; i++)
		buf_addf(&text, "  - {name: d%d, type: t}\n", i);
	assert_int_equal(import(buf_text(&text), &m, &e), -E_LIMIT);
	assert_non_null(strstr(e.list.at[0].msg, "more than 1000000 ports"));
	err_list_done(&e);
}

TEST(what_yaml_refuses_is_one_error)
{
	static const struct {
		const char *text;
		enum ec code;
		unsigned line;
	} CASES[] = {
		{"site: a\nsite: b\n", E_SYNTAX, 2},
		{"site: &x a\n", E_SYNTAX, 1},
		{"site: [\n", E_SYNTAX, 0},
		{"- 1\n", E_SCHEMA, 1},
		{"", E_SYNTAX, 0},
	};

	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct err_list e = {0};
		struct model *m = NULL;
		const int rc = import(CASES[i].text, &m, &e);

		if (rc == 0 || e.total != 1)
			fail_msg("case %zu: rc %d, %u errors", i, rc, e.total);
		if (CASES[i].line)
			assert_int_equal(e.list.at[0].line, CASES[i].line);
		err_list_done(&e);
	}
}

TEST(a_missing_file)
{
	struct err_list e = {0};
	struct model *m = NULL;

	assert_int_equal(import_site("/nowhere/site.yaml", &m, &e), -E_NOTFOUND);
	assert_int_equal(e.total, 1);
	err_list_done(&e);
}

static char *exported(const struct model *m)
{
	struct buf out;

	buf_init(&out, EXPORT_MAX);
	export_site(m, &out);
	assert_true(buf_ok(&out));
	return buf_take(&out);
}

static void same_rows(const struct model *a, const struct model *b)
{
	assert_string_equal(a->site, b->site);
	assert_int_equal(a->racks.n, b->racks.n);
	assert_int_equal(a->feeds.n, b->feeds.n);
	for (size_t i = 0; i < a->feeds.n; i++)
		assert_int_equal(a->feeds.at[i].rack, b->feeds.at[i].rack);
	assert_int_equal(a->outlets.n, b->outlets.n);
	for (size_t i = 0; i < a->outlets.n; i++) {
		assert_string_equal(a->outlets.at[i].name, b->outlets.at[i].name);
		assert_int_equal(a->outlets.at[i].phase, b->outlets.at[i].phase);
		assert_int_equal(a->outlets.at[i].pdu, b->outlets.at[i].pdu);
	}
	assert_int_equal(a->ports.n, b->ports.n);
	for (size_t i = 0; i < a->ports.n; i++) {
		assert_string_equal(a->ports.at[i].name, b->ports.at[i].name);
		assert_int_equal(a->ports.at[i].kind, b->ports.at[i].kind);
		assert_int_equal(a->ports.at[i].device, b->ports.at[i].device);
	}
	assert_int_equal(a->cords.n, b->cords.n);
	for (size_t i = 0; i < a->cords.n; i++) {
		assert_int_equal(a->cords.at[i].port, b->cords.at[i].port);
		assert_int_equal(a->cords.at[i].outlet, b->cords.at[i].outlet);
	}
	assert_int_equal(a->cables.n, b->cables.n);
	for (size_t i = 0; i < a->cables.n; i++) {
		assert_int_equal(a->cables.at[i].a, b->cables.at[i].a);
		assert_int_equal(a->cables.at[i].b, b->cables.at[i].b);
	}
	assert_int_equal(a->nodes.n, b->nodes.n);
	for (size_t i = 0; i < a->nodes.n; i++) {
		assert_string_equal(a->nodes.at[i].name, b->nodes.at[i].name);
		assert_string_equal(a->nodes.at[i].vars, b->nodes.at[i].vars);
	}
}

/* What is exported imports to the same and is exported to the same bytes. */
static void check_round_trip(const struct model *m)
{
	AUTO_STR first = exported(m);
	AUTO_STR second = NULL;
	struct err_list e = {0};
	struct model *back = NULL;

	if (import(first, &back, &e) < 0) {
		show(&e);
		fail_msg("the export does not import:\n%s", first);
	}
	same_rows(m, back);
	if (differing_field(m, back))
		fail_msg("not the same after a round trip: %s", differing_field(m, back));
	second = exported(back);
	assert_string_equal(first, second);
	model_free(back);
	err_list_done(&e);
}

TEST(examples_round_trip)
{
	static const struct {
		const char *name;
		size_t nodes;
	} EXAMPLE[] = {{"start", 3}, {"business", 16}, {"enterprise", 38}};

	for (size_t i = 0; i < sizeof EXAMPLE / sizeof *EXAMPLE; i++) {
		AUTO_STR path = xasprintf("%s/%s.yaml", EXAMPLES, EXAMPLE[i].name);
		struct err_list e = {0};
		struct model *m = NULL;

		if (import_site(path, &m, &e) < 0)
			show(&e);
		assert_int_equal(e.total, 0);
		assert_string_equal(m->site, EXAMPLE[i].name);
		assert_int_equal(m->nodes.n, EXAMPLE[i].nodes);
		check_round_trip(m);
		model_free(m);
	}
}

/* Every form of the format, and text that needs quoting. */
static const char ODD[] =
	"site: odd\n"
	"about: \"two \\\"quotes\\\", a tab\\t, a line\\nbreak, \\u2028 and \\u0085, стойка: #1\"\n"
	"locations: [\"hall-1\", hall-2]\n"
	"cooling_zones: [{name: z, kind: rdhx}, {name: z2, capacity_w: 12.5}]\n"
	"panels: [{name: \"Щит 1\"}]\n"
	"feeds:\n"
	"  - {name: F0, panel: \"Щит 1\", volts: 400, phases: 3, amps: 63, rack: R2}\n"
	"  - {name: F1, volts: 415, phases: 3, amps: 32.5}\n"
	"pdus:\n"
	"  - {name: Q, feed: F1, rack: R1, amps: 24, outlets: {C19: \"[01-12]\", C13: \"a1,a2,b\"}}\n"
	"racks:\n"
	"  - name: R1\n"
	"    feeds: [F1, {name: F2, volts: 208, phases: 1, amps: 30}]\n"
	"    pdus:\n"
	"      - name: \"PDU A\"\n"
	"        feed: F2\n"
	"        outlets:\n"
	"          - {names: \"[1-3]\", type: C13, bank: 1, phase: 1}\n"
	"          - {names: \"[4-6]\", type: C13, bank: 2, phase: 2}\n"
	"          - {names: \"9,8,7\"}\n"
	"  - {name: R2, height_u: 10, location: hall-2, cooling_zone: z, depth_mm: 1070.5}\n"
	"device_types:\n"
	"  - {name: half, height_u: 1, full_depth: false, watts: 100.25, watts_origin: assumed}\n"
	"  - name: \"big one\"\n"
	"    height_u: 3\n"
	"    psus: 1\n"
	"    watts: {nameplate: 3000, capped: 1500, measured: 1234.5678}\n"
	"    ports:\n"
	"      ethernet: [\"a[8-11]\", {names: b, type: qsfp112}]\n"
	"      bmc: bmc\n"
	"devices:\n"
	"  - {name: f, type: half, rack: R2, position: 1}\n"
	"  - {name: r, type: half, rack: R2, position: 1, face: rear, status: planned}\n"
	"  - name: big\n"
	"    type: big one\n"
	"    serial: \"S/N: 1\"\n"
	"    watts_measured: 999.5\n"
	"    role: gpu\n"
	"    ports:\n"
	"      - {name: b, mac: \"02:00:00:00:00:01\"}\n"
	"      - {name: x0, kind: infiniband, type: osfp}\n"
	"      - {name: a9, type: rj45}\n"
	"    cords: {psu1: PDU A/9}\n"
	"    node: {address: \"fd00::1\", role: storage}\n"
	"nodes:\n"
	"  - name: f\n"
	"    address: f.example\n"
	"    user: admin\n"
	"    port: 2222\n"
	"    host_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBase64Text0\n"
	"    vars: {n: 8, v: \"8\", ver: 1.10, ratio: 1.5, on: true, off: \"true\", none: ,\n"
	"      list: [1, [a, {b: c}], []], \"odd key: x\": \"\", big: 99999999999999999999}\n"
	"  - {name: alone, address: 10.0.0.1, role: gpu}\n"
	"  - {name: alone2, address: 10.0.0.1, port: 23}\n";

TEST(odd_forms_round_trip)
{
	struct err_list e = {0};
	struct model *m = NULL;

	if (import(ODD, &m, &e) < 0)
		show(&e);
	assert_int_equal(e.total, 0);
	assert_int_equal(m->nodes.n, 4);
	assert_int_equal(m->feeds.at[1].rack, 0);
	assert_string_equal(m->outlets.at[0].name, "01");
	assert_int_equal(m->outlets.n, 24);
	assert_true(m->types.at[0].watts[BASIS_MAX] == 100.25);
	assert_string_equal(m->nodes.at[0].role, "storage");
	assert_int_equal(m->nodes.at[1].device, 0); /* of the list, on the device of its name */
	assert_string_equal(m->nodes.at[1].vars,
		"{\"big\":\"99999999999999999999\",\"list\":[1,[\"a\",{\"b\":\"c\"}],[]],\"n\":8,"
		"\"none\":null,\"odd key: x\":\"\",\"off\":\"true\",\"on\":true,\"ratio\":1.5,"
		"\"v\":\"8\",\"ver\":\"1.10\"}");
	check_round_trip(m);
	model_free(m);
}

TEST(every_field_makes_the_round_trip)
{
	struct err_list e = {0};
	struct model *m = NULL;

	if (import_site(TEST_DIR "/everything.yaml", &m, &e) < 0)
		show(&e);
	assert_int_equal(e.total, 0);
	if (field_not_stated(m))
		fail_msg("everything.yaml does not state %s", field_not_stated(m));
	assert_int_equal(m->notes.n, 10);
	check_round_trip(m);
	model_free(m);
	err_list_done(&e);
}

/* The sections of an audit, on top of BASE; lines begin at 36. */
static const char POWER[] =
	"upses:\n"                                                                   /* 36 */
	"  - {name: U1, kva: 20, kw: 18, upstream: {panel: M}}\n"                    /* 37 */
	"generators: [{name: G, kw: 50}]\n"                                          /* 38 */
	"reservations:\n"                                                            /* 39 */
	"  - {name: kept, rack: R1, position: 10, height_u: 2}\n"                    /* 40 */
	"feeds:\n"                                                                   /* 41 */
	"  - {name: C, panel: P1, volts: 230, volts_are: LN, phases: 3, amps: 16}\n" /* 42 */
	"pdus:\n"                                                                    /* 43 */
	"  - name: PC\n"                                                             /* 44 */
	"    feed: C\n"                                                              /* 45 */
	"    banks: [{name: 1, amps: 16, phase: L1}]\n"                              /* 46 */
	"    outlets: [{names: \"[1-4]\", bank: 1}]\n"                               /* 47 */
	"  - name: PD\n"                                                             /* 48 */
	"    upstream: {outlet: PC/1}\n"                                             /* 49 */
	"    outlets: {C13: \"[1-4]\"}\n"                                            /* 50 */
	"facts: {about: {origin: reported, date: 2026-01-31}}\n";                    /* 51 */

static const struct refusal POWER_REFUSALS[] = {
	{"volts: 230, volts_are: LN", "volts: 230", E_SCHEMA, 42,
		"three phases; 230 V is the voltage of one", "volts_are: LN", 0},
	{"volts: 230, volts_are: LN", "volts: 400, volts_are: LN", E_SCHEMA, 42, "400 V to neutral",
		"LL", 0},
	{"volts_are: LN", "volts_are: XX", E_SCHEMA, 42, "'XX' is no volts_are", "LL, LN", 1},
	{"phases: 3, amps: 16}", "phases: 3, amps: 16, plug_amps: -3}", E_SCHEMA, 42, "not '-3'",
		NULL, 0},
	{"phases: 3, amps: 16}", "phases: 3, amps: 16, phase: L2}", E_CONFLICT, 42,
		"three phases, not just L2", "phases: 1", 0},
	{"phases: 3, amps: 16}", "phases: 3, amps: 16, upstream: {ups: U1}}", E_CONFLICT, 42,
		"on panel 'P1' and on something else", NULL, 0},
	{"phases: 3, amps: 16}", "phases: 3, amps: 16, upstream: {pdu: PC}}", E_SCHEMA, 42,
		"must name what it hangs on", "{panel: NAME} or {ups: NAME}", 0},
	{"kw: 18", "kw: 28", E_CONFLICT, 37, "28 kW, more than its 20 kVA", NULL, 0},
	{"kva: 20, kw: 18, ", "", E_SCHEMA, 37, "states no capacity", "kva", 0},
	{"kw: 18", "kw: 18, runtime_min: [[5, 9], [5, 8]]", E_CONFLICT, 37, "must rise in kW", NULL,
		0},
	{"kw: 18", "kw: 18, runtime_min: [5, 9]", E_SCHEMA, 37, "must be [kW, minutes]", NULL, 0},
	{"{panel: M}", "{panel: N}", E_NOTFOUND, 37, "there is no panel 'N'", NULL, 0},
	{"{panel: M}", "{ups: U1}", E_CONFLICT, 37, "UPS 'U1' is fed by itself", "upstream", 0},
	{"position: 10,", "position: 8,", E_CONFLICT, 40,
		"'kept' and 'box2' (line 27) both take unit 8", "units 5 to 8", 0},
	{"position: 10,", "position: 20,", E_CONFLICT, 40, "units 20 to 21, but rack 'R1' has 20",
		NULL, 0},
	{"position: 10, ", "", E_CONFLICT, 40, "a height_u but no position", "neither", 0},
	{"height_u: 2}", "height_u: 2, until: tomorrow}", E_SCHEMA, 40, "'tomorrow' is no date",
		"2026-10-01", 0},
	{"height_u: 2}", "height_u: 2, watts: -5}", E_SCHEMA, 40, "'watts'", "the unit is W", 0},
	{"bank: 1}", "bank: 2}", E_NOTFOUND, 47, "'PC' has no bank 2", "'banks'", 0},
	{"bank: 1}", "bank: 1, phase: L3}", E_CONFLICT, 47, "bank 1 of 'PC' is on L1", NULL, 0},
	{"amps: 16, phase: L1}", "amps: -16, phase: L1}", E_SCHEMA, 46, "not '-16'", NULL, 0},
	{"amps: 16, phase: L1}", "phase: L1}", E_SCHEMA, 46, "bank '1' states no amps", NULL, 0},
	{"amps: 16, phase: L1}", "amps: 16, curve: K}", E_SCHEMA, 46, "'K' is no curve", "B, C, D",
		0},
	{"phase: L1}]", "phase: L1}, {name: 1, amps: 16}]", E_EXISTS, 46,
		"bank '1' is there already", NULL, 0},
	{"{outlet: PC/1}", "{outlet: PC/9}", E_NOTFOUND, 49, "'PC' has no outlet '9'", NULL, 0},
	{"{outlet: PC/1}", "{outlet: PD/1}", E_CONFLICT, 49, "PDU 'PD' is fed by itself", NULL, 0},
	{"{outlet: PC/1}", "{outlet: PC/1}\n    feed: C", E_CONFLICT, 49,
		"on feed 'C' and on an outlet", NULL, 0},
	{"{about:", "{abuot:", E_NOTFOUND, 51, "has no figure 'abuot'", "'about'", 0},
	{"2026-01-31", "31.1.2026", E_SCHEMA, 51, "'31.1.2026' is no date", NULL, 0},
	{"origin: reported", "origin: rumour", E_SCHEMA, 51, "'rumour' is no origin", "verified",
		0},
	{"height_u: 4\n", "height_u: 4.3\n", E_SCHEMA, 16, "whole units or halves", NULL, 0},
	{"    psus: 2\n", "    psus: 2\n    psus_min: 3\n", E_CONFLICT, 19,
		"stays up with 3 PSUs but has 2", NULL, 0},
	{"    psus: 2\n", "    psus: 2\n    psus_needed: 1\n    psus_min: 2\n", E_CONFLICT, 20,
		"needs only 1", NULL, 0},
	{"infiniband: ib0}", "infiniband: ib0, power: \"in[1-3]\"}", E_CONFLICT, 18,
		"2 PSUs but 3 power ports", "not both", 0},
	{"    psus: 2\n", "    psus: 2\n    inlet_c: [30, 5]\n", E_CONFLICT, 19, "backwards", NULL,
		0},
	{"    psus: 2\n", "    psus: 2\n    inlet_c: 30\n", E_SCHEMA, 19, "two numbers", NULL, 0},
	{"    psus: 2\n", "    psus: 2\n    catalog: dgx-h10\n", E_NOTFOUND, 19, "dgx-h10",
		"dgx-h100", 0},
	{"    psus: 2\n", "    psus: 2\n    gpu_watts: 5\n", E_SCHEMA, 19,
		"'gpu_watts' must be a map", NULL, 0},
	{"    psus: 2\n", "    psus: 2\n    gpu_watts: {mx: 5}\n", E_SCHEMA, 19, "unknown key 'mx'",
		"'max'", 0},
	{"    position: 5\n", "    position: 4.5\n", E_CONFLICT, 30, "both take unit 4",
		"units 1 to 4", 0},
	{"    position: 5\n", "    position: 5\n    cap: {gpu_w: 300}\n", E_CONFLICT, 31,
		"its type 'box' has no GPUs", NULL, 0},
	{"    height_u: 20\n", "    height_u: 20\n    cooling: {rdhx: {curve: [[9, 1], [8, 2]]}}\n",
		E_CONFLICT, 8, "must rise in degrees C", NULL, 0},
	{"    height_u: 20\n", "    height_u: 20\n    cooling: {rdhx: {water: 9}}\n", E_SCHEMA, 8,
		"unknown key 'water'", "'water_c'", 0},
	{"    height_u: 20\n", "    height_u: 20\n    first_u: 3\n", E_CONFLICT, 25,
		"units 1 to 4, but rack 'R1' has 3 to 22", NULL, 0},
	{"site: lab\n", "site: lab\nterms: {policy: {k_cont: 1.2}}\n", E_SCHEMA, 2, "'k_cont'",
		NULL, 0},
	{"site: lab\n", "site: lab\nterms: {altitude_m: high}\n", E_SCHEMA, 2, "'high'",
		"the unit is m", 0},
	{"site: lab\n", "site: lab\nterms: {region: eu}\n", E_SCHEMA, 2, "'eu' is no region",
		"iec, ul", 0},
};

/* BASE with a second panel that the UPS hangs on, and POWER. */
static char *power_base(void)
{
	AUTO_STR panels = edit(BASE, "  - {name: P1, location: hall}",
		"  - {name: P1, location: hall}, {name: M, volts: 400, phases: 3, amps: 63, backup: {generator: G}}");
	AUTO_STR list = edit(panels, "panels:\n  - {name: P1, location: hall}, ",
		"panels: [{name: P1, location: hall},\n  ");
	AUTO_STR end = edit(list, "backup: {generator: G}}", "backup: {generator: G}}]");

	return xasprintf("%s%s", end, POWER);
}

TEST(what_feeds_what_is_refused_when_it_contradicts)
{
	AUTO_STR base = power_base();
	struct err_list e = {0};
	struct model *m = NULL;

	if (import(base, &m, &e) < 0)
		show(&e);
	assert_int_equal(e.total, 0);
	model_free(m);
	for (size_t i = 0; i < sizeof POWER_REFUSALS / sizeof *POWER_REFUSALS; i++)
		check_refusal(base, &POWER_REFUSALS[i]);
}

/* Two panels, each above the other. */
TEST(a_loop_of_panels)
{
	struct err_list e = {0};
	struct model *m = NULL;

	assert_int_equal(import("site: s\npanels:\n  - {name: a, upstream: {panel: b}}\n"
				"  - {name: b, upstream: {panel: a}}\n",
				 &m, &e),
		-E_CONFLICT);
	assert_int_equal(e.total, 2);
	assert_int_equal(e.list.at[1].line, 4);
	err_list_done(&e);
}

TEST(the_catalogue_fills_a_type_and_the_file_overrides)
{
	struct err_list e = {0};
	struct model *m = NULL;
	const struct device_type *t;

	if (import("site: s\ndevice_types:\n  - {name: a, catalog: dgx-h100, weight_kg: 140, "
		   "facts: {cfm: {origin: verified}}}\n  - {catalog: dgx-h100, watts: 9000}\n",
		    &m, &e) < 0)
		show(&e);
	assert_int_equal(e.total, 0);
	t = &m->types.at[0];
	assert_string_equal(t->name, "a");
	assert_string_equal(t->catalogue, "dgx-h100");
	assert_int_equal(t->psus_needed, 4);
	assert_true(t->weight_kg > 139 && t->watts[BASIS_MAX] > 10199);
	assert_null(model_note(m, NOUN_TYPE, 0, "weight_kg"));
	assert_int_equal(model_note(m, NOUN_TYPE, 0, "cfm")->origin, ORIGIN_VERIFIED);
	assert_int_equal(model_note(m, NOUN_TYPE, 0, "psus")->origin, ORIGIN_CATALOGUE);
	assert_string_equal(m->types.at[1].name, "dgx-h100");
	assert_int_equal(m->types.at[1].watts_origin, ORIGIN_DECLARED);
	assert_null(model_note(m, NOUN_TYPE, 1, "watts.max"));
	check_round_trip(m);
	model_free(m);
	err_list_done(&e);
}

/* 100 MB, and depth: refused before anything is built. */
TEST(hostile_files_are_refused_quickly)
{
	static char deep[200000];
	const size_t n = (size_t)100 << 20;
	char *huge = xcalloc(1, n + 1);
	const char *const texts[] = {huge, deep};
	const int64_t before = clock_mono();

	memset(huge, 'a', n);
	memset(deep, '[', sizeof deep - 1);
	for (int i = 0; i < 2; i++) {
		struct err_list e = {0};
		struct model *m = NULL;

		assert_int_equal(import(texts[i], &m, &e), -E_LIMIT);
		assert_int_equal(e.total, 1);
		err_list_done(&e);
	}
	assert_true(clock_mono() - before < 5 * CLOCK_SEC);
	free(huge);
}

T_MAIN
