/*
 * rollout_page - a made-up rollout of eight nodes as 'run show', 'run show --node' and 'run watch'
 * show it, held against golden texts. STOIKA_GOLDEN=write writes them anew.
 */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/command/rollout_page.h"
#include "controller/command/rollout_watch.h"
#include "inventory/import/import.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SECOND CLOCK_SEC
#define BEGAN  (INT64_C(1796000000) * CLOCK_SEC) /* 2026-11-29T23:33:20Z */

static const char SITE[] = "site: lab\n"
			   "nodes:\n"
			   "  - {name: gpu1, address: 10.0.0.1}\n"
			   "  - {name: gpu2, address: 10.0.0.2, port: 2222, user: admin}\n"
			   "  - {name: gpu3, address: 10.0.0.3}\n"
			   "  - {name: gpu4, address: 10.0.0.4}\n"
			   "  - {name: gpu5, address: 10.0.0.5}\n"
			   "  - {name: gpu6, address: 10.0.0.6}\n"
			   "  - {name: gpu7, address: 10.0.0.7}\n"
			   "  - {name: gpu8, address: 10.0.0.8}\n";

static const char ORDER[] =
	"{\"policy\": \"fence: {by: slurm, jobs: wait, prefix: [ssh, head]}\\nfailures: {same: 2}\\n"
	"reboot: {power_cycle: [/etc/stoika/power-cycle, \\\"--hard now\\\"]}\\n\","
	" \"policy_name\": \"driver-595\", \"flags\": \"waves: [1, 100%]\\n\","
	" \"params\": {\"nvidia-driver\": {\"version\": \"595.71.05-1\","
	" \"repo_key\": \"-----BEGIN\\nabc\\n-----END\\n\"}},"
	" \"recipes\": [{\"name\": \"nvidia-driver\", \"asked\": true},"
	" {\"name\": \"house\", \"asked\": true, \"dir\": \"/srv/our recipes/house\"},"
	" {\"name\": \"apt\", \"asked\": false}]}";

/* One node's way: what it came through, what is said of its last state. */
static const struct way {
	int64_t node;
	unsigned stage;
	const char *states; /* words, each with the event that leads there before it */
	const char *reason, *hint, *signature, *fence;
} WAYS[] = {
	{1, 0,
		"ok preflight ok staged ok cordoned ok wait-jobs ok drained ok quiesced ok installed"
		" ok rebooting ok services ok verify ok returned ok soak ok done",
		"quiet for long enough", "", "", "{\"by\":\"slurm\",\"state\":\"open\"}"},
	{2, 1,
		"ok preflight ok staged ok cordoned ok wait-jobs ok drained ok quiesced ok installed"
		" ok rebooting ok services ok verify failed rollback failed quarantined",
		"check 'the fabric manager is of the driver' failed: 595.58 is not 595.71; on the way"
		" back: package nvidia-fabricmanager-580: E: Unable to locate package",
		"bring the earlier packages back into the repository, or let it go on to 595.71",
		"verify: fabric manager",
		"{\"by\":\"slurm\",\"state\":\"open\",\"ours\":false,\"jobs\":2}"},
	{3, 1,
		"ok preflight ok staged ok cordoned ok wait-jobs ok drained ok quiesced ok installed"
		" ok rebooting timeout unreachable",
		"no other boot id within 15 min, and not after a power cycle either", "", "reboot",
		"{\"by\":\"slurm\",\"state\":\"open\"}"},
	{4, 1, "ok preflight failed rejected", "package 'nvidia-driver-580' is held by somebody",
		"apt-mark showhold; whoever set it knows why", "held package", ""},
	{5, 1, "ok preflight ok staged ok cordoned ok wait-jobs",
		"job 4711 of anna until 2026-11-30 08:00", "", "",
		"{\"by\":\"slurm\",\"state\":\"open\"}"},
	{6, 2, "", "an earlier stage is not at rest", "", "", ""},
	{7, 2, "", "an earlier stage is not at rest", "", "", ""},
	{8, 2, "", "away: drained by root: \"fan 3\"", "", "", ""},
};

