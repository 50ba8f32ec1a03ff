/* a link that stays: the same order again, other orders, secrets, a new key, older bundles, names.
 */
#include "tests/unit/run/peer.h"

#include <sys/resource.h>

#define AGAINS 10000

static const char QUIET[] = "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
			    "  - file: {path: /b, content: b}\n    when: facts.os.id == 'debian'\n";

struct warm {
	struct peer p;
	char hash[HASH_HEX];
};

static void send_body(struct warm *w, const struct order *o)
{
	struct buf body;

	buf_init(&body, 1 << 20);
	order_format(o, &body);
	hash_hex(buf_str(&body), w->hash);
	buf_done(&body);
	send_order(&w->p, o, w->p.key);
}

static json_t *send_again(
	struct warm *w, const char *run, const struct sign_key *key, size_t *bytes)
{
	char sig[SIGN_TEXT_MAX];
	json_t *m = message_new("again");
	struct buf text, frame;
	struct err err;

	buf_init(&text, 1024);
	buf_init(&frame, 4096);
	order_again_text(&text, w->p.nonce, run, w->hash);
	assert_int_equal(sign_make(key, buf_str(&text), sig, &err), 0);
	json_put_str(m, "run", run);
	json_put_str(m, "sig", sig);
	message_write(m, &frame);
	if (bytes)
		*bytes += frame.n;
	send_bytes(&w->p, buf_str(&frame));
	json_decref(m);
	buf_done(&text);
	buf_done(&frame);
	m = receive(&w->p);
	if (m && bytes) {
		buf_init(&frame, 4096);
		message_write(m, &frame);
		*bytes += frame.n;
		buf_done(&frame);
	}
	return m;
}

/* Two applies on one link: the second is quiet, and the link stays. */
static void begin(struct warm *w, const char *yaml)
{
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&w->p);
	make_bundle(&w->p, yaml);
	greet(&w->p);
	o = plain_order(&w->p, ORDER_APPLY, &r);
	o.stay = true;
	send_body(w, &o);
	send_bundle(&w->p);
	m = receive_type(&w->p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
}

static long resident(pid_t pid)
{
	char path[64], text[256];
	long pages = 0, total;
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	assert_int_equal(sscanf(text, "%ld %ld", &total, &pages), 2);
	return pages * 4;
}

TEST(warm_again_is_short_and_keeps_its_size)
{
	struct warm w;
	json_t *m;
	size_t bytes = 0;
	int64_t cpu = 0;
	long before = 0;

	begin(&w, QUIET);
	m = send_again(&w, "run-2", w.p.key, NULL);
	assert_string_equal(json_get_str(m, "t", ""), "final");
	assert_string_equal(json_get_str(m, "state", ""), "ok");
	assert_non_null(json_get(m, "counts")); /* others than before */
	assert_non_null(json_get(m, "plan_hash"));
	json_decref(m);
	for (int i = 0; i < AGAINS; i++) {
		char run[64];

		snprintf(run, sizeof run, "20261130-193000-%06d", i);
		m = send_again(&w, run, w.p.key, &bytes);
		assert_string_equal(json_get_str(m, "run", ""), run);
		assert_string_equal(json_get_str(m, "state", ""), "ok");
		assert_null(json_get(m, "counts"));
		assert_null(json_get(m, "plan_hash"));
		cpu += json_get_int(m, "cpu_us", 0);
		json_decref(m);
		if (i == AGAINS / 10)
			before = resident(w.p.pid);
	}
	print_message("%d times again: %zu bytes and %lld us each, %ld KiB more\n", AGAINS,
		bytes / AGAINS, (long long)cpu / AGAINS, resident(w.p.pid) - before);
	assert_true(bytes / AGAINS <= 320);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed for a while */
	assert_true(resident(w.p.pid) - before < 256);
	assert_true(cpu / AGAINS < 1000);
#endif
	assert_false(stage_has(w.p.stage.state, "runs/run-2.journal"));
	assert_int_equal(finish(&w.p), 0);
	peer_done(&w.p);
}

