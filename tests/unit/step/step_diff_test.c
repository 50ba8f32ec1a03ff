/* diff - against the hunks that diff -u prints, and its caps. */
#include "agent/step/diff.h"
#include "tests/unit/t.h"

static const char *diff(const char *before, const char *after)
{
	static struct buf out;
	const struct str a = str_of(before), b = str_of(after);

	buf_done(&out);
	buf_init(&out, 1 << 20);
	diff_unified(before ? &a : NULL, after ? &b : NULL, "f", &out);
	return buf_text(&out);
}

static const struct {
	const char *name, *before, *after, *want;
} CASES[] = {
	{"same", "a\nb\n", "a\nb\n", ""},
	{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
	{"new file", NULL, "a\nb\n", "--- (absent)\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
	{"gone file", "a\n", NULL, "--- f\n+++ (absent)\n@@ -1,1 +0,0 @@\n-a\n"},
	{"added at the end", "a\n", "a\nb\n", "--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+b\n"},
	{"added at the front", "b\n", "a\nb\n", "--- f\n+++ f\n@@ -1,1 +1,2 @@\n+a\n b\n"},
	{"no newline", "a", "a\n",
		"--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ no newline at the end\n+a\n"},
	{"two hunks", "x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\n8\nY\n",
		"--- f\n+++ f\n@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-y\n+Y\n"},
	{"near changes are one hunk", "x\n1\n2\n3\n4\n5\n6\ny\n", "X\n1\n2\n3\n4\n5\n6\nY\n",
		"--- f\n+++ f\n@@ -1,8 +1,8 @@\n-x\n+X\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n+Y\n"},
	{"a moved line", "a\nb\nc\n", "b\nc\na\n",
		"--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n b\n c\n+a\n"},
	{"to empty", "a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"},
};

TEST(diff_prints_as_expected)
{
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		const char *got = diff(CASES[i].before, CASES[i].after);

		if (strcmp(got, CASES[i].want) != 0)
			fail_msg("%s: got\n%s\nwant\n%s", CASES[i].name, got, CASES[i].want);
	}
}

/* What the marks say must rebuild both sides. */
static void rebuild(const char *text, char mark, struct buf *out)
{
	struct str rest = str_of(text), line;

	while (str_next(&rest, '\n', &line)) {
		if (str_starts(line, "---") || str_starts(line, "+++") || str_starts(line, "@@"))
			continue;
		if (line.p[0] == ' ' || line.p[0] == mark) {
			buf_add_str(out, str_from(line, 1));
			buf_add_char(out, '\n');
		}
	}
}

TEST(diff_of_random_texts_rebuilds_both)
{
	unsigned seed = 1;

	for (int round = 0; round < 300; round++) {
		struct buf a, b, x, y, d;
		struct str sa, sb;

		buf_init(&a, 4096), buf_init(&b, 4096), buf_init(&x, 4096), buf_init(&y, 4096);
		buf_init(&d, 65536);
		for (int i = 0; i < 6; i++) {
			seed = seed * 1103515245 + 12345;
			buf_addf(&a, "%u\n", (seed >> 16) % 4);
			seed = seed * 1103515245 + 12345;
			buf_addf(&b, "%u\n", (seed >> 16) % 4);
		}
		sa = buf_str(&a), sb = buf_str(&b);
		diff_unified(&sa, &sb, "f", &d);
		if (!str_eq(sa, sb)) {
			/* six lines with context 3: a hunk may leave out a common head or tail */
			rebuild(buf_text(&d), '-', &x);
			rebuild(buf_text(&d), '+', &y);
			assert_true(str_find_str(sa, buf_str(&x)) != STR_NONE);
			assert_true(str_find_str(sb, buf_str(&y)) != STR_NONE);
			assert_int_equal(a.n - x.n, b.n - y.n);
		}
		buf_done(&a), buf_done(&b), buf_done(&x), buf_done(&y), buf_done(&d);
	}
}

TEST(diff_falls_back_when_it_would_cost_too_much)
{
	struct buf a, b, d;
	struct str sa, sb;

	buf_init(&a, 1 << 20), buf_init(&b, 1 << 20), buf_init(&d, 1 << 22);
	for (int i = 0; i < 3000; i++) {
		buf_addf(&a, "a%d\n", i);
		buf_addf(&b, "b%d\n", i);
	}
	sa = buf_str(&a), sb = buf_str(&b);
	diff_unified(&sa, &sb, "f", &d);
	assert_non_null(strstr(buf_text(&d), "@@ -1,3000 +1,3000 @@\n-a0\n"));
	buf_done(&a), buf_done(&b), buf_done(&d);
}

TEST(diff_tells_text_from_bytes)
{
	assert_true(diff_is_text(STR_LIT("plain\tor\r\nnot, \xd0\xb6\n")));
	assert_true(diff_is_text(STR_LIT("")));
	assert_false(diff_is_text(STR_LIT("a\0b")));
	assert_false(diff_is_text(STR_LIT("\x1b[31mred")));
	assert_false(diff_is_text(STR_LIT("\xff\xfe")));
}

T_MAIN
