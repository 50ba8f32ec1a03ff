/* gpus - the whole way: this test, the child, and a library in NVML's place. */
#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/facts/facts.h"
#include "tests/unit/t.h"

static struct err err;

static void set_state(const char *folder, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/nvml.state", folder);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	setenv("LD_LIBRARY_PATH", folder, 1);
}

static int gather(json_t **out)
{
	const struct facts_env env = {.root = -1, .self = GPU_PROBE};

	memset(&err, 0, sizeof err);
	return facts_group(&env, "gpus", out, &err);
}

static void expect(const char *want)
{
	json_t *gpus;
	char *text;

	if (gather(&gpus) < 0)
		fail_msg("%s", err.msg);
	text = json_dumps(gpus, JSON_SORT_KEYS | JSON_COMPACT);
	assert_string_equal(text, want);
	free(text);
	json_decref(gpus);
}

static const char TWO[] = "driver 580.95.05\n"
			  "gpu NVIDIA H100 80GB HBM3|GPU-aaaa|1650123|85899345920|0:18:0\n"
			  "gone\n"
			  "gpu NVIDIA L4|GPU-bbbb|-|24152899584|10001:af:0\n";

static const char TWO_JSON[] =
	"[{\"driver\":\"580.95.05\",\"index\":0,\"memory_bytes\":85899345920,"
	"\"name\":\"NVIDIA H100 80GB HBM3\",\"pci_slot\":\"0000:18:00.0\",\"serial\":\"1650123\","
	"\"uuid\":\"GPU-aaaa\"},"
	"{\"error\":\"cannot be opened\",\"index\":1},"
	"{\"driver\":\"580.95.05\",\"index\":2,\"memory_bytes\":24152899584,\"name\":\"NVIDIA L4\","
	"\"pci_slot\":\"10001:af:00.0\",\"uuid\":\"GPU-bbbb\"}]";

TEST(gpus_are_listed)
{
	set_state(NVML_NEW, TWO);
	expect(TWO_JSON);
}

TEST(gpus_are_listed_by_an_older_library)
{
	set_state(NVML_OLD, TWO);
	expect(TWO_JSON);
}

TEST(gpus_without_the_library_are_none)
{
	setenv("LD_LIBRARY_PATH", "/nonexistent", 1);
	expect("[]");
	unsetenv("LD_LIBRARY_PATH");
	expect("[]");
}

TEST(gpus_without_a_driver_are_an_error)
{
	json_t *gpus;

	set_state(NVML_NEW, "init 9\n");
	assert_int_equal(gather(&gpus), -E_STATE);
	assert_non_null(strstr(err.msg, "NVML error 9: Driver Not Loaded"));
	assert_non_null(strstr(err.hint, "nvidia-smi"));
}

TEST(gpus_of_a_hanging_driver_cost_the_deadline)
{
	const int64_t start = clock_mono();
	json_t *gpus;

	set_state(NVML_NEW, "hang\n");
	assert_int_equal(gather(&gpus), -E_TIMEOUT);
	assert_true(clock_mono() - start < 60 * CLOCK_SEC);
	assert_non_null(strstr(err.hint, "dmesg"));
}

TEST(gpus_of_a_child_that_is_not_there)
{
	const struct facts_env env = {.root = -1, .self = "/nonexistent/agent"};
	json_t *gpus;

	assert_true(facts_group(&env, "gpus", &gpus, &err) < 0);
}

TEST(gpus_of_a_child_that_talks_nonsense)
{
	const struct facts_env env = {.root = -1, .self = "/bin/echo"};
	json_t *gpus;

	assert_int_equal(facts_group(&env, "gpus", &gpus, &err), -E_SYNTAX);
}

T_MAIN