TEST(warm_again_acts_when_something_differs)
{
	struct warm w;
	json_t *m;

	begin(&w, QUIET);
	stage_write(&w.p.stage, "a", "drifted");
	m = send_again(&w, "run-2", w.p.key, NULL);
	assert_string_equal(json_get_str(m, "ev", ""), "intent");
	assert_null(json_get(m, "args"));
	assert_null(json_get(m, "before"));
	json_decref(m);
	m = receive_type(&w.p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
	assert_string_equal(stage_read(&w.p.stage, "a"), "a");
	assert_true(stage_has(w.p.stage.state, "runs/run-2.journal"));
	m = send_again(&w, "run-3", w.p.key, NULL);
	assert_string_equal(json_get_str(m, "state", ""), "ok");
	json_decref(m);
	/* the lock is free in between, soon after the last word */
	for (int i = 0; i < 200 && journal_lock_holder(w.p.stage.state, &m, NULL) == 1; i++) {
		json_decref(m);
		clock_sleep(10 * CLOCK_MS);
	}
	assert_int_equal(journal_lock_holder(w.p.stage.state, &m, NULL), 0);
	assert_int_equal(finish(&w.p), 0);
	peer_done(&w.p);
}

TEST(warm_refuses_a_forged_again)
{
	struct warm w;
	json_t *m;

	begin(&w, QUIET);
	m = send_again(&w, "run-2", w.p.other, NULL);
	assert_string_equal(json_get_str(m, "t", ""), "refused");
	assert_string_equal(json_get_str(m, "code", ""), "verify");
	json_decref(m);
	assert_int_equal(finish(&w.p), 0);
	peer_done(&w.p);

	begin(&w, QUIET);
	m = send_again(&w, "../run", w.p.key, NULL);
	assert_string_equal(json_get_str(m, "code", ""), "schema");
	json_decref(m);
	assert_int_equal(finish(&w.p), 0);
	peer_done(&w.p);
}

TEST(warm_takes_another_order)
{
	struct warm w;
	struct order_recipe r;
	struct order o;
	json_t *m;

	begin(&w, QUIET);
	make_bundle(&w.p, "recipe: demo\nsteps:\n  - file: {path: /c, content: c}\n");
	o = plain_order(&w.p, ORDER_APPLY, &r);
	o.run = "run-2";
	send_body(&w, &o);
	send_bundle(&w.p);
	m = receive_type(&w.p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
	assert_string_equal(stage_read(&w.p.stage, "c"), "c");
	/* this one did not ask to stay */
	assert_null(receive(&w.p));
	assert_int_equal(finish(&w.p), 0);
	peer_done(&w.p);
}

TEST(warm_ends_with_the_link)
{
	struct warm w;
	const int64_t started = clock_mono();

	begin(&w, QUIET);
	assert_int_equal(finish(&w.p), 0);
	assert_true(clock_mono() - started < 5 * CLOCK_SEC);
	peer_done(&w.p);
}

/* --- secrets over the link --- */

static const char SECRET[] =
	"recipe: demo\nparams: {pw: {type: secret}}\nsteps:\n"
	"  - file: {path: /conf, content: \"{{ params.pw }}\", mode: \"0600\"}\n";

TEST(warm_secrets_come_behind_the_order)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *params = json_pack("{s:{s:s}}", "pw", "$secret", "pw"), *m;

	peer_init(&p);
	make_bundle(&p, SECRET);
	greet(&p);
	o = secret_order(&p, &r, params);
	send_order(&p, &o, p.key);
	send_secrets(&p, "pw", "hunter22");
	send_bundle(&p);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
	assert_string_equal(stage_read(&p.stage, "conf"), "hunter22");
	assert_int_equal(finish(&p), 0);

	greet(&p);
	o = secret_order(&p, &r, params);
	o.run = "run-2";
	send_order(&p, &o, p.key);
	send_secrets(&p, "another", "hunter22");
	refused(&p, ec_name(E_SCHEMA), "no value came for secret 'pw'");

	greet(&p);
	o = secret_order(&p, &r, params);
	o.run = "run-2";
	send_order(&p, &o, p.key);
	send_message(&p, message_new("cancel"));
	refused(&p, ec_name(E_SYNTAX), "names secrets");
	json_decref(params);
	peer_done(&p);
}

/* --- who the node obeys --- */

TEST(warm_rekey)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	char text[SIGN_TEXT_MAX];
	json_t *m;

	peer_init(&p);
	sign_key_public_text(p.other, text);
	greet(&p);
	assert_string_equal(json_get_str(p.hello, "key", ""), sign_key_id(p.key));
	assert_string_equal(json_get_str(p.hello, "name", "?"), "");
	o = plain_order(&p, ORDER_REKEY, &r);
	o.bundle = NULL;
	o.n_recipes = 0;
	o.rekey = text;
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	assert_true(stage_has(p.stage.state, "key.pub.old"));

	greet(&p);
	assert_string_equal(json_get_str(p.hello, "key", ""), sign_key_id(p.other));
	assert_string_equal(json_get_str(p.hello, "name", ""), "n1");
	o = plain_order(&p, ORDER_FACTS, &r);
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_VERIFY), "order");

	greet(&p);
	o = plain_order(&p, ORDER_REKEY, &r);
	o.bundle = NULL;
	o.n_recipes = 0;
	o.rekey = text;
	send_order(&p, &o, p.other);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "ok");
	json_decref(m);
	assert_int_equal(finish(&p), 0);

	greet(&p);
	o = plain_order(&p, ORDER_REKEY, &r);
	o.bundle = NULL;
	o.n_recipes = 0;
	o.rekey = "bm90IGEga2V5";
	send_order(&p, &o, p.other);
	m = receive(&p);
	assert_string_equal(json_get_str(m, "t", ""), "refused");
	stage_says(json_get_str(m, "message", ""), "the new key");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

