/* package_version - pairs of versions in the order of dpkg and of rpm. */
#include "agent/base/package_version.h"
#include "tests/unit/t.h"

struct pair {
	const char *a, *b;
	int want; /* sign */
};

static const struct pair DEB[] = {
	{"1", "1", 0},
	{"1.0", "1.00", 0},
	{"1", "2", -1},
	{"10", "9", 1},
	{"1.10", "1.9", 1},
	{"1:1", "2", 1},
	{"0:1", "1", 0},
	{"1~rc1", "1", -1},
	{"1~~", "1~", -1},
	{"1a", "1", 1},
	{"1+b", "1a", 1},
	{"1-1", "1-2", -1},
	{"1-1", "1", 1},
	{"1-0", "1", 0},
	{"2.36-9+deb12u10", "2.36-9+deb12u9", 1},
	{"5:1.0~rc1", "5:1.0", -1},
	{"550.107.02-0ubuntu0.24.04.1", "550.90.07-0ubuntu1", 1},
	{"580.178.04-1ubuntu1", "580.173.02-0ubuntu1", 1},
	{"", "", 0},
	{"", "0", 0},
	{"1.2.3-x-1", "1.2.3-x-1", 0},
	{"18446744073709551617", "18446744073709551616", 1},
};

static const struct pair RPM[] = {
	{"1", "1", 0},
	{"1.0", "1_0", 0},
	{"1.0", "1", 1},
	{"1.10", "1.9", 1},
	{"1.a", "1.1", -1},
	{"1~rc1", "1", -1},
	{"1^git1", "1", 1},
	{"1^git1", "1.1", -1},
	{"1~a", "1^a", -1},
	{"1:1-1", "2-1", 1},
	{"580.95.05-1.el9", "580.95.05", 0},
	{"1-1.el9", "1-2.el9", -1},
	{"1-10", "1-9", 1},
	{"0:1-1", "1-1", 0},
	{"", "", 0},
	{"", "1", -1},
	{"xyz10", "xyz10.1", -1},
};

static void compare(const struct pair *p, size_t n, int (*with)(struct str, struct str))
{
	for (size_t i = 0; i < n; i++) {
		const int there = with(str_of(p[i].a), str_of(p[i].b));
		const int back = with(str_of(p[i].b), str_of(p[i].a));

		if ((there > 0) - (there < 0) != p[i].want || (back > 0) - (back < 0) != -p[i].want)
			fail_msg("'%s' and '%s': %d and %d", p[i].a, p[i].b, there, back);
	}
}

TEST(version_order_of_dpkg)
{
	compare(DEB, sizeof DEB / sizeof DEB[0], version_compare_deb);
}

TEST(version_order_of_rpm)
{
	compare(RPM, sizeof RPM / sizeof RPM[0], version_compare_rpm);
}

T_MAIN
