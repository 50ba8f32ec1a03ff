/* session_restart - a run whose restart is somebody else's: the link ends, and everybody who asks
 * is told that it waits, until the boot id is another one. */
#include "tests/unit/run/peer.h"

static const char DEMO[] = "recipe: demo\nsteps:\n"
			   "  - file: {path: /a, content: a}\n"
			   "  - reboot: {}\n"
			   "  - file: {path: /z, content: z}\n";

/* The journal as if it had been written in another boot. */
static void let_boot_be_another(struct peer *p)
{
	struct buf text, new;
	struct str rest, line;

	buf_init(&text, 1 << 20);
	buf_init(&new, 1 << 20);
	assert_int_equal(fs_read(p->stage.state, "runs/run-1.journal", &text, NULL), 0);
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		json_t *record = NULL;

		assert_int_equal(json_parse(line, 1 << 20, "record", &record, NULL), 0);
		if (json_get(record, "boot_id"))
			json_put_str(record, "boot_id", "of another boot");
		json_write(record, &new);
		buf_add_char(&new, '\n');
		json_decref(record);
	}
	assert_int_equal(
		fs_replace(p->stage.state, "runs/run-1.journal", buf_str(&new), 0600, 0, 0, NULL),
		0);
	buf_done(&text);
	buf_done(&new);
}

/* Applied up to the restart; the last message was the event. */
static void apply(struct peer *p, bool stays)
{
	struct order_recipe r;
	struct order o;
	json_t *m, *last = NULL;

	make_bundle(p, DEMO);
	greet(p);
	o = plain_order(p, ORDER_APPLY, &r);
	o.reboot_asked = true;
	o.stay = stays;
	send_order(p, &o, p->key);
	send_bundle(p);
	while ((m = receive(p))) {
		json_decref(last);
		last = m;
	}
	assert_string_equal(json_get_str(last, "ev", ""), "rebooting");
	assert_true(json_get_bool(last, "asked", false));
	json_decref(last);
	assert_int_equal(finish(p), 0);
	assert_true(stage_has(p->stage.root, "a"));
	assert_false(stage_has(p->stage.root, "z"));
}

static void interrupted(struct peer *p, const char *restart)
{
	const json_t *left = json_get(p->hello, "interrupted");

	assert_string_equal(json_get_str(left, "run", ""), "run-1");
	assert_string_equal(json_get_str(left, "restart", "(none)"), restart);
	assert_true(json_get_bool(left, "asked", false));
}

TEST(session_ends_at_a_restart_that_is_announced_only)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	apply(&p, false);

	greet(&p);
	interrupted(&p, "awaited");
	o = plain_order(&p, ORDER_ATTACH, &r);
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "interrupted");
	assert_true(json_get_bool(m, "rebooting", false));
	stage_says(json_get_str(m, "reason", ""), "waits for the restart of its node");
	json_decref(m);
	assert_int_equal(finish(&p), 0);

	greet(&p);
	o = plain_order(&p, ORDER_RESUME, &r);
	send_order(&p, &o, p.key);
	refused(&p, "state", "run 'run-1': the run waits for the restart");
	assert_false(stage_has(p.stage.root, "z"));
	peer_done(&p);
}

TEST(session_that_stays_ends_there_too)
{
	struct peer p;

	peer_init(&p);
	apply(&p, true);
	peer_done(&p);
}

TEST(session_goes_on_in_another_boot)
{
	struct peer p;
	struct session_opts o;
	struct run_outcome out;
	struct err err;

	peer_init(&p);
	apply(&p, false);
	o = (struct session_opts){
		.root = p.stage.root_path, .state = p.state_path, .key = p.key_path};
	/* the unit, started too early */
	assert_int_equal(session_resume(&o, &out, &err), 0);
	assert_true(out.rebooting);
	assert_false(stage_has(p.stage.root, "z"));

	let_boot_be_another(&p);
	greet(&p);
	interrupted(&p, "done");
	(void)finish(&p);
	assert_int_equal(session_resume(&o, &out, &err), 0);
	assert_int_equal(out.state, RESULT_CHANGED);
	assert_true(stage_has(p.stage.root, "z"));
	assert_int_equal(session_resume(&o, &out, &err), 1);
	peer_done(&p);
}

T_MAIN
