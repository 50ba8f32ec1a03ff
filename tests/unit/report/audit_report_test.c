/* audit_report - all forms of one audit: whole, escaped, the same figures, safe to write. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/report/audit_report.h"
#include "inventory/report/view.h"
#include "tests/unit/t.h"

#include <math.h>
#include <sys/stat.h>

#define PAGE_MAX (64u << 20)

struct site {
	struct model *m;
	struct audit a;
	struct audit_fixes fixes;
	struct audit_report r;
};

static void site_audit(struct site *s, const struct audit_subject *lose)
{
	const struct audit_opts o = {
		.policy = "strict80", .basis = BASIS_MAX, .lose = lose, .n_lose = lose ? 1 : 0};
	struct err err;

	assert_int_equal(audit_run(s->m, &o, &s->a, &err), 0);
	vec_each(&s->a.racks, const struct audit_rack, k)
		assert_int_equal(fix_find(s->a.arena, &s->a, &o, k->rack, &s->fixes, &err), 0);
	s->r = (struct audit_report){.audit = &s->a,
		.fixes = s->fixes.at,
		.n_fixes = s->fixes.n,
		.when = "2026-11-30 17:00 UTC"};
}

static void site_open(struct site *s, const char *path)
{
	struct err_list errors = {0};

	*s = (struct site){.m = NULL};
	assert_int_equal(import_site(path, &s->m, &errors), 0);
	site_audit(s, NULL);
}

static void site_close(struct site *s)
{
	vec_done(&s->fixes);
	audit_done(&s->a);
	model_free(s->m);
}

static void has(const struct buf *out, const char *text)
{
	if (!strstr(buf_text(out), text))
		fail_msg("'%s' is not in the report", text);
}

static void lacks(const struct buf *out, const char *text)
{
	const char *at = strstr(buf_text(out), text);

	if (at)
		fail_msg("'%s' is in the report: %.60s", text, at);
}

/* --- HTML --- */

static bool is_void(struct str name)
{
	return str_is(name, "meta") || str_is(name, "!DOCTYPE");
}

/* The name of the tag at s, and where it ends. */
static struct str tag_name(struct str s, size_t *end)
{
	size_t n = 1;

	*end = str_find(s, '>');
	assert_true(*end != STR_NONE);
	if (n < s.n && s.p[n] == '/')
		n++;
	while (n < *end && s.p[n] != ' ' && s.p[n] != '/' && s.p[n] != '\n')
		n++;
	return (struct str){s.p + 1, n - 1};
}

/* Every tag is closed by its own, in order; attributes hold no '<'. */
static void is_balanced(const struct buf *out)
{
	struct vec(struct str) open = VEC_INIT;
	struct str s = buf_str(out);
	size_t at, end;

	while ((at = str_find(s, '<')) != STR_NONE) {
		struct str name;

		s = str_from(s, at);
		name = tag_name(s, &end);
		if (name.p[0] == '/') {
			assert_true(open.n > 0);
			if (!str_eq(open.at[open.n - 1], str_from(name, 1)))
				fail_msg("<" STR_FMT "> is closed by <" STR_FMT ">",
					STR_ARG(open.at[open.n - 1]), STR_ARG(name));
			open.n--;
		} else if (s.p[end - 1] != '/' && !is_void(name)) {
			*vec_push(&open) = name;
		}
		s = str_from(s, end + 1);
	}
	assert_int_equal(open.n, 0);
	vec_done(&open);
}

static void check_page(const char *path, enum text_lang lang)
{
	struct site s;
	AUTO_BUF page = {0};

	buf_init(&page, PAGE_MAX);
	site_open(&s, path);
	report_audit_html(&s.r, lang, &page);
	assert_true(buf_ok(&page));
	assert_true(str_is_utf8(buf_str(&page)));
	is_balanced(&page);
	lacks(&page, "<script");
	lacks(&page, "src=");
	lacks(&page, "url(http");
	lacks(&page, "?</");
	lacks(&page, "nan");
	has(&page, lang == LANG_RU ? "<html lang=\"ru\">" : "<html lang=\"en\">");
	vec_each(&s.a.racks, const struct audit_rack, k)
		has(&page, s.m->racks.at[k->rack].name);
	site_close(&s);
}

