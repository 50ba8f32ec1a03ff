/* fleet_hub - what runs share: nodes and what they are sent, links, signals, the look at tasks. */
#include "agent/base/clock.h"
#include "agent/base/mem.h"
#include "controller/fleet/fleet_priv.h"

#define SWEEP_EVERY CLOCK_SEC
#define NAMES_MAX   (64u << 10)

static volatile sig_atomic_t stop_signal;

static void note_signal(int number)
{
	stop_signal = number;
}

void signals_take(struct signals *old)
{
	struct sigaction stop = {.sa_handler = note_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	stop_signal = 0;
	sigemptyset(&stop.sa_mask);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGINT, &stop, &old->sigint);
	sigaction(SIGTERM, &stop, &old->sigterm);
	/* a terminal that goes away; nohup's word stands */
	sigaction(SIGHUP, &stop, &old->sighup);
	if (old->sighup.sa_handler == SIG_IGN)
		sigaction(SIGHUP, &old->sighup, NULL);
	sigaction(SIGPIPE, &ignore, &old->sigpipe);
}

void signals_give_back(const struct signals *old)
{
	sigaction(SIGINT, &old->sigint, NULL);
	sigaction(SIGTERM, &old->sigterm, NULL);
	sigaction(SIGHUP, &old->sighup, NULL);
	sigaction(SIGPIPE, &old->sigpipe, NULL);
}

bool signals_came(void)
{
	return stop_signal != 0;
}

static const char *join_recipes(struct hub *h)
{
	const struct fleet_opts *o = h->opts;
	AUTO_BUF out = {0};

	buf_init(&out, NAMES_MAX);
	for (unsigned i = 0; i < o->n_recipes; i++)
		if (o->recipes[i].asked)
			buf_addf(&out, "%s%s", out.n ? "," : "", o->recipes[i].name);
	return arena_strdup(h->arena, buf_text(&out));
}

int hub_open(struct hub *h, const struct node_refs *nodes, unsigned max_open, struct err *err)
{
	const struct link_set_opts o = {
		.key = h->keys->ssh,
		.kex = h->opts->kex,
		.connect_timeout = h->opts->connect_timeout,
		.max_open = max_open,
		.transport = h->opts->transport,
	};
	int rc;

	h->arena = arena_new();
	h->owner = store_owner(h->arena);
	h->nodes = nodes;
	h->recipes = join_recipes(h);
	h->renewed = clock_mono();
	rc = order_prepare(h, nodes, err);
	return rc < 0 ? rc : link_set_new(&o, &h->links, err);
}

void hub_close(struct hub *h)
{
	link_set_free(h->links);
	order_cleanup(h);
	arena_free(h->arena);
}

void hub_sweep(struct hub *h, struct task *tasks, unsigned n, int64_t now)
{
	if (h->retrying == 0 && now - h->swept < SWEEP_EVERY)
		return;
	h->swept = now;
	for (unsigned i = 0; i < n; i++)
		task_tick(&tasks[i], now);
}
