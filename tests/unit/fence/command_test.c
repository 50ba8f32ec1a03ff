/* command_test - a site's own command: its lines read, its verbs called. */
#include "controller/fence/hook.h"
#include "tests/unit/fence/play.h"

#include <string.h>

TEST(lines_are_read)
{
	play_clean();
	struct fence *f = play_new(FENCE_COMMAND, "R1");
	struct err err = {0};
	const char *text =
		"{\"can_reboot\": true}\n\n"
		"{\"node\": \"n1\", \"state\": \"closing\", \"ours\": true, \"jobs\": 2, "
		"\"reason\": \"driver\", \"by\": \"stoika\"}\n"
		"{\"node\": \"n2\", \"state\": \"open\", \"ours\": true}\n"
		"{\"node\": \"n3\", \"state\": \"down\", \"ours\": true, \"rebooted\": true}\n"
		"{\"node\": \"n9\", \"state\": \"closed\"}\n";
	if (fence_read_command(f, str_of(text), 3, &err))
		fail_msg("%s", err.msg);
	assert_true(fence_can_reboot(f));
	assert_int_equal(fence_look(f, 0)->state, FENCE_CLOSING);
	assert_int_equal(fence_look(f, 0)->jobs, 2);
	assert_true(fence_look(f, 0)->ours);
	assert_string_equal(fence_look(f, 0)->by, "stoika");
	assert_false(fence_look(f, 1)->ours);
	assert_true(fence_is_closed(fence_look(f, 2)) && fence_look(f, 2)->rebooted);
	fence_free(f);
}

TEST(wrong_lines_are_refused_whole)
{
	static const char *const all[][2] = {
		{"{\"node\": \"n1\", \"state\": \"open\"}", "it ends in the middle of a line"},
		{"{\"node\": \"n1\", \"state\": \"open\"}\n{\"node\": \"n2\", \"state\": \"tired\"}\n",
			"line 2: expected a node, and a state of absent, open, closing, closed, "
			"down"},
		{"{\"state\": \"open\"}\n",
			"line 1: expected a node, and a state of absent, open, closing, closed, "
			"down"},
		{"n1 open\n", "line 1: "},
		{"", "it named no node"},
		{"{\"can_reboot\": true}\n", "it named no node"},
	};
	play_clean();
	struct fence *f = play_new(FENCE_COMMAND, "R1");
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct err err = {0};
		assert_int_not_equal(fence_read_command(f, str_of(all[i][0]), 1, &err), 0);
		if (strncmp(err.msg, all[i][1], strlen(all[i][1])) != 0)
			fail_msg("'%s', not '%s'", err.msg, all[i][1]);
		assert_int_equal(fence_look(f, 0)->state, FENCE_UNASKED);
	}
	fence_free(f);
}

TEST(closes_and_opens_by_its_verbs)
{
	play_clean();
	play_write("nodes", "n1|IDLE|||\nn2|IDLE|||\nn3|IDLE|DRAIN|mine|bob\n");
	struct fence *f = play_new(FENCE_COMMAND, "R1");
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_CLOSED, "driver 595");
	PLAY_UNTIL(f, fence_is_closed(fence_look(f, 0)) && fence_is_closed(fence_look(f, 1)));
	assert_int_equal(play_calls("site close n1 n2\n"), 1);
	assert_string_equal(fence_look(f, 0)->reason, "driver 595");
	assert_string_equal(fence_look(f, 2)->trouble, "somebody else holds it: mine (bob)");
	fence_want(f, 1, WANT_CLOSED, "driver 595: quarantined");
	PLAY_UNTIL(f, strstr(fence_look(f, 1)->reason, "quarantined"));
	assert_int_equal(play_calls("site close n2\n"), 1);
	for (size_t i = 0; i < 3; i++)
		fence_want(f, i, WANT_OPEN, "");
	PLAY_UNTIL(f, fence_look(f, 1)->state == FENCE_OPEN);
	play_for(f, 200 * CLOCK_MS);
	assert_int_equal(play_calls("site open n1 n2\n"), 1);
	assert_true(play_file_has("nodes", "n3|IDLE|DRAIN|mine|bob"));
	fence_free(f);
}

TEST(a_verb_that_fails_is_told)
{
	play_clean();
	play_write("nodes", "n1|IDLE|||\nn2|IDLE|||\nn3|IDLE|||\n");
	struct fence *f = play_new(FENCE_COMMAND, "R1");
	fence_want(f, 0, WANT_REBOOT, "driver 595");
	PLAY_UNTIL(f, fence_look(f, 0)->trouble[0]);
	assert_int_equal(fence_look(f, 0)->state, FENCE_CLOSED);
	assert_non_null(strstr(fence_look(f, 0)->trouble, "standin.sh' failed with status 64"));
	fence_free(f);
}

T_MAIN