TEST(pages)
{
	static const char *const sites[] = {TEST_DIR "/hard.yaml",
		TEST_DIR "/../../../inventory/examples/start.yaml",
		TEST_DIR "/../../../inventory/examples/business.yaml",
		TEST_DIR "/../../../inventory/examples/enterprise.yaml"};

	for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
		check_page(sites[i], LANG_EN);
		check_page(sites[i], LANG_RU);
	}
}

TEST(what_a_page_says)
{
	struct site s;
	AUTO_BUF page = {0};

	buf_init(&page, PAGE_MAX);
	site_open(&s, TEST_DIR "/hard.yaml");
	report_audit_html(&s.r, LANG_EN, &page);
	has(&page, "&lt;b&gt;marked&lt;/b&gt; &amp; &quot;quoted&quot;");
	has(&page, "&lt;storage&gt; team");
	has(&page, "Made 2026-11-30 17:00 UTC");
	has(&page, "0.96"); /* the site's power factor */
	has(&page, "url(#kept-0-front)");
	has(&page, "without a position: spare");
	has(&page, "What usually helps");
	buf_clear(&page);
	report_audit_html(&s.r, LANG_RU, &page);
	has(&page, "НАРУШЕНИЕ");
	has(&page, "перекос фаз");
	has(&page, "0,80\u00a0×\u00a032\u202fА");
	lacks(&page, "kW");
	site_close(&s);
}

TEST(hostile_names)
{
	struct site s;
	AUTO_BUF page = {0};

	buf_init(&page, PAGE_MAX);
	site_open(&s, TEST_DIR "/hard.yaml");
	s.m->racks.at[0].name = "<script>alert(1)</script>\x1b[2J\xff";
	s.m->devices.at[0].name = "\"><img src=x onerror=y>";
	s.m->feeds.at[0].name = "a|b*c_d`e\n# f";
	s.m->pdus.at[0].name = "";
	report_audit_html(&s.r, LANG_EN, &page);
	is_balanced(&page);
	lacks(&page, "<script");
	lacks(&page, "<img");
	lacks(&page, "\x1b");
	assert_true(str_is_utf8(buf_str(&page)));
	buf_clear(&page);
	report_audit_md(&s.r, LANG_EN, &page);
	lacks(&page, "<script");
	lacks(&page, "\n# f");
	has(&page, "a\\|b\\*c\\_d\\`e");
	site_close(&s);
}

TEST(no_racks_no_devices)
{
	struct site s = {.m = model_new()};
	struct err err;
	AUTO_STR path = xasprintf("%s/empty.xlsx", t_dir());
	AUTO_BUF out = {0};

	buf_init(&out, PAGE_MAX);
	site_audit(&s, NULL);
	report_audit_html(&s.r, LANG_EN, &out);
	is_balanced(&out);
	report_audit_md(&s.r, LANG_RU, &out);
	buf_clear(&out);
	report_audit(&s.r, &(struct report_opts){.lang = LANG_EN}, &out);
	has(&out, "no racks yet");
	assert_int_equal(report_audit_write(REPORT_XLSX, &s.r, LANG_EN, path, &err), 0);
	site_close(&s);
}

/* --- the same in other forms --- */

static unsigned columns_of(struct str line)
{
	unsigned n = 0;

	for (size_t i = 0; i < line.n; i++)
		n += line.p[i] == '|' && (i == 0 || line.p[i - 1] != '\\');
	return n;
}

/* Rows of a Markdown table have as many cells as its head. */
TEST(markdown_tables_are_whole)
{
	struct site s;
	struct str rest, line;
	unsigned width = 0, tables = 0;
	AUTO_BUF out = {0};

	buf_init(&out, PAGE_MAX);
	site_open(&s, TEST_DIR "/hard.yaml");
	report_audit_md(&s.r, LANG_RU, &out);
	rest = buf_str(&out);
	while (str_line(&rest, &line)) {
		if (!str_starts(line, "|")) {
			width = 0;
			continue;
		}
		tables += width == 0;
		width = width ? width : columns_of(line);
		assert_int_equal(columns_of(line), width);
	}
	assert_true(tables >= 6);
	has(&out, "# Аудит питания, охлаждения и размещения");
	site_close(&s);
}

