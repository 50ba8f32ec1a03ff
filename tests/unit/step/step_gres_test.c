/* gres_lint - slurm.conf against gres.conf and a node: the table of what Slurm would make of them.
 */
#include "agent/step/gres_lint.h"
#include "tests/unit/t.h"

#include <string.h>

#define SLURM_CONF                                           \
	"GresTypes=gpu\n"                                    \
	"# NodeName=n1 Gres=gpu:8\n"                         \
	"NodeName=n[1-3]\tGres=gpu:h100:8 CPUs=16 # eight\n" \
	"NodeName=plain Gres=gpu:2\nNodeName=none CPUs=4\n"
#define H100 "NVIDIA H100 80GB HBM3"

static const struct {
	const char *gres, *node, *gpu;
	unsigned gpus;
	const char *level, *text; /* of the one finding; NULL: none */
} TABLE[] = {
	/* C13 */
	{"NodeName=n1 Name=gpu Type=h100 File=/dev/nvidia[0-6]\n", "n1", H100, 8, "error",
		"gres/gpu count reported lower than configured (7 < 8)"},
	{"NodeName=n2 Name=gpu Type=h200 File=/dev/nvidia[0-7]\n", "n2", H100, 8, "error",
		"type 'h200' of gres.conf is no substring of 'nvidia_h100_80gb_hbm3'"},
	{"Name=gpu Type=h100 File=/dev/nvidia[0-7]\n", "n1", H100, 9, "warning", "n1 has 9 GPUs"},
	{"Name=gpu Type=h100 File=/dev/nvidia[0-7]\n", "n1", H100, 8, NULL, NULL},
	{"Name=gpu Type=H100 File=/dev/nvidia[0-3,4-6],/dev/nvidia7\n", "n3", "", 0, NULL, NULL},
	{"AutoDetect=nvml\n", "n1", H100, 8, NULL, NULL},
	{"AutoDetect=nvml\n", "n1", "", 0, NULL, NULL},
	{"AutoDetect=nvml\n", "n1", H100, 7, "error", "(7 < 8)"},
	{"AutoDetect=nvml\n", "n1", "NVIDIA A100", 8, "error", "of slurm.conf is no substring"},
	{"autodetect=OFF\n", "n1", H100, 8, "error", "neither its GPUs nor AutoDetect"},
	{"NodeName=n[2-3] Name=gpu Count=8\n", "n1", H100, 8, "error", "neither its GPUs"},
	{"Name=gpu Count=2\n", "plain", "", 0, NULL, NULL},
	{"Name=gpu Type=a Count=1\nName=gpu Type=b Count=1\n", "plain", "", 0, NULL, NULL},
	{"Name=shard Count=2\n", "plain", "", 0, "error", "neither its GPUs"},
	{"Name=gpu File=/dev/nvidia[0-1]\n", "none", "", 0, "warning",
		"2 GPUs and 0 are configured"},
	{"", "stranger", H100, 8, NULL, NULL},
	{"", "none", "", 0, NULL, NULL},
};

TEST(what_slurm_would_make_of_the_files)
{
	for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
		const struct gres_node node = {TABLE[i].node, TABLE[i].gpu, TABLE[i].gpus};
		json_t *found = json_array();
		const json_t *one;

		gres_lint(STR_LIT(SLURM_CONF), str_of(TABLE[i].gres), &node, found);
		one = json_array_get(found, 0);
		if (json_array_size(found) != (TABLE[i].text != NULL))
			fail_msg("row %zu: %zu findings", i, json_array_size(found));
		if (one) {
			assert_string_equal(json_get_str(one, "level", ""), TABLE[i].level);
			if (!strstr(json_get_str(one, "text", ""), TABLE[i].text))
				fail_msg("row %zu: %s", i, json_get_str(one, "text", ""));
		}
		json_decref(found);
	}
}

TEST(gpus_that_no_type_of_gres_names)
{
	const struct gres_node node = {"n1", "", 0};
	json_t *found = json_array();

	gres_lint(STR_LIT("NodeName=n1 Gres=gpu:8(S:0-1)\n"), STR_LIT("Name=gpu Count=8\n"), &node,
		found);
	assert_int_equal(json_array_size(found), 1);
	assert_non_null(strstr(json_get_str(json_array_get(found, 0), "text", ""), "GresTypes"));
	json_decref(found);
}

TEST(lists_are_counted_up_to_a_cap)
{
	assert_int_equal(gres_list_count(STR_LIT("/dev/nvidia[0-7]")), 8);
	assert_int_equal(gres_list_count(STR_LIT("/dev/nvidia0,/dev/nvidia[2,4-5]")), 4);
	assert_int_equal(gres_list_count(STR_LIT("")), 0);
	assert_int_equal(gres_list_count(STR_LIT("[7-0]")), 0);
	assert_int_equal(gres_list_count(STR_LIT("x[0-99999999999]")), 100000);
	assert_int_equal(gres_list_count(STR_LIT("x[1-")), 1);
}

T_MAIN