static void put_way(struct store *s, const struct way *w)
{
	char name[8];
	struct rollout_node_row row = {
		.node = w->node, .name = name, .stage = w->stage, .fence = w->fence};
	struct str rest = str_of(w->states), event, state;
	const char *from = "";
	char words[2][32] = {"", "eligible"}, before[32];
	int64_t at = BEGAN;

	snprintf(name, sizeof name, "gpu%d", (int)w->node);
	for (;;) {
		const bool last = rest.n == 0;
		const struct rollout_move m = {.node = w->node,
			.from = from,
			.event = words[0],
			.to = words[1],
			.why = last && *w->states ? w->reason : "",
			.hint = last ? w->hint : "",
			.at = at};

		row.state = words[1];
		row.since = at;
		row.reason = last ? w->reason : "";
		row.hint = last ? w->hint : "";
		row.signature = last ? w->signature : "";
		assert_int_equal(store_rollout_move(s, "roll-1", &row, &m, NULL), 0);
		if (last)
			return;
		snprintf(before, sizeof before, "%s", words[1]);
		from = before;
		assert_true(str_next(&rest, ' ', &event) && str_next(&rest, ' ', &state));
		snprintf(words[0], sizeof words[0], STR_FMT, STR_ARG(event));
		snprintf(words[1], sizeof words[1], STR_FMT, STR_ARG(state));
		at += (10 + 7 * w->node) * SECOND;
	}
}

static void put_part(struct store *s, const char *id, const char *mode, int64_t started,
	const struct node_result *result)
{
	const struct run_row r = {.id = id,
		.mode = mode,
		.recipes = "nvidia-driver",
		.nodes = "gpu[1-8]",
		.by = "root@head",
		.started = started,
		.n_nodes = 8};

	assert_int_equal(store_run_add(s, &r, NULL), 0);
	assert_int_equal(store_result_put(s, id, result, NULL), 0);
}

static void put_orders(struct store *s)
{
	struct node_result r = {.node = 2,
		.node_name = "gpu2",
		.state = RESULT_CHANGED,
		.counts.n[RESULT_CHANGED] = 6,
		.counts.n[RESULT_OK] = 11,
		.took = 94 * SECOND};
	AUTO_JSON bad = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "seq", 1, "ev", "check",
		"recipe", "nvidia-driver", "name", "the fabric manager is of the driver", "state",
		"failed", "why", "595.58 is not 595.71", "hint",
		"look for what holds nvidia-fabricmanager back");

	put_part(s, "roll-1-apply", "apply", BEGAN + 200 * SECOND, &r);
	r.state = RESULT_FAILED;
	r.counts = (struct result_counts){.n[RESULT_FAILED] = 1, .n[RESULT_OK] = 16};
	r.reason = "check 'the fabric manager is of the driver' failed";
	r.took = 3 * SECOND;
	put_part(s, "roll-1-check", "check", BEGAN + 300 * SECOND, &r);
	assert_int_equal(store_event_add(s, "roll-1-check", 2, bad, NULL), 0);
}

static const char LOG[] = "Setting up nvidia-driver-595 (595.71.05-1) ...\n"
			  "Building module: done, 0 errors\n"
			  "E: Unable to locate package nvidia-fabricmanager-580\n"
			  "dpkg: error processing package nvidia-fabricmanager (--configure)\n"
			  "Processing triggers for systemd\n";

