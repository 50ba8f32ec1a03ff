/* csv - RFC 4180, places of cells, encodings, separators, caps. */
#include "agent/base/buf.h"
#include "inventory/import/csv.h"
#include "tests/unit/t.h"

struct table {
	struct sources s;
	struct err_list errors;
	struct losses losses;
	struct yaml_node *rows, *columns;
	bool good;
};

static void read_bytes(struct table *t, const char *text, size_t n, char separator)
{
	memset(t, 0, sizeof *t);
	sources_init(&t->s, &t->errors, &t->losses);
	sources_add_text(&t->s, "other.csv", STR_LIT("x\n1\n"));
	sources_add_text(&t->s, "t.csv", (struct str){text, n});
	t->good = csv_read(&t->s, &t->s.files.at[1], separator, &t->rows, &t->columns);
	sources_finish(&t->s);
}

static void read_table(struct table *t, const char *text)
{
	read_bytes(t, text, strlen(text), 0);
}

static void table_done(struct table *t)
{
	sources_done(&t->s);
	err_list_done(&t->errors);
	losses_done(&t->losses);
}

/* Rows as "a=1;b=2|..." with NUL for none. */
static const char *shown(const struct table *t)
{
	static char text[500];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; t->rows && i < t->rows->n; i++) {
		const struct yaml_node *row = t->rows->item[i];

		n += (size_t)snprintf(text + n, sizeof text - n, "%s", i ? "|" : "");
		for (unsigned k = 0; k < row->n; k++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%s", k ? ";" : "",
				row->key[k]->text.p, row->item[k]->text.p);
	}
	return text;
}

