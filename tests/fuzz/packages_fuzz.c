/* packages_fuzz - any bytes as what apt-get, apt-cache, rpm, dnf and versionlock print. */
#include "agent/base/arena.h"
#include "agent/base/package_version.h"
#include "agent/step/apt_plan.h"
#include "agent/step/dnf_plan.h"
#include "agent/step/rpm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str text = {(const char *)data, n};
	const struct str a = str_first(text, n / 2), b = str_from(text, n / 2);
	struct arena *arena = arena_new();
	struct plan plan = VEC_INIT;
	uint64_t fetched, installed;
	struct rpm_record r;
	struct buf out;

	buf_init(&out, 4 * n + 4096);
	apt_plan_read(arena, text, &plan);
	dnf_plan_read(arena, text, &plan);
	apt_plan_sizes(text, &fetched, &installed);
	apt_plan_unmet(text, &out);
	apt_plan_origins(text, &out);
	dnf_plan_scriptlets(text, &out);
	dnf_lock_set(text, STR_LIT("gpu"), STR_LIT("1-1"), &out);
	(void)rpm_find(text, STR_LIT("gpu"), (struct str){NULL, 0}, &r);
	if (n < 4096 && ((version_compare_deb(a, b) > 0 && version_compare_deb(b, a) > 0) ||
				(version_compare_rpm(a, b) > 0 && version_compare_rpm(b, a) > 0)))
		abort();
	buf_done(&out);
	vec_done(&plan);
	arena_free(arena);
	return 0;
}
