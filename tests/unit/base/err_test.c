/* err_test - codes and faults, the printed layout to the byte, near names. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "tests/unit/t.h"

#include <errno.h>

static const char *format(const struct err *err)
{
	static char text[8192];
	AUTO_BUF out;

	buf_init(&out, sizeof text - 1);
	err_format(err, &out);
	assert_true(buf_ok(&out));
	memcpy(text, buf_text(&out), out.n + 1);
	return text;
}

TEST(without_a_place)
{
	struct err err;

	assert_int_equal(err_set(&err, E_NOTFOUND, "no node '%s'", "n1"), -E_NOTFOUND);
	assert_int_equal(err.code, E_NOTFOUND);
	assert_int_equal(err.fault, FAULT_USER);
	assert_string_equal(format(&err), "error: no node 'n1'\n");
	assert_int_equal(err_hint(&err, "list them by '%s'", "stoika nodes"), -E_NOTFOUND);
	assert_string_equal(
		format(&err), "error: no node 'n1'\nhint: list them by 'stoika nodes'\n");
}

TEST(with_a_place)
{
	static const struct {
		unsigned line, col;
		const char *excerpt, *text;
	} cases[] = {
		{0, 0, "", "a.yaml: error: bad\n"},
		{3, 0, "", "a.yaml:3: error: bad\n"},
		{3, 0, "key: v", "a.yaml:3: error: bad\n    key: v\n"},
		{3, 1, "key: v", "a.yaml:3:1: error: bad\n    key: v\n    ^\n"},
		{3, 6, "key: v", "a.yaml:3:6: error: bad\n    key: v\n         ^\n"},
		{3, 7, "key: v", "a.yaml:3:7: error: bad\n    key: v\n          ^\n"},
		{3, 8, "key: v", "a.yaml:3:8: error: bad\n"}, /* no caret past the line */
		{3, 3, "\t\tx", "a.yaml:3:3: error: bad\n      x\n      ^\n"},
		{3, 4, "\xC3\xA4\xE2\x82\xAC: x",
			"a.yaml:3:4: error: bad\n    \xC3\xA4\xE2\x82\xAC: x\n       ^\n"},
		{3, 3,
			"\x1B\xFF"
			"c\xC2\x9B",
			"a.yaml:3:3: error: bad\n    ??c?\n      ^\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err err;

		assert_int_equal(
			err_at(&err, E_SYNTAX, "a.yaml", cases[i].line, cases[i].col, "%s", "bad"),
			-E_SYNTAX);
		err_excerpt(&err, cases[i].excerpt, strlen(cases[i].excerpt));
		assert_string_equal(format(&err), cases[i].text);
	}
}

TEST(long_lines_are_cut_between_letters)
{
	char line[400] = "";
	struct err err;

	for (int i = 0; i < 199; i++)
		memcpy(line + 2 * i, "\xC3\xA4", 2);
	(void)err_at(&err, E_SYNTAX, "a", 1, 5, "bad");
	err_excerpt(&err, line, 398);
	assert_int_equal(strlen(err.excerpt), 158);
	(void)err_at(&err, E_SYNTAX, "a", 1, 150, "bad");
	err_excerpt(&err, line, 398);
	assert_string_equal(format(&err), "a:1:150: error: bad\n");
}

TEST(nothing_reaches_the_terminal_raw)
{
	struct err err;

	(void)err_at(&err, E_SYNTAX, "a\x1B.yaml", 1, 1, "bad\nhint: \x1B[2J\xFF");
	err_hint(&err, "\r\xC2\x9B");
	memcpy(err.excerpt, "x\x07", 3);
	assert_string_equal(format(&err), "a\\x1b.yaml:1:1: error: bad\\x0ahint: \\x1b[2J\\xff\n"
					  "    x\\x07\n    ^\nhint: \\x0d\\xc2\\x9b\n");
}

TEST(long_messages_are_marked)
{
	struct err err;
	char text[1000];

	memset(text, 'x', sizeof text);
	memcpy(text + sizeof err.msg - 5, "\xC3\xA4", 2); /* the cut falls into it */
	text[sizeof text - 1] = '\0';
	(void)err_set(&err, E_IO, "%s", text);
	assert_int_equal(strlen(err.msg), sizeof err.msg - 2);
	assert_string_equal(err.msg + sizeof err.msg - 6, "x...");
	err_wrap(&err, "%s", "while testing");
	assert_int_equal(strncmp(err.msg, "while testing: xx", 17), 0);
	assert_string_equal(err.msg + strlen(err.msg) - 3, "...");
	(void)err_sys(&err, ENOSPC, "%s", text);
	assert_non_null(strstr(err.msg, "...: No space left on device"));
}

