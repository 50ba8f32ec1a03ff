/* svg - elements as text, escapes, text that fits; the pictures of racks against golden files. */
#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "inventory/import/import.h"
#include "inventory/report/elevation.h"
#include "inventory/report/palette.h"
#include "inventory/report/svg.h"
#include "tests/unit/t.h"

#include <math.h>

TEST(elements)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1u << 16);
	svg_rect(&out, (struct svg_box){1, 2.25, 30.04, -5}, "fill=\"#fff\"", NULL);
	svg_rect(&out, (struct svg_box){-0.01, (double)NAN, 1, 1}, NULL, "a <b> & \"c\"");
	svg_line(&out, 0, 1, 2, 3, "stroke=\"#000\"");
	svg_link(&out, (const double[2]){0, 10}, (const double[2]){20, 30}, "stroke=\"red\"", NULL);
	svg_text(&out, 5, 6.7, "font-size=\"9\"", "x\x1b[31m<y>");
	svg_group(&out, "id=\"g\"");
	svg_group_end(&out);
	assert_string_equal(buf_text(&out),
		"<rect x=\"1\" y=\"2.2\" width=\"30\" height=\"0\" fill=\"#fff\"/>\n"
		"<rect x=\"0\" y=\"0\" width=\"1\" height=\"1\"><title>a &lt;b&gt; &amp; "
		"&quot;c&quot;</title></rect>\n"
		"<line x1=\"0\" y1=\"1\" x2=\"2\" y2=\"3\" stroke=\"#000\"/>\n"
		"<path d=\"M0 10C10 10 10 30 20 30\" fill=\"none\" stroke=\"red\"/>\n"
		"<text x=\"5\" y=\"6.7\" font-size=\"9\">x\\x1b[31m&lt;y&gt;</text>\n"
		"<g id=\"g\">\n</g>\n");
}

TEST(text_that_fits)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1024);
	svg_fit(&out, "short", 100, 10);
	assert_string_equal(buf_text(&out), "short");
	buf_clear(&out);
	svg_fit(&out, "устройство с длинным именем", 60, 10);
	assert_true(strstr(buf_text(&out), "устройс") == buf_text(&out));
	assert_non_null(strstr(buf_text(&out), "…"));
	assert_true(str_is_utf8(buf_str(&out)));
	buf_clear(&out);
	svg_fit(&out, "anything", 1, 10);
	assert_string_equal(buf_text(&out), "…");
	buf_clear(&out);
	svg_fit(&out, "\xff\xfe odd", 500, 10);
	assert_string_equal(buf_text(&out), "\xff\xfe odd");
	assert_true(svg_text_width("wide", 20) > svg_text_width("wide", 10));
}

TEST(colours_come_again)
{
	assert_string_equal(palette_feed(0).ink, palette_feed(PALETTE_FEEDS).ink);
	assert_string_equal(palette_verdict(AUDIT_VERDICT_N).ink, palette_verdict(AUDIT_FAIL).ink);
}

/* --- golden files --- */

typedef void (*draw_fn)(const struct view_rack *, enum text_lang, struct buf *);

static void read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char part[4096];
	size_t n;

	if (!f)
		fail_msg("cannot open '%s': make it with STOIKA_UPDATE=1", path);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(out, part, n);
	fclose(f);
}

static void same_as(const char *name, const struct buf *got)
{
	AUTO_STR path = xasprintf(TEST_DIR "/golden/%s", name);
	AUTO_BUF want = {0};

	buf_init(&want, 1u << 22);
	if (getenv("STOIKA_UPDATE")) {
		FILE *f = fopen(path, "we");

		assert_non_null(f);
		assert_int_equal(fwrite(buf_text(got), 1, got->n, f), got->n);
		fclose(f);
	}
	read_file(path, &want);
	if (strcmp(buf_text(&want), buf_text(got)) != 0)
		fail_msg("differs from %s; STOIKA_UPDATE=1 writes it anew", path);
}

TEST(pictures_of_a_rack)
{
	static const struct {
		const char *name;
		draw_fn draw;
		enum text_lang lang;
	} pictures[] = {
		{"front.svg", elevation_front, LANG_EN},
		{"rear.svg", elevation_rear, LANG_EN},
		{"loads.svg", elevation_loads, LANG_EN},
		{"heat.svg", elevation_heat, LANG_EN},
		{"front-ru.svg", elevation_front, LANG_RU},
		{"loads-ru.svg", elevation_loads, LANG_RU},
	};
	const struct audit_opts o = {.policy = "strict80", .basis = BASIS_MAX};
	struct err_list errors = {0};
	struct model *m = NULL;
	struct audit a = {0};
	struct view_rack v;
	struct err err;

	assert_int_equal(import_site(TEST_DIR "/hard.yaml", &m, &errors), 0);
	assert_int_equal(audit_run(m, &o, &a, &err), 0);
	view_rack_make(&(struct audit_report){.audit = &a}, &a.racks.at[0], &v);
	for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 1u << 22);
		pictures[i].draw(&v, pictures[i].lang, &out);
		same_as(pictures[i].name, &out);
	}
	view_rack_done(&v);
	audit_done(&a);
	model_free(m);
}

T_MAIN
