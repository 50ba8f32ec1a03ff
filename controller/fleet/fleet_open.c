/* fleet_open - how a run begins: its row, its parameters, the audit log; with which nodes it can.
 */
#include "agent/base/clock.h"
#include "controller/fleet/fleet_priv.h"
#include "inventory/store/order.h"

#include <string.h>

static bool is_gone_on_with(const struct fleet *f)
{
	return f->opts->mode == ORDER_ATTACH || f->opts->mode == ORDER_RESUME;
}

/* What a run changes, or is to, stands in the audit log. */
static int note_run(struct fleet *f, struct err *err)
{
	const struct fleet_opts *o = f->opts;
	const char *nodes = o->nodes_text ? o->nodes_text : "";
	int rc = 0;

	if (fleet_acts(f) || o->mode == ORDER_REKEY)
		rc = store_audit_add(
			f->hub->store, o->by, order_mode_name(o->mode), nodes, f->out->id, err);
	if (rc == 0 && fleet_acts(f) && !is_gone_on_with(f)) {
		AUTO_JSON body = params_record(f->hub);

		rc = store_order_put(f->hub->store, f->out->id, body, err);
	}
	return rc;
}

static int reopen_row(struct fleet *f, struct err *err)
{
	int rc = 0;

	if (is_gone_on_with(f)) {
		f->reopened = true;
		rc = plan_seen(f, err);
	}
	return rc < 0 ? rc : store_run_reopen(f->hub->store, f->out->id, err);
}

int fleet_open_row(struct fleet *f, struct err *err)
{
	const struct fleet_opts *o = f->opts;
	const bool known = f->reopened;
	const struct run_row row = {
		.id = f->out->id,
		.mode = order_mode_name(o->mode),
		.recipes = o->n_recipes ? f->hub->recipes : "",
		.nodes = o->nodes_text ? o->nodes_text : "",
		.by = o->by,
		.state = "running",
		.plan_hash = "",
		.bundle = o->n_recipes ? f->hub->pack.digest : "",
		.started = clock_wall(),
		.n_nodes = f->n,
	};
	int rc;

	if (known || is_gone_on_with(f))
		rc = reopen_row(f, err);
	else
		rc = store_run_add(f->hub->store, &row, err);
	return rc < 0 || known ? rc : note_run(f, err);
}

void task_reset(struct task *t, struct fleet *f, const struct node_row *node)
{
	const struct task old = *t;
	const bool kept = old.state == TASK_IDLE && old.link;

	*t = (struct task){.fleet = f,
		.node = node,
		.set = params_of(f->hub, node),
		.signer = f->hub->keys->sign,
		.reboot_wait = f->opts->reboot_wait,
		.began = clock_mono()};
	if (!kept)
		return;
	t->state = TASK_IDLE;
	t->link = old.link;
	t->reader = old.reader;
	t->signer = old.signer;
	t->met = t->modern = true;
	memcpy(t->nonce, old.nonce, sizeof t->nonce);
	memcpy(t->body_hash, old.body_hash, sizeof t->body_hash);
	memcpy(t->boot_id, old.boot_id, sizeof t->boot_id);
	t->last_counts = old.last_counts;
	memcpy(t->last_hash, old.last_hash, sizeof t->last_hash);
}

/* Why a node cannot be begun with at all; 0 when it can. */
static int judge_node(const struct hub *h, const struct node_row *n, struct err *err)
{
	if (h->opts->transport)
		return 0;
	if (!n->address || !*n->address) {
		err_set(err, E_SCHEMA, "'%s' has no address", n->name);
		return err_hint(err, "give it one in the site file, then: stoika import FILE");
	}
	if (!n->host_key || !*n->host_key) {
		err_set(err, E_HOSTKEY, "no host key of '%s' is pinned", n->name);
		return err_hint(err, "stoika agent install %s --known-hosts FILE", n->name);
	}
	return 0;
}

int task_judge(struct task *t, const char *lease, struct err *why)
{
	struct hub *h = t->fleet->hub;
	const int rc = judge_node(h, t->node, why);

	if (rc < 0)
		return rc;
	if (t->set && t->set->err.code) {
		*why = t->set->err;
		return -(int)why->code;
	}
	return lease ? record_take_lease(h, t->node, lease, why) : 0;
}

void task_refuse(struct task *t, const struct err *why)
{
	const bool denied = why->code == E_BUSY || why->code == E_HOSTKEY;
	const bool bad_set = t->set && t->set->err.code;

	task_finish(t, denied && !bad_set ? RESULT_DENIED : RESULT_FAILED, why);
}