TEST(warm_takes_the_first_name)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	greet(&p);
	o = plain_order(&p, ORDER_FACTS, &r);
	o.node = "n2";
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_VERIFY), "for node 'n2', this one is 'n1'");
	peer_done(&p);
}

TEST(warm_refuses_an_older_bundle)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *m;

	peer_init(&p);
	p.serial = 5;
	make_bundle(&p, QUIET);
	m = run_once(&p, ORDER_APPLY, "run-1");
	json_decref(m);
	assert_int_equal(finish(&p), 0);

	p.serial = 4; /* it never came before: refused when it is announced */
	make_bundle(&p, QUIET);
	greet(&p);
	o = plain_order(&p, ORDER_APPLY, &r);
	o.run = "run-2";
	send_order(&p, &o, p.key);
	m = receive_type(&p, "need");
	json_decref(m);
	send_bundle(&p);
	refused(&p, ec_name(E_VERIFY), "older than what this node has seen: serial 4, seen 5");

	p.serial = 6;
	make_bundle(&p, QUIET);
	greet(&p);
	o = plain_order(&p, ORDER_PLAN, &r);
	o.run = "run-3";
	send_order(&p, &o, p.key);
	send_bundle(&p);
	m = receive_type(&p, "final");
	json_decref(m);
	assert_int_equal(finish(&p), 0);

	p.serial = 5; /* it is still here */
	make_bundle(&p, QUIET);
	greet(&p);
	o = plain_order(&p, ORDER_PLAN, &r);
	o.run = "run-4";
	send_order(&p, &o, p.key);
	m = receive(&p);
	if (strcmp(json_get_str(m, "t", ""), "need") == 0) { /* made in another second */
		json_decref(m);
		send_bundle(&p);
		m = receive(&p);
	}
	assert_string_equal(json_get_str(m, "code", ""), "verify");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

/* By the node's own clock, and five minutes more or less do not matter before that. */
TEST(warm_refuses_an_expired_bundle)
{
	static const struct {
		int64_t age;
		bool good;
	} CASES[] = {{-300, true}, {3300, true}, {3601, false}};

	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct peer p;
		struct order_recipe r;
		struct order o;
		json_t *m;

		peer_init(&p);
		p.age = CASES[i].age;
		make_bundle(&p, QUIET);
		greet(&p);
		o = plain_order(&p, ORDER_PLAN, &r);
		if (CASES[i].age < 0) { /* the controller's clock is ahead of the node's */
			o.issued -= CASES[i].age;
			o.expires -= CASES[i].age;
		}
		send_order(&p, &o, p.key);
		m = receive_type(&p, "need");
		json_decref(m);
		send_bundle(&p);
		if (CASES[i].good) {
			m = receive_type(&p, "final");
			json_decref(m);
			assert_int_equal(finish(&p), 0);
		} else {
			refused(&p, ec_name(E_VERIFY), "bundle: it expired at");
		}
		peer_done(&p);
	}
}

/* While a run acts in silence the link is kept alive. */
TEST(warm_alive)
{
	struct peer p;
	json_t *m;
	unsigned alive = 0;

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps:\n  - file: {path: /a, content: a}\n"
			"  - command: {shell: long}\n");
	greet(&p);
	{
		struct order_recipe r;
		struct order o = plain_order(&p, ORDER_APPLY, &r);

		send_order(&p, &o, p.key);
	}
	send_bundle(&p);
	while ((m = receive(&p)) && strcmp(json_get_str(m, "t", ""), "final") != 0) {
		alive += strcmp(json_get_str(m, "t", ""), "alive") == 0;
		json_decref(m);
	}
	json_decref(m);
	assert_int_equal(alive, 1);
	assert_int_equal(finish(&p), 0);
	peer_done(&p);
}

/* --- going on with a run --- */

static const char HALF[] = "recipe: demo\nparams: {pw: {type: secret}}\nsteps:\n"
			   "  - file: {path: /a, content: a}\n"
			   "  - command: {shell: half once}\n"
			   "  - file: {path: /conf, content: \"{{ params.pw }}\"}\n";

