/* driver_names - requests and the packages they mean (case C20). */
#include "agent/base/err.h"
#include "agent/step/driver_names.h"
#include "tests/unit/t.h"

static const struct {
	struct driver_request r;
	const char *want; /* "first; packages; stream; sources", or the error's message */
} CASES[] = {
	{{"ubuntu", "cuda", 595, true, true},
		"nvidia-driver-pinning-595; libnvidia-compute nvidia-dkms-open; ; "},
	{{"ubuntu", "cuda", 580, true, true},
		"; libnvidia-compute-580 nvidia-dkms-580-open nvidia-utils-580; ; "},
	{{"ubuntu", "ubuntu", 580, true, true},
		"; nvidia-headless-580-server-open nvidia-utils-580-server; ; "},
	{{"rhel", "cuda", 580, true, true},
		"; kernel-devel-matched nvidia-driver-cuda kmod-nvidia-open-dkms; "
		"nvidia-driver:580-open; epel crb"},
	{{"ubuntu", "cuda", 580, false, false}, "; cuda-drivers-580; ; "},
	{{"ubuntu", "cuda", 610, true, false}, "nvidia-driver-pinning-610; nvidia-open; ; "},
	{{"debian", "cuda", 595, false, true},
		"nvidia-driver-pinning-595; nvidia-driver-cuda nvidia-kernel-dkms; ; "},
	{{"rhel", "cuda", 580, false, false},
		"; kernel-devel-matched cuda-drivers; nvidia-driver:580-dkms; epel crb"},
	{{"ubuntu", "cuda", 550, true, true},
		"no packages are known for the open driver 550 of 'cuda' on 'ubuntu', compute only"},
	{{"debian", "ubuntu", 580, true, false},
		"no packages are known for the open driver 580 of 'ubuntu' on 'debian'"},
	{{"ubuntu", "cuda", 100000, true, false},
		"no packages are known for the open driver 100000 of 'cuda' on 'ubuntu'"},
};

static void add(struct buf *b, const struct names *n)
{
	vec_each(n, const char *, one)
		buf_addf(b, "%s%s", one == n->at ? "" : " ", *one);
}

TEST(driver_packages_by_origin_and_branch)
{
	for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
		struct arena *a = arena_new();
		struct driver_packages p;
		struct err err;
		struct buf got;

		buf_init(&got, 1000);
		if (driver_packages(a, &CASES[i].r, &p, &err) < 0) {
			buf_add_text(&got, err.msg);
		} else {
			add(&got, &p.first);
			buf_add_text(&got, "; ");
			add(&got, &p.packages);
			buf_addf(&got, "; %s; ", p.stream ? p.stream : "");
			add(&got, &p.sources);
		}
		assert_string_equal(buf_text(&got), CASES[i].want);
		driver_packages_done(&p);
		buf_done(&got);
		arena_free(a);
	}
}

TEST(driver_name_that_cannot_be)
{
	static const char *const FINE[] = {"nvidia-open", "nvidia-open-580",
		"nvidia-utils-595-server", "nvidia-driver-pinning-595", "libnvidia-compute",
		"cuda-drivers-fabricmanager-580", "nvidia-open-595beta",
		"nvidia-headless-595-server-open", ""};
	struct err err;

	assert_int_equal(driver_name_check("nvidia-open-595", &err), -E_NOTFOUND);
	assert_string_equal(err.msg, "there is no package 'nvidia-open-595': from branch 590 on, "
				     "NVIDIA's packages carry no branch in their names");
	assert_string_equal(
		err.hint, "install 'nvidia-driver-pinning-595' first, then 'nvidia-open'");
	assert_int_equal(driver_name_check("nvidia-dkms-610-open", &err), -E_NOTFOUND);
	for (size_t i = 0; i < sizeof FINE / sizeof FINE[0]; i++)
		if (driver_name_check(FINE[i], &err) != 0)
			fail_msg("%s", FINE[i]);
}

T_MAIN
