/* telling - lines of logs that say what went wrong, and those that only look so. */
#include "tests/unit/t.h"

#include "controller/command/telling.h"

static void tells(const char *text, unsigned most, const char *want)
{
	AUTO_BUF out;

	buf_init(&out, 1 << 16);
	telling_lines(str_of(text), most, &out);
	assert_string_equal(buf_text(&out), want);
}

TEST(finds_what_went_wrong)
{
	tells("", 5, "");
	tells("all is well\nindeed\n", 5, "");
	tells("ok\n  E: Unable to locate package x\nok\n", 5, "E: Unable to locate package x\n");
	tells("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus", 5,
		"NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n");
	tells("make: done, 0 errors\nmounted with errors=remount-ro\n", 5, "");
	tells("FAILED\r\nfine\r\n", 5, "FAILED\n");
	tells("Commandline: apt-get -o DPkg::Lock::Timeout=60\n"
	      "2026-11-30 23:17:10 status half-configured x:amd64 1\n"
	      "The following packages are only half configured, probably due to problems\n",
		5, "The following packages are only half configured, probably due to problems\n");
}

TEST(keeps_the_last)
{
	tells("error 1\nerror 2\nerror 3\n", 2, "error 2\nerror 3\n");
	tells("error 1\nerror 2\nerror 3\n", 0, "");
	tells("error 1\nerror 2\nerror 3\n", 1000, "error 1\nerror 2\nerror 3\n");
}

TEST(long_lines_are_cut_between_characters)
{
	char text[600] = "error ";
	AUTO_BUF out;

	for (size_t i = 6; i + 2 < sizeof text; i += 2)
		memcpy(text + i, "\xd0\xb6", 2); /* one letter of two bytes */
	text[598] = '\0';
	buf_init(&out, 1 << 16);
	telling_lines(str_of(text), 3, &out);
	assert_true(out.n <= 201);
	assert_true(str_is_utf8(buf_str(&out)));
}

T_MAIN