static int alone(struct peer *p)
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		const struct session_opts o = {.root = p->stage.root_path,
			.state = p->state_path,
			.key = p->key_path,
			.in = -1,
			.out = -1};
		struct run_outcome out;
		struct err err;
		const int rc = session_resume(&o, &out, &err);

		if (rc < 0)
			print_message("%s\n", err.msg);
		_exit(rc < 0 ? 100 : rc > 0 ? 101 : out.waits ? 102 : (int)out.state);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(warm_resume_alone_and_by_the_controller)
{
	struct peer p;
	struct order_recipe r;
	struct order o;
	json_t *params = json_pack("{s:{s:s}}", "pw", "$secret", "pw"), *m;

	peer_init(&p);
	assert_int_equal(alone(&p), 101); /* nothing to go on with */
	make_bundle(&p, HALF);
	greet(&p);
	o = secret_order(&p, &r, params);
	send_order(&p, &o, p.key);
	send_secrets(&p, "pw", "hunter22");
	send_bundle(&p);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "interrupted");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	assert_true(stage_has(p.stage.state, "runs/run-1.order"));

	assert_int_equal(alone(&p), 102); /* needs the secret */
	assert_string_equal(stage_read(&p.stage, "log"), "once\nonce\n");

	greet(&p);
	o = plain_order(&p, ORDER_ATTACH, &r);
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "interrupted");
	assert_string_equal(json_get_str(m, "reason", ""), "needs secret 'pw'");
	json_decref(m);
	assert_int_equal(finish(&p), 0);

	greet(&p);
	o = secret_order(&p, &r, params);
	o.mode = ORDER_RESUME;
	o.bundle = NULL;
	o.n_recipes = 0;
	send_order(&p, &o, p.key);
	send_secrets(&p, "pw", "hunter22");
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "run", ""), "run-1");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	assert_int_equal(json_get_int(json_get(m, "counts"), "changed", 0), 3);
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	assert_string_equal(stage_read(&p.stage, "log"), "once\nonce\n");
	assert_string_equal(stage_read(&p.stage, "conf"), "hunter22");
	assert_false(stage_has(p.stage.state, "runs/run-1.order"));
	assert_int_equal(alone(&p), 101);

	/* it has ended: that is told again; another one is not known */
	greet(&p);
	o = plain_order(&p, ORDER_RESUME, &r);
	send_order(&p, &o, p.key);
	m = receive_type(&p, "final");
	assert_string_equal(json_get_str(m, "state", ""), "changed");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	greet(&p);
	o = plain_order(&p, ORDER_RESUME, &r);
	o.run = "run-7";
	send_order(&p, &o, p.key);
	refused(&p, ec_name(E_NOTFOUND), "run-7");
	json_decref(params);
	peer_done(&p);
}

/* A newer bundle that was only looked at does not keep the run from going on with its own; a bundle
 * that is gone does. */
TEST(warm_resume_with_its_own_bundle)
{
	struct peer p;
	json_t *m;
	char path[128];

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps:\n  - command: {shell: half once}\n");
	snprintf(path, sizeof path, "bundles/%s", p.digest);
	m = run_once(&p, ORDER_APPLY, "run-1");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	p.serial = 9;
	make_bundle(&p, QUIET);
	{
		struct order_recipe r;
		struct order o;

		greet(&p);
		o = plain_order(&p, ORDER_PLAN, &r);
		o.run = "run-2";
		send_order(&p, &o, p.key);
		send_bundle(&p);
		m = receive_type(&p, "final");
		json_decref(m);
		assert_int_equal(finish(&p), 0);
	}
	assert_int_equal(fs_remove(p.stage.state, path, true, NULL), 0);
	assert_int_equal(alone(&p), 100);
	assert_true(stage_has(p.stage.state, "runs/unfinished"));
	peer_done(&p);

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps:\n  - command: {shell: half once}\n");
	m = run_once(&p, ORDER_APPLY, "run-1");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	stage_write_at(p.stage.state, "bundles/serials.json", "{\"demo\":9}");
	assert_int_equal(alone(&p), RESULT_CHANGED);
	peer_done(&p);
}

/* An order that somebody changed on the disk is not obeyed. */
TEST(warm_resume_checks_the_kept_order)
{
	struct peer p;
	json_t *m;
	struct buf text;
	struct err err;
	size_t at;

	peer_init(&p);
	make_bundle(&p, "recipe: demo\nsteps:\n  - command: {shell: half once}\n");
	m = run_once(&p, ORDER_APPLY, "run-1");
	json_decref(m);
	assert_int_equal(finish(&p), 0);
	buf_init(&text, 1 << 20);
	assert_int_equal(fs_read(p.stage.state, "runs/run-1.order", &text, &err), 0);
	at = str_find_str(buf_str(&text), STR_LIT("tester"));
	assert_true(at != STR_NONE);
	text.p[at] = 'f';
	stage_write_at(p.stage.state, "runs/run-1.order", buf_text(&text));
	buf_done(&text);
	assert_int_equal(alone(&p), 100);
	assert_string_equal(stage_read(&p.stage, "log"), "once\n");
	peer_done(&p);
}

T_MAIN
