/* collective - published bus bandwidths as a table, ring arithmetic over it. */
#include "inventory/design/collective.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define NIC_EFFICIENCY 0.915 /* 365.84 / 8 / 50, nccl-tests#309 */
#define NIC_HOP_US     14.0  /* network ring, Simple: NCCL tuning.cc */
#define BASE_US        8.4   /* ring, Simple: NCCL tuning.cc */

const char *const COLLECTIVE_NAMES[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
	"broadcast", "reduce", "sendrecv", "switch_all_reduce", NULL};

/* A name that begins so, the longest first. */
const struct platform PLATFORMS[] = {
	{"H100-NVL-pairs", 8.2, 8.2, 2, 5.7, 835,
		"bluenotebook.io: 2,032 ms a step on 8 cards in 4 bridged pairs, fitted"},
	{"H100-NVL", 116, 300, 2, 3.4, 835, "two bridged cards, nccl-tests#194 (H100 PCIe)"},
	{"H100-PCIe-bridged", 116, 300, 2, 3.4, 756.5, "nccl-tests#194"},
	{"H100-PCIe", 20, 50, 8, 5.7, 756.5, "20-25 GB/s over PCIe, sizing 1.10; fitted on a step"},
	{"H100", 480, 450, 8, 3.4, 989.4, "nccl-tests#212, #290, #309; GTC S62129"},
	{"H200-NVL", 208, 450, 4, 3.4, 835, "bridge group; assumed as A100's pair, not published"},
	{"H200", 475, 450, 8, 3.4, 989.4, "nccl-tests#272"},
	{"H800", 215, 200, 8, 3.4, 989.4, "nccl#1374"},
	{"B200", 813, 900, 8, 3.4, 2250,
		"NCCL tuning.cc: 40.1 x 18 x NVLS 0.74, by Hopper's; derived"},
	{"B300", 813, 900, 8, 3.4, 2250, "as B200; derived"},
	{"A100-PCIe-bridged", 208, 300, 2, 3.4, 312, "nccl-tests#178"},
	{"A100-PCIe", 20, 25, 8, 5.7, 312, "nccl-tests#178"},
	{"A100", 232.5, 300, 8, 3.4, 312, "nccl-tests#175"},
	{"L40S", 20, 25, 8, 5.7, 362, "PCIe 4, as A100-PCIe across PCIe"},
	{"L4", 20, 25, 8, 5.7, 121, "PCIe 4, as A100-PCIe across PCIe"},
	{"RTX PRO 6000", 25, 50, 8, 5.7, 500, "PCIe 5, 20-25 GB/s, sizing 1.10"},
	{NULL, 0, 0, 0, 0, 0, NULL},
};

/* The next letter or digit, lower case; 0 at the end. */
static int letter(const char **s)
{
	while (**s && !isalnum((unsigned char)**s))
		(*s)++;
	return **s ? tolower((unsigned char)*(*s)++) : 0;
}

static size_t same_start(const char *name, const char *begin)
{
	size_t n = 0;

	for (int c; (c = letter(&begin)) != 0; n++)
		if (c != letter(&name))
			return 0;
	return n;
}

const struct platform *platform_find(const char *name, int crossed)
{
	const struct platform *best = NULL;
	size_t most = 0;

	for (const struct platform *p = PLATFORMS; p->name; p++) {
		const size_t n = same_start(name, p->name);

		if (n > most) {
			most = n;
			best = p;
		}
	}
	if (best && crossed && same_start(name, "H100-NVL"))
		return &PLATFORMS[0];
	return best;
}

double collective_factor(enum collective op, unsigned ranks)
{
	const double n = ranks;

	if (ranks < 2)
		return 0;
	switch (op) {
	case COLLECTIVE_ALL_REDUCE:
		return 2 * (n - 1) / n;
	case COLLECTIVE_SWITCH_REDUCE:
		return (n - 1) / (n + 1);
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_ALL_GATHER:
	case COLLECTIVE_ALL_TO_ALL:
		return (n - 1) / n;
	default:
		return 1;
	}
}

double collective_nic(double gbps)
{
	return NIC_EFFICIENCY * gbps / 8;
}

double collective_busbw(const struct platform *p, unsigned nodes, unsigned nics, double gbps)
{
	return nodes > 1 ? fmin(p->busbw, nics * collective_nic(gbps)) : p->busbw;
}

double collective_seconds(enum collective op, unsigned ranks, unsigned nodes, double bytes,
	double busbw, double hop_us)
{
	const double rounds = op == COLLECTIVE_ALL_REDUCE ? 2 : 1;
	const double far = nodes > 1 ? rounds * (nodes - 1) : 0;
	const double near = rounds * (ranks - 1.0) - far;

	if (ranks < 2)
		return 0;
	if (op == COLLECTIVE_SEND)
		return (nodes > 1 ? NIC_HOP_US : hop_us) * 1e-6 + bytes / (busbw * 1e9);
	return (BASE_US + far * NIC_HOP_US + near * hop_us) * 1e-6 +
	       bytes * collective_factor(op, ranks) / (busbw * 1e9);
}

double collective_all_to_all(
	const struct platform *p, unsigned gpus, unsigned nodes, unsigned nics, double gbps)
{
	const double each = (double)gpus / nodes;
	const double near = (each - 1) / (gpus - 1.0), far = 1 - near;
	const double nic = nics * collective_nic(gbps) / each; /* of one card */

	if (nodes < 2)
		return fmin(p->link, p->busbw);
	return 1 / fmax(near / fmin(p->link, p->busbw), far / nic);
}

double collective_exposed(double seconds, double backward_s)
{
	return fmax(0, seconds - 0.7 * backward_s);
}

double collective_step(
	const struct platform *base, const struct platform *other, double base_s, double wire_bytes)
{
	const double compute = base_s * base->tflops / other->tflops;

	if (base == other)
		return base_s;
	return compute + wire_bytes / (other->busbw * 1e9);
}
