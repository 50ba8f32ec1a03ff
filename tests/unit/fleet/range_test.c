/* range_test - the grammar by table: what is meant, or the code and column of the error. */
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/fleet/range.h"
#include "tests/unit/t.h"

static const struct node_row ROWS[] = {
	{.id = 1,
		.name = "gpu1",
		.rack = "R1",
		.role = "gpu",
		.site = "a",
		.state = "ready",
		.device_type = "DGX H100"},
	{.id = 2,
		.name = "gpu2",
		.rack = "R1",
		.role = "gpu",
		.site = "a",
		.state = "ready",
		.device_type = "DGX H100"},
	{.id = 3,
		.name = "gpu03",
		.rack = "R1",
		.role = "gpu",
		.site = "a",
		.state = "failed",
		.device_type = "DGX H100"},
	{.id = 4,
		.name = "gpu04",
		.rack = "R2",
		.role = "gpu",
		.site = "a",
		.state = "ready",
		.device_type = "XE9680"},
	{.id = 5,
		.name = "gpu05",
		.rack = "R2",
		.role = "gpu",
		.site = "b",
		.state = "ready",
		.device_type = "XE9680"},
	{.id = 6,
		.name = "gpu05-ib",
		.rack = "R2",
		.role = "ib",
		.site = "b",
		.state = "ready",
		.device_type = ""},
	{.id = 7,
		.name = "gpu10",
		.rack = "R2",
		.role = "gpu",
		.site = "b",
		.state = "deployed",
		.device_type = "XE9680"},
	{.id = 8,
		.name = "login1",
		.rack = "",
		.role = "login",
		.site = "b",
		.state = "ready",
		.device_type = ""},
	{.id = 9,
		.name = "a.b_c-d",
		.rack = "",
		.role = "odd",
		.site = "b",
		.state = "ready",
		.device_type = ""},
	{.id = 10,
		.name = "n1-s1",
		.rack = "",
		.role = "odd",
		.site = "b",
		.state = "ready",
		.device_type = ""},
	{.id = 11,
		.name = "n1-s2",
		.rack = "",
		.role = "odd",
		.site = "b",
		.state = "ready",
		.device_type = ""},
	{.id = 12,
		.name = "n2-s1",
		.rack = "",
		.role = "odd",
		.site = "b",
		.state = "ready",
		.device_type = ""},
	{.id = 13,
		.name = "n2-s2",
		.rack = "",
		.role = "odd",
		.site = "b",
		.state = "ready",
		.device_type = ""},
};
#define N (sizeof ROWS / sizeof *ROWS)

static struct node_row rows_storage[N];
static struct node_rows all;

static void set_up(void)
{
	memcpy(rows_storage, ROWS, sizeof ROWS);
	all.at = rows_storage;
	all.n = N;
}

