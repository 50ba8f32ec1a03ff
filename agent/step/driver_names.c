#include "agent/step/driver_names.h"

#include "agent/base/arena.h"
#include "agent/base/err.h"

#include <string.h>

#define PLAIN_FROM 590u /* the first branch whose names carry no branch in NVIDIA's repository */
#define BRANCH_MAX 9999u

/* '%' in a word stands for the branch. */
static const struct {
	const char *distribution, *origin;
	unsigned from, to;
	bool open, compute;
	const char *first, *packages, *stream, *sources;
} TABLE[] = {
	{"ubuntu", "cuda", 0, 589, true, false, "", "nvidia-open-%", "", ""},
	{"ubuntu", "cuda", 0, 589, false, false, "", "cuda-drivers-%", "", ""},
	{"ubuntu", "cuda", 560, 589, true, true, "",
		"libnvidia-compute-% nvidia-dkms-%-open nvidia-utils-%", "", ""},
	{"ubuntu", "cuda", 560, 589, false, true, "",
		"libnvidia-compute-% nvidia-dkms-% nvidia-utils-%", "", ""},
	{"ubuntu", "cuda", 590, BRANCH_MAX, true, false, "nvidia-driver-pinning-%", "nvidia-open",
		"", ""},
	{"ubuntu", "cuda", 590, BRANCH_MAX, false, false, "nvidia-driver-pinning-%", "cuda-drivers",
		"", ""},
	{"ubuntu", "cuda", 590, BRANCH_MAX, true, true, "nvidia-driver-pinning-%",
		"libnvidia-compute nvidia-dkms-open", "", ""},
	{"ubuntu", "cuda", 590, BRANCH_MAX, false, true, "nvidia-driver-pinning-%",
		"libnvidia-compute nvidia-dkms", "", ""},
	{"ubuntu", "ubuntu", 0, BRANCH_MAX, true, false, "", "nvidia-driver-%-server-open", "", ""},
	{"ubuntu", "ubuntu", 0, BRANCH_MAX, false, false, "", "nvidia-driver-%-server", "", ""},
	{"ubuntu", "ubuntu", 0, BRANCH_MAX, true, true, "",
		"nvidia-headless-%-server-open nvidia-utils-%-server", "", ""},
	{"ubuntu", "ubuntu", 0, BRANCH_MAX, false, true, "",
		"nvidia-headless-%-server nvidia-utils-%-server", "", ""},
	{"debian", "cuda", 590, BRANCH_MAX, true, false, "nvidia-driver-pinning-%", "nvidia-open",
		"", ""},
	{"debian", "cuda", 590, BRANCH_MAX, false, false, "nvidia-driver-pinning-%", "cuda-drivers",
		"", ""},
	{"debian", "cuda", 590, BRANCH_MAX, true, true, "nvidia-driver-pinning-%",
		"nvidia-driver-cuda nvidia-kernel-open-dkms", "", ""},
	{"debian", "cuda", 590, BRANCH_MAX, false, true, "nvidia-driver-pinning-%",
		"nvidia-driver-cuda nvidia-kernel-dkms", "", ""},
	{"rhel", "cuda", 0, BRANCH_MAX, true, false, "", "kernel-devel-matched nvidia-open",
		"nvidia-driver:%-open", "epel crb"},
	{"rhel", "cuda", 0, BRANCH_MAX, false, false, "", "kernel-devel-matched cuda-drivers",
		"nvidia-driver:%-dkms", "epel crb"},
	{"rhel", "cuda", 560, BRANCH_MAX, true, true, "",
		"kernel-devel-matched nvidia-driver-cuda kmod-nvidia-open-dkms",
		"nvidia-driver:%-open", "epel crb"},
	{"rhel", "cuda", 560, BRANCH_MAX, false, true, "",
		"kernel-devel-matched nvidia-driver-cuda kmod-nvidia-latest-dkms",
		"nvidia-driver:%-dkms", "epel crb"},
};

/* The word with its '%' replaced. */
static const char *expand(struct arena *a, struct str word, unsigned branch)
{
	const size_t at = str_find(word, '%');

	if (at == STR_NONE)
		return arena_text(a, word);
	return arena_printf(a, STR_FMT "%u" STR_FMT, STR_ARG(str_first(word, at)), branch,
		STR_ARG(str_from(word, at + 1)));
}

static void add_words(struct arena *a, const char *words, unsigned branch, struct names *out)
{
	struct str rest = str_of(words), word;

	while (str_next(&rest, ' ', &word))
		*vec_push(out) = expand(a, word, branch);
}

int driver_packages(struct arena *a, const struct driver_request *r, struct driver_packages *out,
	struct err *err)
{
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++) {
		if (strcmp(TABLE[i].distribution, r->distribution) != 0 ||
			strcmp(TABLE[i].origin, r->origin) != 0 || r->branch < TABLE[i].from ||
			r->branch > TABLE[i].to || r->open != TABLE[i].open ||
			r->compute != TABLE[i].compute)
			continue;
		add_words(a, TABLE[i].first, r->branch, &out->first);
		add_words(a, TABLE[i].packages, r->branch, &out->packages);
		add_words(a, TABLE[i].sources, r->branch, &out->sources);
		if (TABLE[i].stream[0])
			out->stream = expand(a, str_of(TABLE[i].stream), r->branch);
		return 0;
	}
	err_set(err, E_UNSUPPORTED, "no packages are known for %s driver %u of '%s' on '%s'%s",
		r->open ? "the open" : "the proprietary", r->branch, r->origin, r->distribution,
		r->compute ? ", compute only" : "");
	return err_hint(err, "origins are 'cuda' (ubuntu, debian, rhel) and 'ubuntu' (ubuntu); "
			     "compute-only packages exist since branch 560");
}

void driver_packages_done(struct driver_packages *p)
{
	vec_done(&p->first);
	vec_done(&p->packages);
	vec_done(&p->sources);
}

/* Names of NVIDIA's repository that carried the branch at their end, up to 580. */
static const char *const BRANCHED[] = {"nvidia-open-", "cuda-drivers-", "libnvidia-compute-",
	"nvidia-dkms-", "nvidia-driver-cuda-"};

int driver_name_check(const char *name, struct err *err)
{
	for (size_t i = 0; i < sizeof BRANCHED / sizeof BRANCHED[0]; i++) {
		struct str rest = str_of(name), number;
		uint64_t branch;

		if (!str_starts(rest, BRANCHED[i]))
			continue;
		rest = str_from(rest, strlen(BRANCHED[i]));
		(void)str_next(&rest, '-', &number);
		if (!str_to_u64(number, &branch) || branch < PLAIN_FROM || branch > BRANCH_MAX)
			continue;
		err_set(err, E_NOTFOUND,
			"there is no package '%.80s': from branch %u on, NVIDIA's packages carry no "
			"branch in their names",
			name, PLAIN_FROM);
		return err_hint(err, "install 'nvidia-driver-pinning-%u' first, then '%.*s'",
			(unsigned)branch, (int)strlen(BRANCHED[i]) - 1, BRANCHED[i]);
	}
	return 0;
}
