/*
 * collective - how long GPUs talk: all-reduce, all-to-all, point to point. Pure.
 *
 * GB/s are decimal and of one direction. "busbw" is nccl-tests' figure: what the slowest link
 * carries, whatever the number of ranks. Large messages: +-10 % within a node, +-15 % between
 * nodes, +-30 % where PCIe is crossed. Source: sizing book 1.10, nccl-tests doc/PERFORMANCE.md.
 */
#pragma once

enum collective {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_REDUCE,
	COLLECTIVE_SEND,
	COLLECTIVE_SWITCH_REDUCE, /* all-reduce in the switches */
	COLLECTIVE_N
};
extern const char *const COLLECTIVE_NAMES[]; /* "all_reduce" ..., NULL-terminated */

/* Cards as they hang together in one node. */
struct platform {
	const char *name; /* as nccl users say it: "H100-SXM" */
	double busbw;     /* GB/s of an all-reduce of 1 GiB and more within the domain */
	double link;      /* GB/s one way that a card has to its neighbours */
	unsigned domain;  /* cards that reach each other so */
	double hop_us;    /* latency of a step in it */
	double tflops;    /* bf16 dense, for comparing steps; 0: not used */
	const char *source;
};
extern const struct platform PLATFORMS[]; /* the last has no name */
/* By name, without regard to case, blanks and dashes; NULL. crossed: the cards talk over PCIe
 * though some are bridged. */
const struct platform *platform_find(const char *name, int crossed);

/* busbw / algbw: 2(n-1)/n, (n-1)/n, 1, (n-1)/(n+1) in-switch. [PERFORMANCE.md; exact] */
double collective_factor(enum collective op, unsigned ranks);
/* GB/s that one NIC of so many Gb/s gives: 0.915 * Gb/s / 8. [nccl-tests#309: 365.84 GB/s of 8 x
 * 400 Gb/s; #290: 46-48 of one; GB/s] */
double collective_nic(double gbps);
/* GB/s between nodes: the slower of the cards' own and of all NICs. [sizing 1.10; GB/s] */
double collective_busbw(const struct platform *p, unsigned nodes, unsigned nics, double gbps);
/* Seconds: latency of the steps + bytes * factor / busbw. [sizing 1.10, ring; NCCL tuning.cc; s] */
double collective_seconds(enum collective op, unsigned ranks, unsigned nodes, double bytes,
	double busbw, double hop_us);
/* Bytes a second that pass for an all-to-all over nodes: NIC-bound share. [sizing 1.10; GB/s] */
double collective_all_to_all(
	const struct platform *p, unsigned gpus, unsigned nodes, unsigned nics, double gbps);
/* What backward does not hide: max(0, t - 0.7 * backward). [sizing 1.10; s] */
double collective_exposed(double seconds, double backward_s);
/*
 * A data-parallel step that took base_s on one platform, on another: compute by dense TFLOPS, the
 * traffic of wire_bytes by busbw, not hidden. [derived; fitted on bluenotebook.io, 8 x H100; s]
 */
double collective_step(const struct platform *base, const struct platform *other, double base_s,
	double wire_bytes);