TEST(json_has_the_figures)
{
	struct site s;
	const json_t *rack, *first;
	AUTO_JSON all = NULL;
	AUTO_BUF out = {0};

	buf_init(&out, PAGE_MAX);
	site_open(&s, TEST_DIR "/hard.yaml");
	report_audit(&s.r, &(struct report_opts){.json = true, .lang = LANG_RU}, &out);
	assert_int_equal(json_parse(buf_str(&out), PAGE_MAX, "audit", &all, NULL), 0);
	assert_int_equal(json_get_int(all, "schema", 0), 1);
	assert_string_equal(json_get_str(all, "verdict", ""), "FAIL");
	assert_string_equal(json_get_str(json_get(all, "policy"), "name", ""), "strict80");
	assert_int_equal(json_array_size(json_get(all, "racks")), 2);
	rack = json_array_get(json_get(all, "racks"), 0);
	assert_string_equal(json_get_str(rack, "rack", ""), "H1");
	assert_true(json_real_value(json_get(rack, "watts")) == 8000 + 8000 + 3 * 450.0);
	assert_int_equal(json_array_size(json_get(rack, "findings")), s.a.racks.at[0].n);
	assert_int_equal(json_array_size(json_get(rack, "devices")), 6);
	first = json_array_get(json_get(rack, "feeds"), 0);
	assert_int_equal(json_array_size(json_get(first, "normal_a")), 3);
	assert_string_equal(json_get_str(json_get(rack, "rules"), "weight", ""), "FAIL");
	assert_true(json_object_size(json_get(rack, "binding")) > 0);
	site_close(&s);
}

static size_t letters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

TEST(a_terminal_of_80_columns)
{
	struct site s;
	struct str rest, line;

	site_open(&s, TEST_DIR "/hard.yaml");
	for (unsigned lang = 0; lang < LANG_N; lang++) {
		AUTO_BUF out = {0};

		buf_init(&out, PAGE_MAX);
		report_audit(&s.r, &(struct report_opts){.width = 80, .lang = (enum text_lang)lang},
			&out);
		rest = buf_str(&out);
		while (str_line(&rest, &line)) {
			if (letters(line) > 80)
				fail_msg("too wide: " STR_FMT, STR_ARG(line));
			assert_false(str_ends(line, " "));
		}
	}
	site_close(&s);
}

/* --- files --- */

static long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

TEST(files)
{
	static const struct {
		enum report_kind kind;
		const char *name, *begin;
	} kinds[] = {{REPORT_HTML, "a.html", "<!DOCTYPE html>"}, {REPORT_MD, "a.md", "# "},
		{REPORT_XLSX, "a.xlsx", "PK"}, {REPORT_JSON, "a.json", "{"}};
	struct site s;
	struct err err;

	site_open(&s, TEST_DIR "/hard.yaml");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		AUTO_STR path = xasprintf("%s/%s", t_dir(), kinds[i].name);
		char begin[16] = "";
		FILE *f;

		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(
				report_audit_write(kinds[i].kind, &s.r, LANG_RU, path, &err), 0);
		assert_true(size_of(path) > 1000);
		f = fopen(path, "re");
		assert_non_null(f);
		assert_true(fread(begin, 1, strlen(kinds[i].begin), f) > 0);
		fclose(f);
		assert_string_equal(begin, kinds[i].begin);
	}
	site_close(&s);
}

TEST(files_that_cannot_be)
{
	static const struct {
		const char *path;
		enum ec code;
	} cases[] = {{"/nowhere/at/all/a.html", E_NOTFOUND}, {"/dev/null", E_UNSUPPORTED},
		{"/tmp", E_UNSUPPORTED}, {"a/", E_SYNTAX}, {"", E_SYNTAX}};
	struct site s;
	struct err err;

	site_open(&s, TEST_DIR "/hard.yaml");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(
			report_audit_write(REPORT_HTML, &s.r, LANG_EN, cases[i].path, &err),
			-(int)cases[i].code);
		if (cases[i].code != E_NOTFOUND)
			assert_int_equal(
				report_audit_write(REPORT_XLSX, &s.r, LANG_EN, cases[i].path, &err),
				-(int)cases[i].code);
	}
	assert_true(
		report_audit_write(REPORT_XLSX, &s.r, LANG_EN, "/nowhere/at/all/a.xlsx", &err) < 0);
	site_close(&s);
}

/* --- the view --- */

