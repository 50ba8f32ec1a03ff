/* dpkg_fuzz - any bytes as dpkg's status file: indexed, searched, looked through. */
#include "agent/step/dpkg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct str text = {(const char *)data, n};
	struct dpkg *d = dpkg_new(text);
	struct dpkg_record r;
	struct dpkg_spec s;
	size_t seen = 0;

	if (dpkg_find(d, STR_LIT("bash"), STR_LIT(""), &r))
		seen += r.version.n + r.arch.n + r.state.n + (size_t)dpkg_is_installed(&r);
	if (dpkg_spec_parse(str_first(text, 64), &s))
		seen += (size_t)dpkg_find(d, s.name, s.arch, &r);
	seen += (size_t)dpkg_find_broken(d, &r);
	dpkg_free(d);
	return seen > 4 * n + 4 ? -1 : 0;
}