static void put_all(struct store *s)
{
	const struct run_row run = {.id = "roll-1",
		.mode = "rollout",
		.recipes = "nvidia-driver",
		.nodes = "gpu[1-8]",
		.by = "root@head",
		.started = BEGAN,
		.n_nodes = 8};
	struct rollout_row row = {.run = "roll-1",
		.order = ORDER,
		.paused = true,
		.reason = "2 nodes failed, 1 allowed",
		.opened = BEGAN + 230 * SECOND,
		.stage = 1};
	struct err_list errors = {0};
	struct model *m = NULL;

	assert_int_equal(import_site_text("site.yaml", str_of(SITE), &m, &errors), 0);
	assert_int_equal(store_begin(s, NULL), 0);
	assert_int_equal(store_put_model(s, m, NULL), 0);
	assert_int_equal(store_run_add(s, &run, NULL), 0);
	assert_int_equal(store_rollout_add(s, &row, NULL), 0);
	for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++)
		put_way(s, &WAYS[i]);
	put_orders(s);
	assert_int_equal(
		store_evidence_put(s, "roll-1", 2, "gpu2", "apt.log", str_of(LOG), NULL), 0);
	assert_int_equal(store_evidence_put(s, "roll-1", 2, "gpu2", "facts-before.json",
				 str_of("{\"error\": 1}\n"), NULL),
		0);
	assert_int_equal(store_commit(s, NULL), 0);
	model_free(m);
	err_list_done(&errors);
}

/* --- golden texts --- */

/* The folder of this process's database stands in paths. */
static char *without_folder(const char *text)
{
	const size_t n = strlen(t_dir());
	struct buf out;

	buf_init(&out, 1 << 20);
	for (const char *at; (at = strstr(text, t_dir())) != NULL; text = at + n) {
		buf_add(&out, text, (size_t)(at - text));
		buf_add_text(&out, "/DB");
	}
	buf_add_text(&out, text);
	return buf_take(&out);
}

static void is_golden(const char *name, const struct buf *text)
{
	AUTO_STR path = xasprintf("%s/golden/%s", TEST_DIR, name);
	AUTO_STR got = without_folder(buf_text(text));
	AUTO_STR want = xcalloc(1, 1 << 16);
	const char *mode = getenv("STOIKA_GOLDEN");
	const bool write = mode && strcmp(mode, "write") == 0;
	FILE *f = fopen(path, write ? "w" : "r");

	if (!f) {
		fail_msg("cannot open '%s'", path);
		return;
	}
	if (write)
		fputs(got, f);
	else
		(void)!fread(want, 1, (1 << 16) - 1, f);
	fclose(f);
	if (!write)
		assert_string_equal(got, want);
}

struct shown {
	struct arena *a;
	struct store *s;
	struct rollout_past p;
};

static void load(struct shown *v, const char *db)
{
	AUTO_STR path = xasprintf("%s/%s", t_dir(), db);
	struct run_row r;
	struct err err;

	v->a = arena_new();
	assert_int_equal(store_open(path, STORE_CREATE, &v->s, NULL), 0);
	put_all(v->s);
	assert_int_equal(store_run_find(v->s, v->a, "roll-1", &r, &err), 0);
	assert_int_equal(
		rollout_past_load(v->s, v->a, &r, BEGAN + 1200 * SECOND, true, &v->p, &err), 0);
	v->p.driven = true;
}

static void done(struct shown *v)
{
	rollout_past_done(&v->p);
	store_close(v->s);
	arena_free(v->a);
}

static void page(struct shown *v, const char *node, enum text_lang lang, const char *golden)
{
	const struct past_node *n;
	struct rollout_page g;
	struct err err;
	AUTO_JSON doc = NULL;
	AUTO_BUF text;

	buf_init(&text, 1 << 20);
	assert_int_equal(rollout_past_find(&v->p, node, &n, &err), 0);
	assert_int_equal(rollout_page_load(v->s, v->a, &v->p, n, &g, &err), 0);
	rollout_page_text(&g, v->a, lang, &text);
	is_golden(golden, &text);
	doc = rollout_page_json(&g, v->a);
	assert_string_equal(json_get_str(doc, "node", ""), node);
	assert_string_equal(json_get_str(doc, "state", ""), n->row->state);
	rollout_page_done(&g);
}

TEST(pages_of_nodes)
{
	struct shown v;

	load(&v, "pages.db");
	page(&v, "gpu1", LANG_EN, "page-done.txt");
	page(&v, "gpu2", LANG_EN, "page-quarantined.txt");
	page(&v, "gpu2", LANG_RU, "page-quarantined.ru.txt");
	page(&v, "gpu3", LANG_EN, "page-unreachable.txt");
	page(&v, "gpu4", LANG_EN, "page-rejected.txt");
	page(&v, "gpu5", LANG_EN, "page-waits.txt");
	page(&v, "gpu6", LANG_EN, "page-eligible.txt");
	done(&v);
}