/* want: the names in order, blank-separated; NULL: code at column. */
static const struct {
	const char *expr, *want;
	enum ec code;
	unsigned col;
} CASES[] = {
	{"gpu1", "gpu1", 0, 0},
	{" gpu1 ", "gpu1", 0, 0},
	{"gpu1,gpu2", "gpu1 gpu2", 0, 0},
	{"gpu2,gpu1", "gpu1 gpu2", 0, 0},
	{"gpu1, gpu1 ,gpu1", "gpu1", 0, 0},
	{"gpu[1-2]", "gpu1 gpu2", 0, 0},
	{"gpu[1,2]", "gpu1 gpu2", 0, 0},
	{"gpu[03-05]", "gpu03 gpu04 gpu05", 0, 0},
	{"gpu[03-04,10]", "gpu03 gpu04 gpu10", 0, 0},
	{"gpu[1-2,03-05,10]", "gpu1 gpu2 gpu03 gpu04 gpu05 gpu10", 0, 0},
	{"gpu[05]-ib", "gpu05-ib", 0, 0},
	{"[gpu,login]1", "gpu1 login1", 0, 0},
	{"n[1-2]-s[1-2]", "n1-s1 n1-s2 n2-s1 n2-s2", 0, 0},
	{"n[2]-s[1-2]", "n2-s1 n2-s2", 0, 0},
	{"a.b_c-d", "a.b_c-d", 0, 0},
	{"all,-~.", NULL, E_NOTFOUND, 1},
	{"all,-role=odd,-role=gpu", "gpu05-ib login1", 0, 0},
	{"-gpu1", NULL, E_NOTFOUND, 1},
	{"-gpu1,gpu1", "gpu1", 0, 0},
	{"gpu[1-2],-gpu2", "gpu1", 0, 0},
	{"gpu[1-2],-gpu2,gpu2", "gpu1 gpu2", 0, 0},
	{"rack=R1", "gpu1 gpu2 gpu03", 0, 0},
	{"rack=R[1-2]@state=ready", "gpu1 gpu2 gpu04 gpu05 gpu05-ib", 0, 0},
	{"rack = R1", "gpu1 gpu2 gpu03", 0, 0},
	{"role=login", "login1", 0, 0},
	{"site=a@rack=R2", "gpu04", 0, 0},
	{"state=failed", "gpu03", 0, 0},
	{"type='DGX H100'@state=ready", "gpu1 gpu2", 0, 0},
	{"type=\"DGX H100\"", "gpu1 gpu2 gpu03", 0, 0},
	{"type=XE9680,-site=b", "gpu04", 0, 0},
	{"rack=R1@state=ready,login1", "gpu1 gpu2 login1", 0, 0},
	{"login1,rack=R1@state=ready", "gpu1 gpu2 login1", 0, 0},
	{"(login1,rack=R1)@state=ready", "gpu1 gpu2 login1", 0, 0},
	{"rack=R2,-(gpu04,gpu05)", "gpu05-ib gpu10", 0, 0},
	{"((gpu1))", "gpu1", 0, 0},
	{"( gpu1 , gpu2 ) @ gpu2", "gpu2", 0, 0},
	{"~^gpu[0-9]+$", "gpu1 gpu2 gpu03 gpu04 gpu05 gpu10", 0, 0},
	{"~ib$", "gpu05-ib", 0, 0},
	{"~^(gpu|login)1$", "gpu1 login1", 0, 0},
	{"~^gpu[0-9]{1,1}$,login1", "gpu1 gpu2 login1", 0, 0},
	{"(~^gpu1,login1)", "gpu1 gpu10 login1", 0, 0},
	{"~1@~gpu", "gpu1 gpu10", 0, 0},
	{"~'^gpu1$'", "gpu1", 0, 0},
	{"~[@,)]|gpu2", "gpu2", 0, 0},
	{"all,-all,gpu1", "gpu1", 0, 0},
	{"all@gpu1", "gpu1", 0, 0},
	/* errors */
	{"", NULL, E_SYNTAX, 0},
	{"   ", NULL, E_SYNTAX, 0},
	{",", NULL, E_SYNTAX, 1},
	{"gpu1,", NULL, E_SYNTAX, 6},
	{"gpu1@", NULL, E_SYNTAX, 6},
	{"gpu1 gpu2", NULL, E_SYNTAX, 6},
	{"(gpu1", NULL, E_SYNTAX, 1},
	{"gpu1)", NULL, E_SYNTAX, 5},
	{"()", NULL, E_SYNTAX, 2},
	{"gpu[1", NULL, E_SYNTAX, 4},
	{"gpu[]", NULL, E_SYNTAX, 5},
	{"gpu[1,]", NULL, E_SYNTAX, 7},
	{"gpu[2-1]", NULL, E_SYNTAX, 5},
	{"gpu[1-]", NULL, E_SYNTAX, 5},
	{"gpu[1-x]", NULL, E_SYNTAX, 5},
	{"gpu[1234567-1234568]", NULL, E_SYNTAX, 5},
	{"gpu[a b]", NULL, E_SYNTAX, 6},
	{"gpu[0-99999]", NULL, E_LIMIT, 5},
	{"gpu[0-999][0-999]", NULL, E_LIMIT, 12},
	{"gpu99", NULL, E_NOTFOUND, 1},
	{"gpu1,gpu3", NULL, E_NOTFOUND, 6},
	{"gpu[1-5]", NULL, E_NOTFOUND, 1},
	{"rack=R9", NULL, E_NOTFOUND, 6},
	{"rack=", NULL, E_SYNTAX, 6},
	{"rack='R1", NULL, E_SYNTAX, 6},
	{"rck=R1", NULL, E_SYNTAX, 1},
	{"gpu1,colour=red", NULL, E_SYNTAX, 6},
	{"~", NULL, E_SYNTAX, 2},
	{"~(", NULL, E_SYNTAX, 2},
	{"~nothing", NULL, E_NOTFOUND, 2},
	{"~a{9999}", NULL, E_LIMIT, 2},
	{"~((a{9}){9}){99}", NULL, E_LIMIT, 2},
	{"~a+++++++++++++", NULL, E_LIMIT, 2},
	{"~^n[0-9]{1,2}-s[0-9]{1,2}$", "n1-s1 n1-s2 n2-s1 n2-s2", 0, 0},
	{"gpu1@gpu2", NULL, E_NOTFOUND, 1},
	{"gpu1;reboot", NULL, E_SYNTAX, 5},
	{"--gpu1", NULL, E_SYNTAX, 2},
	{"=R1", NULL, E_SYNTAX, 1},
};

