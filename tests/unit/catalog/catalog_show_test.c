/*
 * catalog_show_test - what a person reads of an entry, against a golden file.
 *
 * STOIKA_UPDATE=1 writes show_dgx-h100.txt anew; read the difference before it is kept.
 */
#include "inventory/catalog/catalog_show.h"
#include "tests/unit/t.h"

#define GOLDEN TEST_DIR "/show_dgx-h100.txt"

static struct catalog *load(void)
{
	struct catalog *c = NULL;
	struct err err = {0};

	assert_int_equal(catalog_load(NULL, &c, NULL, &err), 0);
	return c;
}

static void read_golden(struct buf *out)
{
	FILE *f = fopen(GOLDEN, "re");
	void *to = buf_room(out, 1 << 16);

	assert_non_null(f);
	assert_non_null(to);
	buf_grew(out, fread(to, 1, 1 << 16, f));
	fclose(f);
}

TEST(entry_as_golden)
{
	struct catalog *c = load();
	AUTO_BUF text = {0}, golden = {0};
	struct str rest, line;

	buf_init(&text, 1 << 20);
	buf_init(&golden, 1 << 20);
	catalog_show_entry(catalog_find(c, CATALOG_KINDS, "dgx-h100"), &text);
	if (getenv("STOIKA_UPDATE")) {
		FILE *f = fopen(GOLDEN, "we");

		assert_non_null(f);
		fputs(buf_text(&text), f);
		fclose(f);
	}
	read_golden(&golden);
	assert_string_equal(buf_text(&text), buf_text(&golden));
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (line.n > 80 && !strstr(line.p, "http"))
			fail_msg("wide: " STR_FMT, STR_ARG(line));
	catalog_free(c);
}

TEST(assumed_is_seen)
{
	struct catalog *c = load();
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 20);
	catalog_show_list(c, CATALOG_SWITCH, &text);
	assert_non_null(strstr(buf_text(&text), "~2100 W"));
	assert_non_null(strstr(buf_text(&text), ", 1720 W"));
	assert_null(strstr(buf_text(&text), "dgx-h100"));
	buf_clear(&text);
	catalog_show_list(c, CATALOG_KINDS, &text);
	assert_non_null(strstr(buf_text(&text), "dgx-h100"));
	catalog_free(c);
}

TEST(hostile_texts_do_not_reach_the_terminal)
{
	struct catalog *c = NULL;
	AUTO_BUF text = {0};
	struct err err = {0};

	buf_init(&text, 1 << 20);
	assert_int_equal(
		catalog_load_text("t",
			STR_LIT("format: 1\nsources: {a: {title: \"\\e[31mred\"}}\nnotes:\n"
				"  - {id: n, name: \"a\\e[2J\", text: \"b\\rc\", note: \"\\x07\", "
				"source: a, confidence: low}\n"),
			&c, NULL, &err),
		0);
	catalog_show_entry(c->entries.at[0], &text);
	catalog_show_list(c, CATALOG_KINDS, &text);
	for (size_t i = 0; i < text.n; i++)
		assert_true(text.p[i] == '\n' || (unsigned char)text.p[i] >= ' ');
	catalog_free(c);
}

TEST(json)
{
	struct catalog *c = load();
	AUTO_JSON entry = catalog_entry_json(catalog_find(c, CATALOG_KINDS, "dgx-h100"));
	AUTO_JSON list = catalog_list_json(c, CATALOG_GPU);
	const json_t *fields = json_get(entry, "fields");
	bool seen = false;

	assert_string_equal(json_get_str(entry, "kind", ""), "server");
	for (size_t i = 0; i < json_array_size(fields); i++) {
		const json_t *f = json_array_get(fields, i);

		if (strcmp(json_get_str(f, "key", ""), "watts_measured_peak") != 0)
			continue;
		seen = true;
		assert_true(json_get_bool(f, "assumed", false));
		assert_string_equal(json_get_str(f, "origin", ""), "catalogue");
		assert_true(json_number_value(json_object_get(f, "value")) == 8400);
	}
	assert_true(seen);
	assert_int_equal(json_array_size(list), 19);
	catalog_free(c);
}

T_MAIN
