/*
 * audit - time and memory of a whole audit with every single loss, by size of the site.
 *
 *	bench-audit [RACKS...]   default 125 250 500 1000
 *
 * A rack: 40 devices of 2 PSUs, an A and a B feed of 63 A, a PDU each with six
 * banks; ten racks to a panel, panels A and B on two UPSs.
 */
#include "inventory/audit/audit.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "tests/unit/audit/site.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define DEVICES 40
#define BANKS   6

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_rack(struct model *m, unsigned i, size_t type)
{
	const size_t rack = site_rack(m, arena_printf(m->arena, "r%04u", i));
	const size_t device = m->devices.n;

	for (unsigned d = 0; d < DEVICES; d++)
		site_device(m, arena_printf(m->arena, "n%04u-%02u", i, d), type, rack, 1 + d);
	for (unsigned side = 0; side < 2; side++) {
		const size_t feed = site_feed(m,
			arena_printf(m->arena, "f%04u%c", i, side ? 'b' : 'a'), rack, 400, 3, 63);
		const size_t pdu = site_pdu(
			m, arena_printf(m->arena, "p%04u%c", i, side ? 'b' : 'a'), rack, feed);

		m->feeds.at[feed].panel = i / 10 * 2 + side;
		for (unsigned b = 0; b < BANKS; b++)
			site_bank(m, pdu, b + 1, 16, PHASE_L1 + b % 3);
		for (unsigned d = 0; d < DEVICES; d++)
			site_cord(m, device + d,
				site_outlet(m, pdu, "C13", d % BANKS + 1, PHASE_UNSTATED));
	}
}

static struct model *make_site(unsigned racks)
{
	struct model *m = model_new();
	const size_t type = site_type(m, "server", 600, 1);

	site_psus(m, type, 2, 1, 1);
	m->types.at[type].weight_kg = 20;
	m->types.at[type].cfm = 60;
	for (unsigned side = 0; side < 2; side++)
		*vec_push(&m->upses) = (struct ups){.name = side ? "ups-b" : "ups-a", .kva = 60000};
	for (unsigned p = 0; p < (racks + 9) / 10 * 2; p++)
		*vec_push(&m->panels) = (struct panel){.name = arena_printf(m->arena, "panel%u", p),
			.location = MODEL_NONE,
			.amps = 1000,
			.upstream = {SUPPLY_UPS, p % 2}};
	for (unsigned i = 0; i < racks; i++)
		add_rack(m, i, type);
	return m;
}

static long rss_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

static int measure(unsigned racks)
{
	struct model *m = make_site(racks);
	const struct audit_opts whole = {.policy = "strict80", .basis = BASIS_MAX};
	const size_t one = racks / 2;
	const struct audit_opts part = {
		.policy = "strict80", .basis = BASIS_MAX, .racks = &one, .n_racks = 1};
	double best = 1e9, best_one = 1e9;
	size_t findings = 0, losses = 0;
	struct audit a;
	struct err err;

	for (int i = 0; i < 5; i++) {
		double t = now();

		if (audit_run(m, &whole, &a, &err) < 0) {
			fprintf(stderr, "bench-audit: %s\n", err.msg);
			return 1;
		}
		t = now() - t;
		best = t < best ? t : best;
		findings = a.findings.n;
		losses = a.losses.n - 1;
		audit_done(&a);
		t = now();
		if (audit_run(m, &part, &a, &err) < 0)
			return 1;
		t = now() - t;
		best_one = t < best_one ? t : best_one;
		audit_done(&a);
	}
	printf("%5u racks %7zu devices %6zu losses %7zu findings  %6.1f ms  %5.1f us/rack  one rack "
	       "%5.1f ms  peak %ld MiB\n",
		racks, m->devices.n, losses, findings, best * 1e3, best * 1e6 / racks,
		best_one * 1e3, rss_mib());
	model_free(m);
	return 0;
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = {125, 250, 500, 1000};
	int rc = 0;

	if (argc > 1) {
		for (int i = 1; i < argc && rc == 0; i++)
			rc = measure((unsigned)strtoul(argv[i], NULL, 10));
		return rc;
	}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes && rc == 0; i++)
		rc = measure(sizes[i]);
	return rc;
}
