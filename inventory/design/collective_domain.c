/* collective_domain - the question 'collectives' of the design book. */
#include "inventory/design/collective_domain.h"

#include "inventory/design/collective.h"
#include "inventory/design/input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BYTES 10.0  /* on the wire for each parameter and step: fitted, bluenotebook.io */
#define D20_PARAMS 561e6 /* nanochat d20 */
#define VARIANTS   8

struct talk {
	enum collective op;
	const struct platform *platform;
	unsigned ranks, nodes, nics;
	double gbps, bytes, algbw, busbw;
};

/* "8xNDR400", "8 x HDR200", "2x100GbE": how many, and the first figure behind as Gb/s. */
static void read_nics(struct input *a, struct talk *t)
{
	const char *text = input_text(a, "nics");
	char *end;
	const char *digits;

	t->gbps = input_num(a, "nic_gbps", 1, 10000, 400);
	if (!text)
		return;
	t->nics = (unsigned)strtoul(text, &end, 10);
	while (*end == ' ')
		end++;
	if (t->nics == 0 || t->nics > 72 || (*end && *end != 'x')) {
		input_fail(a, "nics", "is '%.40s', and must be as '8xNDR400' or a number", text);
		return;
	}
	digits = *end ? strpbrk(end, "0123456789") : NULL;
	if (digits)
		t->gbps = strtod(digits, NULL);
	else if (*end && strstr(end, "NDR"))
		t->gbps = 400;
	if (!(t->gbps >= 1 && t->gbps <= 10000))
		input_fail(a, "nics", "is '%.40s', which says no speed in Gb/s", text);
}

static void read_platform(struct input *a, struct talk *t)
{
	const char *gpu = input_text(a, "gpu"), *link = input_text(a, "link");
	const bool crossed = link && strstr(link, "between");
	char name[96];

	if (!gpu)
		return;
	snprintf(name, sizeof name, "%s", gpu);
	if (link && !crossed && (strstr(link, "bridge") || strstr(link, "NVLink pair")))
		snprintf(name, sizeof name, "%s-bridged", gpu);
	t->platform = platform_find(name, crossed);
	if (!t->platform)
		input_fail(
			a, "gpu", "is '%.40s', of which no bus bandwidth is published here", gpu);
}

static int read_talk(struct input *a, struct talk *t)
{
	t->op = (enum collective)input_word(a, "op", COLLECTIVE_NAMES, COLLECTIVE_ALL_REDUCE);
	t->ranks = input_count(a, "ranks|gpus|n", 1000000, 0);
	t->nodes = input_count(a, "nodes", 100000, 1);
	t->nics = t->nodes ? t->ranks / t->nodes : 0;
	read_nics(a, t);
	read_platform(a, t);
	t->algbw = input_num(a, "algbw_gbs", 1e-6, 1e6, NAN);
	t->busbw = input_num(a, "busbw_gbs", 1e-6, 1e6, NAN);
	t->bytes = input_num(a, "bytes|size_bytes", 0, 1e18, NAN);
	if (isnan(t->bytes))
		t->bytes = 1e9 * input_num(a, "size_gb|gb", 0, 1e9, NAN);
	if (!a->fault && t->ranks < 2)
		input_fail(a, "ranks", "must be 2 or more: nobody talks alone");
	if (!a->fault && (t->nodes == 0 || t->ranks % t->nodes))
		input_fail(a, "nodes", "must divide the %u ranks", t->ranks);
	return a->fault;
}

static void put_talk(json_t *out, struct talk *t)
{
	const double factor = collective_factor(t->op, t->ranks);
	const double hop = t->platform ? t->platform->hop_us : 3.4;

	if (!isnan(t->algbw))
		t->busbw = t->algbw * factor;
	else if (isnan(t->busbw) && t->platform)
		t->busbw = t->op == COLLECTIVE_ALL_TO_ALL || t->op == COLLECTIVE_SEND
				   ? collective_all_to_all(
					     t->platform, t->ranks, t->nodes, t->nics, t->gbps)
				   : collective_busbw(t->platform, t->nodes, t->nics, t->gbps);
	answer_num(out, "busbw_gbs", t->busbw);
	answer_num(out, "algbw_gbs", t->busbw / factor);
	if (!isnan(t->bytes)) {
		const double s =
			collective_seconds(t->op, t->ranks, t->nodes, t->bytes, t->busbw, hop);

		answer_num(out, "seconds", s);
		answer_num(out, "time_s", s);
		answer_num(out, "ms", 1e3 * s);
	}
	if (t->platform)
		json_put_str(out, "source", t->platform->source);
}

/* Steps of one job on several platforms, against the first. */
static int answer_variants(struct input *a, const struct yaml_node *list, json_t *out)
{
	const double base_s = 1e-3 * input_num(a, "step_ms_sxm|step_ms", 1e-3, 1e9, NAN);
	const double params = input_num(a, "params", 1e6, 1e13, D20_PARAMS);
	const struct platform *base = NULL;
	double slower[VARIANTS];
	unsigned n = 0;

	if (list->kind != YAML_LIST || list->n < 2 || list->n > VARIANTS)
		return input_fail(a, "variants", "must be a list of 2 to %d platforms", VARIANTS);
	if (!a->fault && isnan(base_s))
		return input_fail(a, "step_ms_sxm", "is needed to compare steps");
	for (unsigned i = 0; !a->fault && i < list->n; i++) {
		const char *name = list->item[i]->kind == YAML_SCALAR ? list->item[i]->text.p : "";
		const struct platform *p = platform_find(name, strstr(name, "pair") != NULL);

		if (!p)
			return input_fail(
				a, "variants", "has '%.40s', which is not known here", name);
		if (!base)
			base = p;
		else
			slower[n++] =
				collective_step(base, p, base_s, STEP_BYTES * params) / base_s;
	}
	answer_nums(out, "slowdown_vs_sxm", slower, n, true);
	return a->fault;
}

int collective_answer(
	const struct yaml_doc *d, const struct yaml_node *in, json_t *out, struct err *err)
{
	struct input a = input_of(d, in, err);
	const struct yaml_node *variants = input_node(&a, "variants");
	struct talk t = {0};

	if (variants)
		return answer_variants(&a, variants, out);
	if (read_talk(&a, &t) < 0)
		return a.fault;
	put_talk(out, &t);
	return 0;
}
