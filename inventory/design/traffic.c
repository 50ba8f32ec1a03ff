/* traffic - bytes by level, then seconds, then what is left uncovered. */
#include "inventory/design/traffic.h"

#include "inventory/design/constant.h"
#include "inventory/design/need.h"
#include "inventory/design/train.h"

#include <math.h>

#define ELEMENT  2.0 /* bytes of an activation or a gradient */
#define BACKWARD (2.0 / 3)

static void put(struct step *s, enum level l, double bytes, double rate, bool crosses)
{
	s->level[l].bytes = bytes;
	s->level[l].seconds = rate > 0 ? bytes / rate : 0;
	s->level[l].exposed = s->level[l].seconds;
	s->level[l].crosses = crosses;
}

/* Ring traffic of a rank: 2(n-1)/n of the message; the bus bandwidth carries that. */
static double ring(double bytes, double n)
{
	return n > 1 ? 2 * (n - 1) / n * bytes : 0;
}

static double rate_of(const struct wires *w, double span)
{
	return span <= w->domain ? w->inside : w->outside;
}

int traffic_step(const struct llm *m, const struct layout *l, const struct card *c,
	const struct wires *w, double batch, double seq, int zero, double ep, struct step *out,
	struct err *err)
{
	const double micro = seq * m->hidden * ELEMENT; /* activations of one sequence */
	const double each = batch / l->dp;              /* sequences of a replica */
	const double ranks = l->tp * l->cp * l->pp;
	struct layout alone = *l;
	struct llm_parts p;
	double moved, sparse;
	int rc;

	if ((rc = need_above("batch", batch, err)) < 0 || (rc = need_above("seq", seq, err)) < 0 ||
		(rc = need_whole("zero", zero, 0, 3, err)) < 0 ||
		(rc = need_whole("ep", ep, 1, fmax(1, l->dp * l->cp), err)) < 0 ||
		(rc = need_above("bandwidth outside", w->outside, err)) < 0 ||
		(rc = need_above("bandwidth inside", w->inside, err)) < 0)
		return rc;
	*out = (struct step){0};
	llm_parts(m, &p);
	alone.tp = 1;
	alone.bubble = 0;
	alone.cp = 1;
	out->compute = train_flops_token(p.active, m->layers, m->hidden, seq, false) * batch * seq /
		       (l->dp * ranks * pace_flops(m, &alone, c));
	/* two all-reduces forward and two backward of each layer of the stage */
	put(out, LEVEL_TP, 4 * m->layers / l->pp * each * ring(micro / l->cp, l->tp),
		rate_of(w, l->tp), l->tp > w->domain);
	put(out, LEVEL_PP, l->pp > 1 ? 2 * each * micro / l->tp / l->cp : 0,
		l->tp * l->pp > w->domain ? w->outside : w->inside, l->tp * l->pp > w->domain);
	moved = p.total / (l->tp * l->pp) * ELEMENT;
	put(out, LEVEL_DP, ring(moved, l->dp) * (zero == 3 ? 1.5 : 1),
		rate_of(w, l->tp * l->pp * l->dp), ranks * l->dp > w->domain);
	out->level[LEVEL_DP].exposed = fmax(
		0, out->level[LEVEL_DP].seconds - constant(K_DP_OVERLAP) * BACKWARD * out->compute);
	/* there and back, forward and backward, of k choices a token and layer */
	sparse = m->experts > 0 ? (m->layers - m->dense_layers) / l->pp : 0;
	put(out, LEVEL_EP,
		ep > 1 ? 4 * sparse * each * micro * m->experts_active * (ep - 1) / ep / l->tp : 0,
		rate_of(w, l->tp * ep), l->tp * ep > w->domain);
	out->seconds = out->compute * (1 + l->bubble);
	for (int i = 0; i < LEVELS; i++)
		out->seconds += out->level[i].exposed;
	return 0;
}

enum level traffic_worst(const struct step *s, double *share)
{
	enum level worst = LEVELS;
	double most = 0;

	for (int i = 0; i < LEVELS; i++) {
		if (s->level[i].exposed <= most)
			continue;
		most = s->level[i].exposed;
		worst = (enum level)i;
	}
	*share = s->seconds > 0 ? most / s->seconds : 0;
	return worst;
}