TEST(tables_as_they_are)
{
	static const struct {
		const char *text, *rows;
	} cases[] = {
		{"a,b\n1,2\n3,4\n", "a=1;b=2|a=3;b=4"},
		{"a,b\r\n1,2\r\n", "a=1;b=2"},
		{"a,b\n1,2", "a=1;b=2"},
		{"a;b\n1;2,5\n", "a=1;b=2,5"},
		{"a\tb\n1\t2\n", "a=1;b=2"},
		{"\xef\xbb\xbf"
		 "a,b\n1,2\n",
			"a=1;b=2"},
		{"a,b\n\"x, \"\"y\"\"\",2\n", "a=x, \"y\";b=2"},
		{"a,b\n\"two\nlines\",2\n", "a=two\nlines;b=2"},
		{"a,b\n,2\n\n1,\n", "b=2|a=1"},
		{"\"a;x\",b\n1,2\n", "a;x=1;b=2"},
		{"a,,b\n1,2,3\n", "a=1;column 2=2;b=3"},
		{"a\n", ""},
		{"a , b\n 1 , 2 \n", "a=1;b=2"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct table t;

		read_table(&t, cases[i].text);
		assert_true(t.good);
		assert_int_equal(t.errors.total, 0);
		assert_string_equal(shown(&t), cases[i].rows);
		table_done(&t);
	}
}

TEST(faults_with_their_places)
{
	static const struct {
		const char *text, *says, *hint;
		unsigned line, col;
	} cases[] = {
		{"a,b\n1,\"2\n3,4\n", "never closes", "double", 2, 3},
		{"a,b\n1,2\"3\n", "not quoted", "double", 2, 4},
		{"a,b\n1\n", "1 cells, the header has 2", "", 2, 1},
		{"a,b\n1,2,3\n", "3 cells", "", 2, 1},
		{"a,b,a\n", "'a' is there twice", "", 1, 5},
		{"a,b\n\"x\ny\",\"z\"w\"\n", "not quoted", "", 3, 8},
		{"имя,b\nя,ю\"\n", "not quoted", "", 2, 4},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct table t;

		read_table(&t, cases[i].text);
		assert_true(t.errors.total > 0);
		assert_non_null(strstr(t.errors.list.at[0].msg, cases[i].says));
		assert_non_null(strstr(t.errors.list.at[0].hint, cases[i].hint));
		assert_string_equal(t.errors.list.at[0].file, "t.csv");
		assert_int_equal(t.errors.list.at[0].line, cases[i].line);
		assert_int_equal(t.errors.list.at[0].col, cases[i].col);
		table_done(&t);
	}
}

TEST(every_faulty_row_is_told)
{
	struct table t;

	read_table(&t, "a,b\n1\n2\n3,3\n4\n");
	assert_int_equal(t.errors.total, 3);
	assert_int_equal(t.errors.list.at[2].line, 5);
	table_done(&t);
}

TEST(other_encodings_are_refused)
{
	static const struct {
		const char *text;
		size_t n;
		const char *hint;
		unsigned line, col;
	} cases[] = {
		{"a\n\xd1\xf2\xee\xe9\xea\xe0\n", 9, "CP1251", 2, 1},
		{"a\nM\xfcller\n", 9, "CP1252", 2, 2},
		{"\xff\xfe"
		 "a\0\n\0",
			6, "UTF-16", 1, 1},
		{"PK\x03\x04\x14\0\x06\0", 8, "save it as CSV", 1, 6},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct table t;

		read_bytes(&t, cases[i].text, cases[i].n, 0);
		assert_false(t.good);
		assert_int_equal(t.errors.total, 1);
		assert_non_null(strstr(t.errors.list.at[0].hint, cases[i].hint));
		assert_int_equal(t.errors.list.at[0].line, cases[i].line);
		assert_int_equal(t.errors.list.at[0].col, cases[i].col);
		table_done(&t);
	}
}

TEST(stated_separator_wins)
{
	struct table t;

	read_bytes(&t, "a,b;c\n1,2;3\n", 12, ';');
	assert_string_equal(shown(&t), "a,b=1,2;c=3");
	table_done(&t);
}

TEST(caps)
{
	struct table t;
	AUTO_BUF text = {0};

	buf_init(&text, 8 << 20);
	for (int i = 0; i <= CSV_COLUMNS_MAX; i++)
		buf_addf(&text, "c%d,", i);
	read_table(&t, buf_text(&text));
	assert_int_equal(t.errors.list.at[0].code, E_LIMIT);
	table_done(&t);
	buf_clear(&text);
	buf_add_text(&text, "a\n");
	for (int i = 0; i <= CSV_CELL_MAX; i++)
		buf_add_char(&text, 'x');
	read_table(&t, buf_text(&text));
	assert_int_equal(t.errors.list.at[0].code, E_LIMIT);
	assert_int_equal(t.errors.list.at[0].line, 2);
	table_done(&t);
	buf_clear(&text);
	buf_add_text(&text, "a\n");
	for (int i = 0; i <= CSV_ROWS_MAX; i++)
		buf_add_text(&text, "1\n");
	read_table(&t, buf_text(&text));
	assert_int_equal(t.errors.list.at[0].code, E_LIMIT);
	assert_int_equal(t.rows->n, CSV_ROWS_MAX);
	table_done(&t);
}

/* --- names --- */

TEST(names_for_the_site_file)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"gpu01", "gpu01"},
		{"Ethernet1/1", "Ethernet1-1"},
		{"PSU 1", "PSU-1"},
		{"Машзал 1", "Mashzal-1"},
		{"щука", "shchuka"},
		{"Ёлка", "Elka"},
		{"объём", "obem"},
		{"--x--", "x"},
		{"日本", ""},
	};
	struct table t;

	read_table(&t, "a\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(source_name(&t.s, "n", cases[i].from), cases[i].to);
	assert_string_equal(source_label(&t.s, "n", " A/B\tС "), "A-B-С");
	assert_int_equal(strlen(source_label(&t.s, "n",
				 "яяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяяя")),
		64);
	assert_int_equal(losses_find(&t.losses, "n", "name")->kind, LOSS_CHANGED);
	table_done(&t);
}

T_MAIN