TEST(wrapping_keeps_the_rest)
{
	struct err err;

	(void)err_at(&err, E_SCHEMA, "f", 2, 3, "bad");
	err_hint(&err, "help");
	assert_int_equal(err_wrap(&err, "node '%s'", "n1"), -E_SCHEMA);
	assert_string_equal(format(&err), "f:2:3: error: node 'n1': bad\nhint: help\n");
}

TEST(kernel_errors)
{
	static const struct {
		int sys;
		enum ec code;
		enum err_fault fault;
	} cases[] = {
		{ENOENT, E_NOTFOUND, FAULT_USER},
		{EEXIST, E_EXISTS, FAULT_USER},
		{EACCES, E_DENIED, FAULT_ENVIRONMENT},
		{EROFS, E_DENIED, FAULT_ENVIRONMENT},
		{ENOSPC, E_NOSPACE, FAULT_ENVIRONMENT},
		{EDQUOT, E_NOSPACE, FAULT_ENVIRONMENT},
		{ETIMEDOUT, E_TIMEOUT, FAULT_ENVIRONMENT},
		{ECONNREFUSED, E_NET, FAULT_ENVIRONMENT},
		{EBUSY, E_BUSY, FAULT_ENVIRONMENT},
		{EIO, E_IO, FAULT_ENVIRONMENT},
		{EBADF, E_INTERNAL, FAULT_US},
		{123456, E_IO, FAULT_ENVIRONMENT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct err err;

		assert_int_equal(err_sys(&err, cases[i].sys, "x"), -(int)cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(err.fault, cases[i].fault);
		assert_int_equal(err.sys, cases[i].sys);
	}
	struct err err;

	(void)err_sys(&err, ENOENT, "cannot open '%s'", "/x");
	assert_string_equal(err.msg, "cannot open '/x': No such file or directory");
	(void)err_sys(&err, 123456, "x");
	assert_string_equal(err.msg, "x: unknown error");
}

TEST(no_struct_is_fine)
{
	assert_int_equal(err_set(NULL, E_BUSY, "x"), -E_BUSY);
	assert_int_equal(err_sys(NULL, ENOENT, "x"), -E_NOTFOUND);
	assert_int_equal(err_at(NULL, E_SYNTAX, "f", 1, 1, "x"), -E_SYNTAX);
	assert_int_equal(err_hint(NULL, "x"), -E_INTERNAL);
	assert_int_equal(err_wrap(NULL, "x"), -E_INTERNAL);
	err_excerpt(NULL, "x", 1);
}

TEST(every_code_has_a_name)
{
	for (int i = 1; i < E_MAX; i++)
		for (int k = i + 1; k < E_MAX; k++)
			assert_string_not_equal(ec_name((enum ec)i), ec_name((enum ec)k));
	assert_string_equal(ec_name(E_SYNTAX), "syntax");
	assert_string_equal(ec_name(E_INTERNAL), "internal");
	assert_string_equal(ec_name(E_MAX), "unknown");
}

TEST(near_names)
{
	static const char *const names[] = {
		"hostname", "height_u", "packages", "os", "when", "mounted", "unmounted", NULL};
	static const struct {
		const char *word, *near;
	} cases[] = {
		{"hostnam", "hostname"},
		{"hotsname", "hostname"},
		{"HostName", "hostname"},
		{"package", "packages"},
		{"pakage", "packages"},
		{"heigth_u", "height_u"},
		{"wehn", "when"},
		{"so", "os"},
		{"xy", NULL},
		{"", NULL},
		{"entirely", NULL},
		{"wxyz", NULL},
		{"umounted", "unmounted"},
	};
	char huge[5000];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *near = err_nearest(cases[i].word, names);

		assert_string_equal(near ? near : "-", cases[i].near ? cases[i].near : "-");
	}
	memset(huge, 'a', sizeof huge);
	huge[sizeof huge - 1] = '\0';
	assert_null(err_nearest(huge, names));
	assert_null(err_nearest("aaaa", (const char *const[]){huge, NULL}));
	assert_null(err_nearest("a", (const char *const[]){NULL}));
}

T_MAIN