TEST(view_of_a_rack)
{
	struct site s;
	struct view_rack v;

	site_open(&s, TEST_DIR "/hard.yaml");
	view_rack_make(&s.r, &s.a.racks.at[0], &v);
	assert_int_equal(v.feeds.n, 3);
	assert_int_equal(view_colour(&v, v.feeds.at[1].feed), 1);
	assert_true(view_colour(&v, 99) == MODEL_NONE);
	assert_true(fabs(v.feeds.at[0].limit_worst - 25.6) < 1e-6);
	assert_true(fabs(v.feeds.at[2].limit_worst - 12) < 1e-6); /* the plug's */
	assert_int_equal(v.feeds.at[0].verdict, AUDIT_FAIL);
	assert_int_equal(v.devices.n, 6);
	assert_string_equal(s.m->devices.at[v.devices.at[0].device].name, "sw1"); /* the top */
	assert_true(v.judged[RULE_WEIGHT]);
	assert_int_equal(v.rules[RULE_WEIGHT], AUDIT_FAIL);
	assert_non_null(view_find(&v, RULE_DEW_POINT));
	assert_null(view_find(&v, RULE_ZONE_KW));
	view_rack_done(&v);
	view_rack_done(NULL);
	site_close(&s);
}

#define START TEST_DIR "/../../../inventory/examples/start.yaml"

/* One panel feeds all: a warning for the rack and for each of its devices, told once. */
TEST(a_single_point_of_failure)
{
	struct site s;
	struct view_rack v;
	AUTO_BUF out = {0};

	buf_init(&out, PAGE_MAX);
	site_open(&s, START);
	assert_int_equal(s.a.racks.at[0].verdict, AUDIT_WARN);
	view_rack_make(&s.r, &s.a.racks.at[0], &v);
	assert_int_equal(v.devices.n, 5);
	vec_each(&v.devices, const struct view_device, d)
		assert_int_equal(d->verdict, AUDIT_WARN);
	view_rack_done(&v);
	report_audit(&s.r, &(struct report_opts){.lang = LANG_EN}, &out);
	has(&out, "single point of failure: panel\u00a0mains\n"
		  "        takes down 5 devices: 'mgmt01', 'gpu01', 'gpu02', 'roce1', 'oob1'\n");
	lacks(&out, "devices down");
	site_close(&s);
}

TEST(a_loss_that_is_asked_for)
{
	const struct audit_subject mains = {NOUN_PANEL, 0};
	struct err_list errors = {0};
	struct site s = {.m = NULL};
	struct view_rack v;
	AUTO_JSON all = NULL;
	AUTO_BUF out = {0};

	buf_init(&out, PAGE_MAX);
	assert_int_equal(import_site(START, &s.m, &errors), 0);
	site_audit(&s, &mains);
	assert_int_equal(s.a.verdict, AUDIT_FAIL);
	view_rack_make(&s.r, &s.a.racks.at[0], &v);
	vec_each(&v.devices, const struct view_device, d)
		assert_int_equal(d->verdict, AUDIT_FAIL);
	view_rack_done(&v);
	report_audit(&s.r, &(struct report_opts){.lang = LANG_EN}, &out);
	assert_true(str_starts(
		buf_str(&out), "with panel\u00a0mains lost: 5 of 5 devices down\n\nRACK"));
	buf_clear(&out);
	report_audit_md(&s.r, LANG_RU, &out);
	has(&out, "при потере (щит\u00a0mains): отключено устройств: 5 из 5");
	buf_clear(&out);
	report_audit(&s.r, &(struct report_opts){.json = true}, &out);
	assert_int_equal(json_parse(buf_str(&out), PAGE_MAX, "audit", &all, NULL), 0);
	assert_int_equal(json_get_int(all, "devices_down", -1), 5);
	assert_int_equal(json_get_int(all, "devices_count", -1), 5);
	assert_int_equal(json_array_size(json_get(all, "lost")), 1);
	site_close(&s);
}

TEST(mass_that_nobody_stated)
{
	AUTO_BUF out = {0};

	buf_init(&out, 256);
	view_add_mass(&out, LANG_EN, 0);
	assert_string_equal(buf_text(&out), "not stated");
	buf_clear(&out);
	view_add_mass(&out, LANG_RU, 12.5);
	assert_string_equal(buf_text(&out), "12,5\u202fкг");
}

T_MAIN
