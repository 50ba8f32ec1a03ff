#include "agent/base/hostlist.h"

/* One number or range of a list's brackets, "007" or "1-4". */
static bool range_has(struct str range, struct str digits)
{
	uint64_t low = 0, high = 0, value = 0;
	const size_t dash = str_find(range, '-');
	const struct str from = str_first(range, dash);
	const struct str to = dash == STR_NONE ? range : str_from(range, dash + 1);

	return str_to_u64(from, &low) && str_to_u64(to, &high) && str_to_u64(digits, &value) &&
	       value >= low && value <= high &&
	       (digits.n == from.n || (digits.n > from.n && digits.p[0] != '0'));
}

static bool ranges_have(struct str ranges, struct str digits)
{
	struct str range;

	while (str_next(&ranges, ',', &range))
		if (range_has(range, digits))
			return true;
	return false;
}

/* One item of a list, such as "gpu[01-16,20]-ib", against a name. */
static bool item_has(struct str item, struct str name)
{
	while (item.n) {
		if (item.p[0] != '[') {
			if (!name.n || name.p[0] != item.p[0])
				return false;
			item = str_from(item, 1);
			name = str_from(name, 1);
			continue;
		}
		const size_t end = str_find(item, ']');
		size_t digits = 0;
		while (digits < name.n && name.p[digits] >= '0' && name.p[digits] <= '9')
			digits++;
		if (end == STR_NONE || !digits ||
			!ranges_have((struct str){item.p + 1, end - 1}, str_first(name, digits)))
			return false;
		item = str_from(item, end + 1);
		name = str_from(name, digits);
	}
	return !name.n;
}

bool hostlist_has(struct str list, struct str name)
{
	while (list.n) {
		size_t end = 0;

		for (bool inside = false; end < list.n && (inside || list.p[end] != ','); end++)
			inside = list.p[end] == '[' || (inside && list.p[end] != ']');
		if (item_has(str_first(list, end), name))
			return true;
		list = str_from(list, end + 1);
	}
	return false;
}
