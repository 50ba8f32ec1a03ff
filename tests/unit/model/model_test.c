/* model - names in natural order, ranges, the index, and checks that no importer can reach. */
#include "agent/base/err.h"
#include "inventory/model/check.h"
#include "tests/unit/t.h"

TEST(natural_order)
{
	static const char *const ordered[] = {
		"", "a", "a1", "a2", "a02b", "a3", "a10", "a10b", "ab", "b", "gpu2-ib", "gpu10-ib"};

	for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
		for (size_t k = 0; k < sizeof ordered / sizeof *ordered; k++)
			assert_int_equal(
				model_compare_names(ordered[i], ordered[k]), (i > k) - (i < k));
	assert_int_equal(model_compare_names("a01", "a1"), -1);
	assert_int_equal(model_compare_names("a18446744073709551616", "a18446744073709551617"), -1);
}

static void expands(const char *range, const char *joined)
{
	struct arena *a = arena_new();
	struct model_names names = VEC_INIT;
	char text[256] = "";
	struct err err;
	size_t at = 0;

	if (model_expand_range(a, range, &names, &err) < 0)
		snprintf(text, sizeof text, "!%u", err.code);
	else
		vec_each(&names, const char *, it)
			at += (size_t)snprintf(
				text + at, sizeof text - at, "%s%s", at ? " " : "", *it);
	assert_string_equal(text, joined);
	vec_done(&names);
	arena_free(a);
}

TEST(ranges)
{
	expands("ib0", "ib0");
	expands("ib[0-3]", "ib0 ib1 ib2 ib3");
	expands("[08-11]", "08 09 10 11");
	expands("eth[0-1], mgmt ,x[5]y", "eth0 eth1 mgmt x5y");
	expands("[7-7]", "7");
	expands("", "!1");
	expands("a,,b", "!1");
	expands("a[1-2", "!1");
	expands("a]1[", "!1");
	expands("a[]", "!1");
	expands("a[x-y]", "!1");
	expands("a[3-]", "!1");
	expands("a[-3]", "!1");
	expands("a[2-1]", "!1");
	expands("a[1-2][1-2]", "!1");
	expands("a[0-4096]", "!3");
	expands("a[0-4000],b[0-4000]", "!3");
	expands("a[0-9999999]", "!1");
}

TEST(index_holds_many)
{
	struct model_index *ix = model_index_new();
	struct arena *a = arena_new();

	for (size_t i = 0; i < 5000; i++) {
		const char *name = arena_printf(a, "n%zu", i);

		assert_int_equal(model_index_put(ix, NOUN_PORT, i % 7, name, i), MODEL_NONE);
		assert_int_equal(model_index_put(ix, NOUN_PORT, i % 7, name, 1), i);
	}
	for (size_t i = 0; i < 5000; i++) {
		const char *name = arena_printf(a, "n%zu", i);

		assert_int_equal(model_index_find(ix, NOUN_PORT, i % 7, name), i);
		assert_int_equal(model_index_find(ix, NOUN_PORT, i % 7 + 1, name), MODEL_NONE);
		assert_int_equal(model_index_find(ix, NOUN_RACK, i % 7, name), MODEL_NONE);
	}
	model_index_free(ix);
	arena_free(a);
}

TEST(words)
{
	assert_int_equal(model_word(MODEL_STATUSES, "active"), STATUS_ACTIVE);
	assert_int_equal(model_word(MODEL_STATUSES, "Active"), -1);
	assert_string_equal(model_origin_name(ORIGIN_ASSUMED), "assumed");
	assert_string_equal(model_port_kind_name(PORT_N), "?");
}

static unsigned problems;
static struct model_problem last;

static void note(void *ctx, const struct model_problem *p)
{
	(void)ctx;
	problems++;
	last = *p;
}

TEST(one_power_port_one_cord)
{
	struct model *m = model_new();
	const struct model_check c = {m, note, NULL};

	vec_push(&m->pdus)->name = "P";
	*vec_push(&m->outlets) = (struct outlet){.name = "1"};
	*vec_push(&m->outlets) = (struct outlet){.name = "2"};
	*vec_push(&m->devices) =
		(struct device){.name = "d", .type = MODEL_NONE, .rack = MODEL_NONE};
	*vec_push(&m->ports) = (struct port){.name = "psu1", .kind = PORT_POWER};
	*vec_push(&m->cords) = (struct cord){0, 0, 0};
	*vec_push(&m->cords) = (struct cord){0, 1, 0};
	problems = 0;
	model_check_cords(&c);
	assert_int_equal(problems, 1);
	assert_int_equal(last.row, 1);
	assert_non_null(strstr(last.msg, "'d/psu1' has a cord already"));
	model_free(m);
}

TEST(half_depth_devices_share_a_unit)
{
	struct model *m = model_new();
	const struct model_check c = {m, note, NULL};

	*vec_push(&m->racks) = (struct rack){.name = "R", .height_u = 4};
	*vec_push(&m->types) = (struct device_type){.name = "half", .height_u = 1};
	*vec_push(&m->types) =
		(struct device_type){.name = "full", .height_u = 2, .full_depth = true};
	*vec_push(&m->types) = (struct device_type){.name = "strip"};
	*vec_push(&m->devices) = (struct device){.name = "f", .position = 2};
	*vec_push(&m->devices) = (struct device){.name = "r", .position = 2, .face = FACE_REAR};
	*vec_push(&m->devices) = (struct device){.name = "top", .type = 1, .position = 3};
	problems = 0;
	model_check_space(&c);
	assert_int_equal(problems, 0);
	*vec_push(&m->devices) = (struct device){.name = "x", .type = 1, .position = 1};
	model_check_space(&c);
	assert_int_equal(problems, 1); /* not one per unit and face */
	*vec_push(&m->devices) = (struct device){.name = "s", .type = 2, .position = 1};
	model_check_space(&c);
	assert_non_null(strstr(last.msg, "takes no units"));
	model_free(m);
}

T_MAIN
