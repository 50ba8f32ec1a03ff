/* log_test - the line as journald gets it, read back from a pipe. */
#include "agent/base/log.h"
#include "tests/unit/t.h"

#include <fcntl.h>

static char got[40000];

/* What emit writes to stderr. */
static const char *capture(void (*emit)(void))
{
	const int saved = dup(2);
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/err", t_dir());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	dup2(fd, 2);
	emit();
	dup2(saved, 2);
	close(saved);
	n = pread(fd, got, sizeof got - 1, 0);
	close(fd);
	assert_true(n >= 0);
	got[n] = '\0';
	return got;
}

static void emit_levels(void)
{
	log_set_level(LOG_WARN);
	log_err("a");
	log_warn("b");
	log_info("c");
	log_set_level(LOG_DEBUG);
	log_info("d");
	log_debug("e");
	log_set_level(LOG_WARN);
}

TEST(levels)
{
	assert_string_equal(capture(emit_levels),
		"<3>level=error event=a\n<4>level=warn event=b\n"
		"<6>level=info event=d\n<7>level=debug event=e\n");
}

static void emit_values(void)
{
	log_warn("x", "plain", "v1", "blank", "a b", "quote", "say \"hi\"\\", "empty", "", "none",
		(const char *)0);
	log_warn("y", "ctrl", "a\nb\x1B[2J\xFF", "eq", "a=b", "utf", "\xC3\xA4");
}

TEST(values_are_quoted_and_escaped)
{
	assert_string_equal(capture(emit_values),
		"<4>level=warn event=x plain=v1 blank=\"a b\" quote=\"say \\\"hi\\\"\\\\\" empty=\"\" "
		"none=\"\"\n"
		"<4>level=warn event=y ctrl=\"a\\x0ab\\x1b[2J\\xff\" eq=\"a=b\" utf=\xC3\xA4\n");
}

static void emit_tags(void)
{
	log_set_tag("run", "r1");
	log_set_tag("node", "n1");
	log_warn("x");
	log_set_tag("run", "r2");
	log_set_tag("node", NULL);
	log_warn("y", "k", "v");
	log_set_tag("run", NULL);
	log_warn("z");
	for (int i = 0; i < 20; i++) {
		char key[16];

		snprintf(key, sizeof key, "k%d", i);
		log_set_tag(key, NULL); /* more than there is room for: ignored */
	}
	log_warn("w");
}

TEST(tags)
{
	assert_string_equal(capture(emit_tags),
		"<4>level=warn event=x run=r1 node=n1\n<4>level=warn event=y k=v run=r2\n"
		"<4>level=warn event=z\n<4>level=warn event=w\n");
}

static void emit_huge(void)
{
	static char text[30000];

	memset(text, 'x', sizeof text - 1);
	log_warn("huge", "a", "1", "text", text, "b", "2");
	log_warn("next");
}

TEST(a_huge_value_is_cut_and_marked)
{
	const char *text = capture(emit_huge);
	const char *end = strchr(text, '\n');

	assert_non_null(end);
	assert_memory_equal(end - 6, " cut=1", 6);
	assert_string_equal(end + 1, "<4>level=warn event=next\n");
}

T_MAIN
