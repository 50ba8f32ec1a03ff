/* hostlist_test - which names a list has, also a broken one. */
#include "agent/base/hostlist.h"
#include "tests/unit/t.h"

TEST(lists_of_nodes_are_matched_without_being_spread_out)
{
	static const struct {
		const char *list, *name;
		bool has;
	} all[] = {
		{"n1", "n1", true},
		{"n1", "n10", false},
		{"n10", "n1", false},
		{"a,n1,b", "n1", true},
		{"n[1-4]", "n3", true},
		{"n[1-4]", "n5", false},
		{"n[001-100,200]", "n042", true},
		{"n[001-100,200]", "n42", false},
		{"n[1-100]", "n042", false},
		{"n[8-12]", "n10", true},
		{"n[1-999999999999]-ib,login", "n77-ib", true},
		{"r[1-2]n[3-4]", "r2n3", true},
		{"r[1-2]n[3-4]", "r2n5", false},
		{"n[1", "n1", false},
		{"n[]", "n1", false},
		{"n[a-b]", "n1", false},
		{"", "n1", false},
		{"a,n[1,3]-ib,b", "n3-ib", true},
		{"a,n[1,3]-ib,b", "n2-ib", false},
		{"n[9-10]", "n09", false},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (hostlist_has(str_of(all[i].list), str_of(all[i].name)) != all[i].has)
			fail_msg("'%s' and '%s'", all[i].list, all[i].name);
}

T_MAIN
