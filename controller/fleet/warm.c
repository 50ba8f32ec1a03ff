#include "controller/fleet/warm.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#include <stdlib.h>

struct warm {
	struct hub hub;
	struct fleet fleet;
	struct fleet_opts opts;
};

int warm_open(struct store *s, const struct keys *k, const struct node_refs *nodes,
	const struct fleet_opts *o, struct warm **out, struct err *err)
{
	struct warm *w;
	unsigned abandoned;
	int rc = fleet_recover(s, &abandoned, err);

	if (rc < 0)
		return rc;
	w = xcalloc(1, sizeof *w);
	w->opts = *o;
	w->opts.id = NULL; /* each turn has its own */
	w->hub = (struct hub){.store = s, .keys = k, .opts = &w->opts};
	w->fleet = (struct fleet){.hub = &w->hub, .opts = &w->opts, .stay = true};
	rc = fleet_begin(&w->fleet, nodes, err);
	if (rc < 0)
		warm_close(w);
	else
		*out = w;
	return rc;
}

int warm_turn(struct warm *w, struct fleet_outcome *out, struct err *err)
{
	w->fleet.out = out;
	w->hub.broken = (struct err){0};
	return fleet_turn(&w->fleet, err);
}

unsigned warm_links(const struct warm *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->fleet.n; i++)
		n += w->fleet.tasks[i].state == TASK_IDLE ? 1 : 0;
	return n;
}

void warm_close(struct warm *w)
{
	if (!w)
		return;
	fleet_end(&w->fleet);
	free(w);
}
