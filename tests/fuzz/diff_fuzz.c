/* diff_fuzz - two texts, split at the first NUL: compared, and merged line by line. */
#include "agent/step/diff.h"
#include "agent/step/merge.h"

static bool is_first(const void *ctx, struct str line)
{
	return line.n > 0 && line.p[0] == *(const char *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str all = {(const char *)data, n};
	const size_t nul = str_find(all, '\0');
	const struct str a = str_first(all, nul);
	const struct str b = nul == STR_NONE ? all : str_from(all, nul + 1);
	AUTO_BUF out, merged, again;

	buf_init(&out, 1u << 20);
	buf_init(&merged, 1u << 20);
	buf_init(&again, 1u << 20);
	diff_unified(&a, &b, "fuzz", &out);
	if (n == 0)
		return 0;
	merge_line(a, is_first, data, STR_LIT("x"), &merged);
	/* A line of another's is never lost, and merging the line itself twice changes nothing. */
	merge_line(buf_str(&merged), is_first, "x", STR_LIT("x"), &again);
	if (data[0] == 'x' && !str_eq(buf_str(&merged), buf_str(&again)))
		__builtin_trap();
	return 0;
}