static void check(size_t i)
{
	struct node_refs refs = VEC_INIT;
	AUTO_BUF got = {0};
	struct err err = {0};
	const int rc = range_resolve(CASES[i].expr, &all, &refs, &err);

	buf_init(&got, 4096);
	vec_each(&refs, const struct node_row *, row)
		buf_addf(&got, "%s%s", got.n ? " " : "", (*row)->name);
	if (rc != -(int)CASES[i].code || (rc < 0 && err.col != CASES[i].col))
		print_error("'%s': %d col %u %s\n", CASES[i].expr, rc, err.col, err.msg);
	assert_int_equal(rc, -(int)CASES[i].code);
	if (rc == 0) {
		assert_string_equal(buf_text(&got), CASES[i].want);
	} else {
		assert_int_equal(err.col, CASES[i].col);
		assert_true(err.msg[0] != '\0');
		assert_int_equal(refs.n, 0);
	}
	vec_done(&refs);
}

TEST(grammar)
{
	set_up();
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
		check(i);
}

TEST(names_what_was_meant)
{
	static const struct {
		const char *expr, *hint;
	} cases[] = {
		{"gup1", "'gpu1'"},
		{"rack=R3", "rack='R1'"},
		{"rakc=R1", "'rack='"},
		{"state=redy", "state='ready'"},
	};

	set_up();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct node_refs refs = VEC_INIT;
		struct err err = {0};

		assert_true(range_resolve(cases[i].expr, &all, &refs, &err) < 0);
		assert_non_null(strstr(err.hint, cases[i].hint));
		assert_string_equal(err.excerpt, cases[i].expr);
	}
}

TEST(caps)
{
	struct node_refs refs = VEC_INIT;
	struct err err = {0};
	char deep[100], *wide = xmalloc(70001);

	set_up();
	memset(deep, '(', sizeof deep);
	deep[sizeof deep - 1] = '\0';
	assert_int_equal(range_resolve(deep, &all, &refs, &err), -E_LIMIT);
	memset(wide, 'a', 70000);
	wide[70000] = '\0';
	assert_int_equal(range_resolve(wide, &all, &refs, &err), -E_LIMIT);
	free(wide);
	/* no nodes at all */
	all.n = 0;
	assert_int_equal(range_resolve("all", &all, &refs, &err), -E_NOTFOUND);
	assert_int_equal(range_resolve("gpu1", &all, &refs, &err), -E_NOTFOUND);
	assert_int_equal(range_resolve("rack=R1", &all, &refs, NULL) < 0, 1);
}

static const struct {
	const char *names, *want;
} FOLDS[] = {
	{"gpu1", "gpu1"},
	{"login", "login"},
	{"gpu1 gpu2", "gpu[1,2]"},
	{"gpu1 gpu2 gpu3", "gpu[1-3]"},
	{"gpu01 gpu02 gpu03 gpu07 login1", "gpu[01-03,07],login1"},
	{"gpu08 gpu09 gpu10 gpu11", "gpu[08-11]"},
	{"gpu8 gpu9 gpu10 gpu11", "gpu[8-11]"},
	{"gpu98 gpu99 gpu100 gpu101", "gpu[98-101]"},
	{"gpu098 gpu099 gpu100 gpu101", "gpu[098-101]"},
	{"gpu1 gpu01", "gpu[1,01]"},
	{"a1-ib a2-ib a3-ib a1 a2", "a[1,2],a[1-3]-ib"},
	{"n1-s1 n1-s2 n2-s1", "n1-s[1,2],n2-s1"},
	{"x12345678 x12345679", "x12[345678,345679]"},
	{"login gpu1", "gpu1,login"},
	{"", ""},
};

/* Folds the blank-separated names and reads the text back. */
static void check_fold(const char *names, const char *want)
{
	struct node_row rows[16] = {0};
	struct node_rows known = {rows, 0, 16};
	struct node_refs refs = VEC_INIT, again = VEC_INIT;
	AUTO_BUF out = {0};
	char words[200];
	struct err err = {0};

	buf_init(&out, 4096);
	snprintf(words, sizeof words, "%s", names);
	for (char *save = NULL, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		rows[known.n++].name = w;
	for (size_t i = 0; i < known.n; i++)
		*vec_push(&refs) = &rows[i];
	range_fold(&refs, &out);
	assert_string_equal(buf_text(&out), want);
	if (known.n > 0) {
		assert_int_equal(range_resolve(buf_text(&out), &known, &again, &err), 0);
		assert_int_equal(again.n, known.n);
	}
	vec_done(&refs);
	vec_done(&again);
}

TEST(folds_and_reads_back)
{
	for (size_t i = 0; i < sizeof FOLDS / sizeof *FOLDS; i++)
		check_fold(FOLDS[i].names, FOLDS[i].want);
}

T_MAIN
