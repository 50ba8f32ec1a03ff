/* orders: what is written is read again; what is odd is refused by name. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/wire/message.h"
#include "tests/unit/t.h"

#define NONCE  "00112233445566778899aabbccddeeff"
#define DIGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(order_both_ways)
{
	struct arena *a = arena_new();
	AUTO_JSON params = json_pack("{s:i}", "port", 9100);
	AUTO_JSON vars = json_object();
	AUTO_JSON facts = json_pack("{s:s}", "name", "gpu01");
	struct order_recipe recipes[2] = {{"base", NULL}, {"node-exporter", params}};
	struct order o = {.run = "r-1",
		.mode = ORDER_APPLY,
		.node = "gpu01",
		.nonce = NONCE,
		.bundle = DIGEST,
		.by = "ops@host",
		.issued = 100,
		.expires = 200,
		.n_recipes = 2,
		.recipes = recipes,
		.node_facts = facts,
		.vars = vars};
	struct order back;
	struct err err;
	AUTO_BUF text, again;

	buf_init(&text, 4096);
	buf_init(&again, 4096);
	order_format(&o, &text);
	assert_int_equal(order_parse(a, buf_str(&text), &back, &err), 0);
	assert_string_equal(back.run, "r-1");
	assert_int_equal(back.mode, ORDER_APPLY);
	assert_string_equal(back.nonce, NONCE);
	assert_int_equal(back.n_recipes, 2);
	assert_int_equal(json_get_int(back.recipes[1].params, "port", 0), 9100);
	assert_null(back.recipes[0].params);
	assert_string_equal(json_get_str(back.node_facts, "name", ""), "gpu01");
	order_format(&back, &again);
	assert_string_equal(buf_text(&text), buf_text(&again));
	order_done(&back);
	order_done(&back);
	arena_free(a);
}

TEST(order_to_take_one_run_back)
{
	struct arena *a = arena_new();
	struct order_recipe recipe = {"base", NULL};
	struct order o = {.run = "up-undo",
		.mode = ORDER_UNDO,
		.node = "gpu01",
		.nonce = NONCE,
		.bundle = DIGEST,
		.by = "ops@host",
		.issued = 100,
		.expires = 200,
		.undo_of = "up-apply",
		.n_recipes = 1,
		.recipes = &recipe};
	struct order back;
	struct err err;
	AUTO_BUF text;

	buf_init(&text, 4096);
	order_format(&o, &text);
	assert_int_equal(order_parse(a, buf_str(&text), &back, &err), 0);
	assert_string_equal(back.undo_of, "up-apply");
	order_done(&back);
	arena_free(a);
}

#define HEAD                                              \
	"\"run\":\"r\",\"node\":\"n\",\"nonce\":\"" NONCE \
	"\",\"by\":\"me\",\"issued\":1,\"expires\":2"
#define REST ",\"bundle\":\"" DIGEST "\",\"recipes\":[{\"name\":\"a\"}]"

TEST(order_refuses)
{
	static const struct {
		const char *body, *says;
	} cases[] = {
		{"[]", "object"},
		{"{}", "run"},
		{"{" HEAD REST "}", "mode"},
		{"{\"mode\":\"aply\"," HEAD REST "}", "mode"},
		{"{\"mode\":\"apply\",\"extra\":1," HEAD REST "}", "extra"},
		{"{\"mode\":\"apply\"," HEAD "}", "bundle"},
		{"{\"mode\":\"apply\"," HEAD ",\"bundle\":\"../x\",\"recipes\":[]}", "bundle"},
		{"{\"mode\":\"apply\"," HEAD ",\"bundle\":7,\"recipes\":[]}", "bundle"},
		{"{\"mode\":\"apply\"," HEAD ",\"bundle\":\"" DIGEST "\",\"recipes\":[]}",
			"recipes"},
		{"{\"mode\":\"apply\"," HEAD ",\"bundle\":\"" DIGEST "\",\"recipes\":{}}", "list"},
		{"{\"mode\":\"apply\"," HEAD ",\"bundle\":\"" DIGEST
		 "\",\"recipes\":[{\"name\":\"../a\"}]}",
			"name"},
		{"{\"mode\":\"apply\"," HEAD ",\"bundle\":\"" DIGEST
		 "\",\"recipes\":[{\"name\":\"a\",\"params\":[]}]}",
			"params"},
		{"{\"mode\":\"plan\",\"vars\":3," HEAD REST "}", "vars"},
		{"{\"mode\":\"plan\",\"facts\":\"x\"," HEAD REST "}", "facts"},
		{"{\"mode\":\"attach\",\"after\":-1," HEAD "}", "after"},
		{"{\"mode\":\"apply\",\"undo_of\":\"r-1\"," HEAD REST "}", "takes no 'undo_of'"},
		{"{\"mode\":\"undo\",\"undo_of\":\"R 1\"," HEAD REST "}", "run id"},
		{"{\"mode\":\"facts\",\"run\":\"A/../b\",\"node\":\"n\",\"nonce\":\"" NONCE
		 "\",\"by\":\"me\",\"issued\":1,\"expires\":2}",
			"run"},
		{"{\"mode\":\"facts\",\"run\":\"r\",\"node\":\"n\",\"nonce\":\"00\",\"by\":\"me\","
		 "\"issued\":1,\"expires\":2}",
			"nonce"},
		{"{\"mode\":\"facts\",\"run\":\"r\",\"node\":\"n\",\"nonce\":\"" NONCE
		 "\",\"by\":\"a\\u001bb\",\"issued\":1,\"expires\":2}",
			"by"},
		{"{\"mode\":\"facts\",\"run\":\"r\",\"node\":\"n\",\"nonce\":\"" NONCE
		 "\",\"by\":\"b\",\"issued\":5,\"expires\":2}",
			"expires"},
		{"{\"mode\":\"facts\",\"run\":\"r\",\"node\":\"n\",\"nonce\":\"" NONCE
		 "\",\"by\":\"b\",\"issued\":5}",
			"expires"},
		{"{\"mode\":\"facts\",\"run\":\"r\",\"node\":\"n\",\"nonce\":\"" NONCE
		 "\",\"by\":\"b\",\"issued\":5,\"expires\":9223372036854775807}",
			"expires"},
		{"{\"mode\":\"apply\",\"expect\":\"plan\"," HEAD REST "}", "expect"},
		{"{\"mode\":\"apply\",\"expect\":\"12\"," HEAD REST "}", "expect"},
		{"{\"mode\":\"plan\",\"expect\":\"" DIGEST "\"," HEAD REST "}", "expect"},
		{"{\"mode\":\"apply\",\"rekey\":\"x\"," HEAD REST "}", "rekey"},
		{"{\"mode\":\"rekey\"," HEAD "}", "rekey"},
		{"{\"mode\":\"rekey\",\"rekey\":\"\"," HEAD "}", "rekey"},
		{"{\"mode\":\"undo\"," HEAD "}", "bundle"},
		{"{\"mode\":\"apply\",\"stay\":1," HEAD REST "}", "stay"},
		{"{\"mode\":\"apply\",\"reboot_asked\":1," HEAD REST "}", "reboot_asked"},
		{"{\"mode\":\"stage\"," HEAD "\"bundle\":null}", "bundle"},
		{"{\"mode\":\"apply\",\"secrets\":\"a\"," HEAD REST "}", "secrets"},
		{"{\"mode\":\"apply\",\"secrets\":[1]," HEAD REST "}", "secrets"},
		{"{\"mode\":\"apply\",\"secrets\":[\"../a\"]," HEAD REST "}", "secrets"},
		{"{\"mode\":\"apply\",\"secrets\":[\"a/\"]," HEAD REST "}", "secrets"},
		{"{\"mode\":\"apply\",\"secrets\":[\"\"]," HEAD REST "}", "secrets"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arena *a = arena_new();
		struct order o;
		struct err err = {0};

		if (order_parse(a, str_of(cases[i].body), &o, &err) == 0)
			fail_msg("case %zu was taken: %s", i, cases[i].body);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("case %zu says '%s', expected '%s'", i, err.msg, cases[i].says);
		arena_free(a);
	}
}

TEST(order_facts_and_attach_need_no_bundle)
{
	static const char *const good[] = {
		"{\"mode\":\"facts\"," HEAD "}", "{\"mode\":\"attach\",\"after\":12," HEAD "}"};

	for (size_t i = 0; i < 2; i++) {
		struct arena *a = arena_new();
		struct order o;
		struct err err;

		assert_int_equal(order_parse(a, str_of(good[i]), &o, &err), 0);
		assert_null(o.bundle);
		assert_int_equal(o.after, i * 12);
		order_done(&o);
		arena_free(a);
	}
	assert_string_equal(order_mode_name((enum order_mode)99), "unknown");
}

TEST(order_of_each_mode_both_ways)
{
	static const char *const bodies[] = {"{\"mode\":\"apply\",\"expect\":\"" DIGEST
					     "\",\"stay\":true," HEAD REST "}",
		"{\"mode\":\"apply\",\"secrets\":[\"db/password\",\"key\"]," HEAD REST "}",
		"{\"mode\":\"undo\"," HEAD REST "}",
		"{\"mode\":\"undo\",\"expect\":\"plan\"," HEAD REST "}",
		"{\"mode\":\"resume\",\"after\":7,\"secrets\":[\"key\"]," HEAD "}",
		"{\"mode\":\"rekey\",\"rekey\":\"AAAA\"," HEAD "}"};

	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		struct arena *a = arena_new();
		struct order o, back;
		struct err err = {0};
		AUTO_BUF text, again;

		buf_init(&text, 4096);
		buf_init(&again, 4096);
		if (order_parse(a, str_of(bodies[i]), &o, &err) < 0)
			fail_msg("%s: %s", bodies[i], err.msg);
		order_format(&o, &text);
		assert_int_equal(order_parse(a, buf_str(&text), &back, &err), 0);
		order_format(&back, &again);
		assert_string_equal(buf_text(&text), buf_text(&again));
		assert_int_equal(back.mode, o.mode);
		assert_int_equal(back.stay, i == 0);
		assert_int_equal(back.n_secrets, i == 1 ? 2 : i == 4);
		assert_true(i != 5 || strcmp(back.rekey, "AAAA") == 0);
		order_done(&o);
		order_done(&back);
		arena_free(a);
	}
}

TEST(order_again_is_signed_over_all_that_it_means)
{
	AUTO_BUF text;

	buf_init(&text, 1024);
	order_again_text(&text, NONCE, "r-2", DIGEST);
	assert_string_equal(buf_text(&text), "again\n" NONCE "\nr-2\n" DIGEST);
}

T_MAIN