TEST(the_whole)
{
	struct report_opts o = {.lang = LANG_EN};
	struct shown v;
	AUTO_JSON doc = NULL;
	AUTO_BUF text;

	load(&v, "whole.db");
	buf_init(&text, 1 << 20);
	rollout_show_text(&v.p, &o, false, &text);
	is_golden("show.txt", &text);
	buf_clear(&text);
	o.lang = LANG_RU;
	rollout_show_text(&v.p, &o, false, &text);
	is_golden("show.ru.txt", &text);
	doc = rollout_show_json(&v.p);
	assert_int_equal(json_array_size(json_get(doc, "results")), 8);
	assert_int_equal(json_get_int(json_get(doc, "counts"), "quarantined", 0), 1);
	assert_int_equal(
		json_get_int(json_get(json_array_get(json_get(doc, "results"), 0), "times_ms"),
			"rebooting", 0),
		17000);
	done(&v);
}

TEST(the_block_that_watch_draws)
{
	struct report_opts o = {.lang = LANG_EN, .width = 80};
	struct shown v;
	AUTO_BUF text;

	load(&v, "block.db");
	buf_init(&text, 1 << 20);
	rollout_watch_lines(&v.p, &o, 24, &text);
	is_golden("watch.txt", &text);
	buf_clear(&text);
	o.lang = LANG_RU;
	rollout_watch_lines(&v.p, &o, 24, &text);
	is_golden("watch.ru.txt", &text);
	buf_clear(&text);
	o.width = 20;
	rollout_watch_lines(&v.p, &o, 3, &text); /* cut on both sides */
	assert_int_equal(text.n > 0, 1);
	unsigned lines = 0;
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	assert_int_equal(lines, 3);
	done(&v);
}

TEST(a_node_that_is_none)
{
	const struct past_node *n;
	struct shown v;
	struct err err;

	load(&v, "none.db");
	assert_int_equal(rollout_past_find(&v.p, "gpu9", &n, &err), -E_NOTFOUND);
	assert_non_null(strstr(err.hint, "did you mean 'gpu"));
	done(&v);
}

/* What watch prints, counted by lines that have the word. */
static size_t watch_and_count(struct shown *v, const char *word)
{
	const struct report_opts o = {.lang = LANG_EN, .json = true};
	AUTO_STR path = xasprintf("%s/watched", t_dir());
	const int out = dup(STDOUT_FILENO);
	const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char line[512];
	size_t n = 0;
	struct err err;
	FILE *f;
	int code;

	fflush(stdout);
	assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
	code = rollout_watch(v->s, &v->p.run, &o, &err);
	assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
	close(out);
	assert_int_equal(code, 1);
	f = fdopen(file, "r");
	assert_non_null(f);
	rewind(f);
	while (fgets(line, sizeof line, f))
		n += strstr(line, word) != NULL;
	fclose(f);
	return n;
}

TEST(all_moves_of_one_that_has_ended)
{
	const struct rollout_node_row row = {.node = 8, .name = "gpu8", .state = "staged"};
	const struct rollout_move move = {
		.node = 8, .from = "preflight", .event = "ok", .to = "staged", .at = BEGAN};
	struct shown v;

	load(&v, "watched.db");
	assert_int_equal(store_begin(v.s, NULL), 0);
	for (unsigned i = 0; i < ROLLOUT_MOVES_MAX + 5; i++)
		assert_int_equal(store_rollout_move(v.s, "roll-1", &row, &move, NULL), 0);
	assert_int_equal(store_run_end(v.s, "roll-1", "failed", NULL, NULL), 0);
	assert_int_equal(store_commit(v.s, NULL), 0);
	assert_int_equal(watch_and_count(&v, "\"gpu8\""), ROLLOUT_MOVES_MAX + 5);
	done(&v);
}

T_MAIN
