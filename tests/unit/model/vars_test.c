/* vars, period - which layer a value comes from; when a daily window opens. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "inventory/model/period.h"
#include "inventory/model/vars.h"
#include "tests/unit/t.h"

static const struct {
	const char *layers[VARS_LAYERS];
	const char *values, *origins;
} SUMS[] = {
	{{"{}", NULL, "", "{}", NULL}, "{}", "{}"},
	{{"{\"a\":1}", NULL, "{\"a\":2}", NULL, "{\"b\":3}"}, "{\"a\":2,\"b\":3}",
		"{\"a\":\"rack R1\",\"b\":\"node n1\"}"},
	/* maps merge by their own keys, one level deep */
	{{"{\"x\":{\"p\":1,\"q\":{\"r\":1}}}", NULL, NULL, "{\"x\":{\"q\":{\"s\":2}}}", NULL},
		"{\"x\":{\"p\":1,\"q\":{\"s\":2}}}",
		"{\"x\":{\"p\":\"site lab\",\"q\":\"role gpu\"}}"},
	/* a list, a text, and a map in the place of a text, replace what was there */
	{{"{\"l\":[1,2],\"t\":\"x\"}", NULL, NULL, NULL, "{\"l\":[3],\"t\":{\"k\":1}}"},
		"{\"l\":[3],\"t\":{\"k\":1}}", "{\"l\":\"node n1\",\"t\":{\"k\":\"node n1\"}}"},
	{{"{\"t\":{\"k\":1}}", "{\"t\":null}", NULL, NULL, NULL}, "{\"t\":null}",
		"{\"t\":\"location hall\"}"},
	/* a secret is one value, not a map */
	{{"{\"k\":{\"a\":1}}", NULL, NULL, "{\"k\":{\"$secret\":\"s\"}}", NULL},
		"{\"k\":{\"$secret\":\"s\"}}", "{\"k\":\"role gpu\"}"},
	{{"{\"k\":{\"$secret\":\"s\"}}", NULL, NULL, NULL, "{\"k\":{\"a\":1}}"},
		"{\"k\":{\"a\":1}}", "{\"k\":{\"a\":\"node n1\"}}"},
};

static const char *const ORIGINS[VARS_LAYERS] = {
	"site lab", "location hall", "rack R1", "role gpu", "node n1"};

static void assert_json(const json_t *v, const char *want)
{
	AUTO_BUF text = {0};

	buf_init(&text, 4096);
	json_write(v, &text);
	assert_string_equal(buf_text(&text), want);
}

TEST(the_narrower_layer_wins)
{
	for (size_t i = 0; i < sizeof SUMS / sizeof *SUMS; i++) {
		struct vars_layer layers[VARS_LAYERS];
		AUTO_JSON values = NULL;
		AUTO_JSON origins = NULL;
		struct err err;

		for (unsigned k = 0; k < VARS_LAYERS; k++)
			layers[k] = (struct vars_layer){ORIGINS[k], SUMS[i].layers[k]};
		assert_int_equal(vars_resolve(layers, VARS_LAYERS, &values, &origins, &err), 0);
		assert_json(values, SUMS[i].values);
		assert_json(origins, SUMS[i].origins);
		assert_int_equal(vars_any(layers, VARS_LAYERS), strcmp(SUMS[i].values, "{}") != 0);
	}
}

TEST(a_damaged_layer_is_named)
{
	const struct vars_layer layers[] = {{"site lab", "{\"a\":1}"}, {"rack R1", "{\"a\":"}};
	json_t *values = NULL;
	struct err err;

	assert_int_equal(vars_resolve(layers, 2, &values, NULL, &err), -E_SYNTAX);
	assert_non_null(strstr(err.msg, "variables of rack R1"));
	assert_null(values);
}

TEST(parameters_of_a_recipe)
{
	AUTO_JSON values = NULL;
	AUTO_JSON given = NULL;
	AUTO_JSON sum = NULL;
	AUTO_JSON none = NULL;
	AUTO_JSON plain = NULL;

	json_parse(str_of("{\"exp\":{\"port\":9101,\"tls\":true},\"base\":3}"), 4096, "v", &values,
		NULL);
	json_parse(str_of("{\"port\":\"9102\"}"), 4096, "g", &given, NULL);
	sum = vars_params(values, "exp", given);
	assert_json(sum, "{\"port\":\"9102\",\"tls\":true}");
	none = vars_params(values, "other", NULL);
	assert_json(none, "{}");
	plain = vars_params(values, "base", NULL); /* no map: a variable, not parameters */
	assert_json(plain, "{}");
	assert_json(json_get(values, "exp"), "{\"port\":9101,\"tls\":true}");
}

TEST(periods)
{
	static const struct {
		const char *text;
		int64_t seconds; /* 0: refused */
	} cases[] = {{"30m", 1800}, {"1s", 1}, {"6h", 21600}, {"2d", 172800}, {"366d", 31622400},
		{"367d", 0}, {"0m", 0}, {"m", 0}, {"30", 0}, {"", 0}, {"-1m", 0}, {"1.5h", 0},
		{"99999999999999999999d", 0}, {"30M", 0}, {"30 m", 0}};
	char text[24];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int64_t got = 0;

		assert_int_equal(period_parse(cases[i].text, &got), cases[i].seconds > 0);
		assert_int_equal(got, cases[i].seconds);
		if (!got)
			continue;
		period_format(got, text);
		assert_true(period_parse(text, &got));
		assert_int_equal(got, cases[i].seconds);
	}
}

TEST(windows)
{
	static const char *const bad[] = {
		"", "22:00", "22:00-", "22:00-22:00", "24:00-01:00", "1:00-2:00", "22:60-01:00"};
	static const struct {
		const char *window;
		int64_t now, offset, wait; /* now: seconds of 1970-01-01 */
	} cases[] = {
		{"01:00-02:00", 0, 0, 3600}, {"01:00-02:00", 3600, 0, 0},
		{"01:00-02:00", 7199, 0, 0}, {"01:00-02:00", 7200, 0, 82800},
		{"22:00-05:30", 0, 0, 0}, {"22:00-05:30", 19800, 0, 8 * 7200 + 1800},
		{"22:00-05:30", 79200, 0, 0}, {"01:00-02:00", 0, 3600, 0}, /* an hour east */
		{"01:00-02:00", 0, -3600, 7200},                           /* and west */
	};
	const struct window any = {0};
	struct window w;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(window_parse(bad[i], &w));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(window_parse(cases[i].window, &w));
		assert_int_equal(window_wait(&w, cases[i].now, cases[i].offset), cases[i].wait);
	}
	assert_int_equal(window_wait(&any, 12345, 0), 0);
}

T_MAIN
