/*
 * kubernetes - kubectl: one patch cordons a node, taints it and says whose it is; pods are evicted
 * by the eviction API, so budgets of disruption hold.
 *
 * The mark is the annotation stoika/fence=RUN beside spec.unschedulable. A patch carries the
 * node's resourceVersion: whoever changed the node in between makes it fail, and it is looked at
 * again. Other taints and annotations are kept. There is no restart by the scheduler.
 */
#include "controller/fence/kubernetes.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEY_FENCE     "stoika/fence"
#define KEY_WHY       "stoika/fence-why"
#define KEY_BEFORE    "stoika/fence-before"
#define LABEL_UPGRADE "nvidia.com/gpu-driver-upgrade-state"
#define LABEL_DRIVER  "nvidia.com/gpu.deploy.driver"
#define DRAIN_TIME    10 /* s: what is not gone by then is asked for again later */
#define PATCH_MAX     (1u << 20)

/* Lists come as such; a single object of kubectl get NAME as itself. */
static size_t items_of(const json_t *root, const json_t **items)
{
	*items = json_get(root, "items");
	return json_is_array(*items) ? json_array_size(*items) : root ? 1 : 0;
}

static const json_t *item_at(const json_t *root, const json_t *items, size_t i)
{
	return json_is_array(items) ? json_array_get(items, i) : root;
}

static bool is_ready(const json_t *status)
{
	const json_t *all = json_get(status, "conditions");

	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *c = json_array_get(all, i);

		if (strcmp(json_get_str(c, "type", ""), "Ready") == 0)
			return strcmp(json_get_str(c, "status", ""), "True") == 0;
	}
	return false;
}

static const char *why_not_ready(const json_t *status)
{
	const json_t *all = json_get(status, "conditions");

	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *c = json_array_get(all, i);

		if (strcmp(json_get_str(c, "type", ""), "Ready") == 0)
			return json_get_str(c, "message", "not ready");
	}
	return "it has no condition Ready";
}

/* The operator's own machine changes the driver by containers: two owners are one too many. */
static void find_owner(struct fence_node *n, const json_t *labels)
{
	const char *state = json_get_str(labels, LABEL_UPGRADE, NULL);
	const char *deploy = json_get_str(labels, LABEL_DRIVER, "true");

	n->must_not = state && strcmp(deploy, "pre-installed") != 0 && strcmp(deploy, "false") != 0;
	n->refused[0] = 0;
	if (n->must_not)
		snprintf(n->refused, sizeof n->refused,
			"the GPU Operator owns the driver of this node (" LABEL_UPGRADE
			"=%.40s): change it by the operator's ClusterPolicy, or turn its driver off",
			state);
}

/* What of the node's record is needed for the next patch, and to be remembered. */
static void keep_record(struct fence_node *n, const json_t *meta, const json_t *spec)
{
	json_t *taints = json_get(spec, "taints"), *labels = json_get(meta, "labels");

	json_drop(&n->before);
	n->before = json_object();
	json_put_str(n->before, "resourceVersion", json_get_str(meta, "resourceVersion", ""));
	json_put_bool(n->before, "unschedulable", json_get_bool(spec, "unschedulable", false));
	if (json_is_array(taints))
		json_object_set(n->before, "taints", taints);
	json_put_str(n->before, LABEL_UPGRADE, json_get_str(labels, LABEL_UPGRADE, NULL));
}

/* A taint of ours names its run as well: another run's on a cordoned node makes that node its. */
static void keep_reason(
	struct fence_node *n, const json_t *notes, const json_t *status, bool cordon)
{
	const char *run = json_get_str(notes, KEY_FENCE, "");
	const char *why = json_get_str(notes, KEY_WHY, "");

	n->by[0] = 0;
	if (cordon && *run) {
		char words[2 * WORD_MAX];
		const int len = snprintf(words, sizeof words, FENCE_MARK "%.100s%s%.200s", run,
			*why ? " " : "", why);

		fence_keep(n->reason, sizeof n->reason,
			(struct str){words, len > 0 ? (size_t)len : 0});
	} else if (cordon) {
		fence_keep(n->reason, sizeof n->reason, STR_LIT("cordoned"));
	} else if (!is_ready(status)) {
		fence_keep(n->reason, sizeof n->reason, str_of(why_not_ready(status)));
	} else {
		n->reason[0] = 0;
	}
}

/* A cordon that somebody lifted leaves our taint: no pod comes either. */
static bool is_closed(const json_t *spec)
{
	const json_t *taints = json_get(spec, "taints");

	for (size_t i = 0; i < json_array_size(taints); i++)
		if (strcmp(json_get_str(json_array_get(taints, i), "key", ""), KEY_FENCE) == 0)
			return true;
	return json_get_bool(spec, "unschedulable", false);
}

static void take_node(struct fence *f, struct fence_node *n, const json_t *node, int64_t at)
{
	const json_t *meta = json_get(node, "metadata"), *spec = json_get(node, "spec");
	const json_t *status = json_get(node, "status"), *notes = json_get(meta, "annotations");
	const bool cordon = is_closed(spec);
	struct fence_view *v = &n->view;

	v->ours = cordon && strcmp(json_get_str(notes, KEY_FENCE, ""), f->opts.mark) == 0;
	v->at = at;
	if (!v->ours)
		v->jobs = n->movable = 0;
	/* pods that were counted before it was closed tell nothing */
	const bool counted = n->counted > n->acted && v->jobs == 0;
	v->state = !is_ready(status)     ? FENCE_DOWN
		   : !cordon             ? FENCE_OPEN
		   : v->ours && !counted ? FENCE_CLOSING
					 : FENCE_CLOSED;
	n->busy = v->state == FENCE_CLOSING;
	n->seen = true;
	keep_reason(n, notes, status, cordon);
	keep_record(n, meta, spec);
	find_owner(n, json_get(meta, "labels"));
}

static const char *name_of(const json_t *object)
{
	return json_get_str(json_get(object, "metadata"), "name", "");
}

/* Kubernetes knows small letters only, whatever the inventory writes. */
static struct fence_node *find_node(struct fence *f, const char *name)
{
	struct fence_node *n = fence_find(f, str_of(name));

	for (size_t i = 0; !n && i < f->n; i++)
		if (strcasecmp(f->nodes[i].name, name) == 0)
			n = &f->nodes[i];
	return n;
}

static int read_nodes(struct fence *f, struct str text, int64_t at, struct err *err)
{
	AUTO_JSON root = NULL;
	const json_t *items = NULL;

	if (!str_trim(text).n)
		return 0; /* --ignore-not-found of names that are all unknown */
	const int rc = json_parse(text, PROGRAM_OUT_MAX, "nodes", &root, err);
	if (rc)
		return rc;
	const size_t n = items_of(root, &items);
	for (size_t i = 0; i < n; i++)
		if (!*name_of(item_at(root, items, i)))
			return err_set(err, E_SCHEMA, "node %zu has no name", i);
	for (size_t i = 0; i < n; i++) {
		const json_t *node = item_at(root, items, i);
		struct fence_node *ours = find_node(f, name_of(node));

		if (ours)
			take_node(f, ours, node, at);
	}
	return 0;
}

/* A pod that stays when a node is emptied, or has ended: no job. */
static bool is_daemon(const json_t *pod)
{
	const json_t *meta = json_get(pod, "metadata"), *owners = json_get(meta, "ownerReferences");
	const char *phase = json_get_str(json_get(pod, "status"), "phase", "");

	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0)
		return true;
	if (json_get(json_get(meta, "annotations"), "kubernetes.io/config.mirror"))
		return true;
	for (size_t i = 0; i < json_array_size(owners); i++)
		if (strcmp(json_get_str(json_array_get(owners, i), "kind", ""), "DaemonSet") == 0)
			return true;
	return false;
}

static int read_pods(struct fence *f, struct str text, int64_t at, struct err *err)
{
	AUTO_JSON root = NULL;
	const json_t *items = NULL;
	const int rc = json_parse(text, PROGRAM_OUT_MAX, "pods", &root, err);

	if (rc)
		return rc;
	if (!json_is_array(json_get(root, "items")))
		return err_set(err, E_SCHEMA, "expected a list of pods");
	const size_t n = items_of(root, &items);
	for (size_t i = 0; i < f->n; i++) {
		struct fence_node *node = &f->nodes[i];

		if (f->n_batch && f->batch[0] != i)
			continue;
		node->view.jobs = node->movable = 0;
		node->counted = at;
	}
	for (size_t i = 0; i < n; i++) {
		const json_t *pod = item_at(root, items, i);
		struct fence_node *node =
			find_node(f, json_get_str(json_get(pod, "spec"), "nodeName", ""));

		if (!node || node->counted != at || is_daemon(pod))
			continue;
		node->view.jobs++;
		node->movable++;
	}
	for (size_t i = 0; i < f->n; i++) {
		struct fence_node *node = &f->nodes[i];

		if (node->counted == at && node->view.ours && node->view.state == FENCE_CLOSING &&
			!node->view.jobs && at > node->acted)
			node->view.state = FENCE_CLOSED;
	}
	return 0;
}

int fence_read_kubernetes(
	struct fence *f, struct str nodes, struct str pods, int64_t at, struct err *err)
{
	int rc = nodes.n ? read_nodes(f, nodes, at, err) : 0;

	if (!rc && pods.n)
		rc = read_pods(f, pods, at, err);
	return rc;
}

/* Which budgets allow no eviction now: what kubectl drain itself does not say. */
static int read_budgets(struct fence *f, struct str text, struct err *err)
{
	AUTO_JSON root = NULL;
	AUTO_BUF words;
	struct fence_node *n = &f->nodes[f->batch[0]];

	buf_init(&words, WORD_MAX);
	const int rc = json_parse(text, PROGRAM_OUT_MAX, "budgets", &root, err);
	if (rc)
		return rc;
	const json_t *items = json_get(root, "items");
	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *b = json_array_get(items, i), *status = json_get(b, "status");

		if (json_get_int(status, "disruptionsAllowed", 0) != 0)
			continue;
		buf_addf(&words, "%s%.80s (%" PRId64 " healthy, %" PRId64 " needed)",
			words.n ? ", " : "", name_of(b), json_get_int(status, "currentHealthy", 0),
			json_get_int(status, "desiredHealthy", 0));
	}
	if (words.n)
		fence_trouble(n, f->started, "%s: %s", n->guarded, buf_text(&words));
	return 0;
}

/* The text between a and b in a line, up to its end without b, "" without a. */
static struct str between(struct str line, const char *a, const char *b)
{
	const size_t at = str_find_str(line, str_of(a));

	if (at == STR_NONE)
		return (struct str){"", 0};
	const struct str rest = str_from(line, at + strlen(a));
	return str_first(rest, str_find_str(rest, str_of(b)));
}

/* 'error when evicting pods/"web-0" -n "shop" (will retry ...): Cannot evict pod as ...' */
static bool find_guarded(struct fence_node *n, struct str line)
{
	char pod[80];
	const struct str name = between(line, "pods/\"", "\""),
			 space = between(line, "-n \"", "\"");

	if (!name.n || !space.n || str_find_str(line, STR_LIT("Cannot evict pod")) == STR_NONE)
		return false;
	fence_keep(pod, sizeof pod, name);
	fence_keep(n->space, sizeof n->space, space);
	snprintf(n->guarded, sizeof n->guarded,
		"pod '%s' of '%s' may not be evicted, a disruption budget allows none now", pod,
		n->space);
	return true;
}

/* 'cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/tmp-1' */
static bool find_kept(struct str line, struct buf *words)
{
	static const char mark[] = "cannot delete ";
	struct str rest = line;

	for (size_t at; (at = str_find_str(rest, STR_LIT(mark))) != STR_NONE;)
		rest = str_from(rest, at + sizeof mark - 1);
	if (rest.n == line.n)
		return false;
	buf_clear(words);
	buf_add_text(words, "nothing is evicted while there are ");
	buf_add_printable(words, str_first(rest, str_find_str(rest, STR_LIT(" (use "))));
	buf_add_text(words, ": ");
	buf_add_printable(words, between(rest, "override): ", ", continuing command"));
	buf_add_text(words, "; the policy's 'jobs: cancel' ends them as well");
	return true;
}

/* Somebody changed the node since it was looked at: no trouble, the next look will tell. */
static bool explain_refusal(
	struct fence *f, struct fence_node *n, struct str text, struct buf *words)
{
	struct str line;

	if (str_find_str(text, STR_LIT("(Conflict)")) != STR_NONE)
		return false;
	for (bool found = false; f->act == ACT_MOVE && !found && str_line(&text, &line);) {
		found = find_guarded(n, line);
		if (found) {
			n->ask_why = true;
			buf_clear(words);
			buf_add_text(words, n->guarded);
		} else {
			found = find_kept(line, words);
		}
	}
	return true;
}

static int read_answer(
	struct fence *f, enum fence_act act, struct str text, int64_t at, struct err *err)
{
	if (act == ACT_WHY)
		return read_budgets(f, text, err);
	return act == ACT_JOBS ? read_pods(f, text, at, err) : read_nodes(f, text, at, err);
}

/* The node's taints without ours, and with it if it is to be closed. */
static json_t *taints_of(const struct fence *f, const struct fence_node *n, bool closed)
{
	const json_t *old = json_get(n->before, "taints");
	json_t *out = json_array();

	for (size_t i = 0; i < json_array_size(old); i++) {
		json_t *t = json_array_get(old, i);
		const char *key = json_get_str(t, "key", "");

		/* the cluster's own mark of a cordon comes and goes with it */
		if (strcmp(key, KEY_FENCE) != 0 &&
			strcmp(key, "node.kubernetes.io/unschedulable") != 0)
			json_array_append(out, t);
	}
	if (closed) {
		json_t *t = json_object();

		json_put_str(t, "key", KEY_FENCE);
		json_put_str(t, "value", f->opts.mark);
		json_put_str(t, "effect", "NoSchedule");
		json_array_append_new(out, t);
	}
	return out;
}

static const char *patch_of(struct fence *f, const struct fence_node *n, bool closed)
{
	AUTO_JSON patch = json_object();
	AUTO_BUF out;
	json_t *meta = json_object(), *spec = json_object(), *notes = json_object();

	buf_init(&out, PATCH_MAX);
	json_put_str(meta, "resourceVersion", json_get_str(n->before, "resourceVersion", ""));
	if (closed) {
		json_put_str(notes, KEY_FENCE, f->opts.mark);
		json_put_str(notes, KEY_WHY, n->why);
		json_put_str(notes, KEY_BEFORE, "{\"unschedulable\":false}");
	} else {
		json_object_set_new(notes, KEY_FENCE, json_null());
		json_object_set_new(notes, KEY_WHY, json_null());
		json_object_set_new(notes, KEY_BEFORE, json_null());
	}
	json_object_set_new(meta, "annotations", notes);
	if (closed)
		json_put_bool(spec, "unschedulable", true);
	else
		json_object_set_new(spec, "unschedulable", json_null());
	json_object_set_new(spec, "taints", taints_of(f, n, closed));
	json_object_set_new(patch, "metadata", meta);
	json_object_set_new(patch, "spec", spec);
	json_write(patch, &out);
	return arena_text(f->scratch, buf_str(&out));
}

/* Kubernetes' own writing of the name. */
static const char *small(struct fence *f, const char *name)
{
	char *out = arena_strdup(f->scratch, name);

	for (char *p = out; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	return out;
}

static void push_drain(
	struct fence *f, struct words *out, const struct fence_node *n, const char *name)
{
	/* it is to say why before it is ended */
	const int64_t most = f->opts.program_timeout / CLOCK_SEC / 2;
	fence_push(out, "drain");
	fence_push(out, name);
	fence_push(out, "--ignore-daemonsets");
	fence_push(out, arena_printf(f->scratch, "--timeout=%ds",
				most > 0 && most < DRAIN_TIME ? (int)most : DRAIN_TIME));
	/* what is lost for ever goes only where the policy says so */
	if (n->move == FENCE_CANCEL) {
		fence_push(out, "--delete-emptydir-data");
		fence_push(out, "--force");
	}
}

static void fill_argv(struct fence *f, enum fence_act act, struct words *out)
{
	const struct fence_node *first = &f->nodes[f->batch[0]];
	const char *name = small(f, first->name);

	fence_push(out, "kubectl");
	if (f->opts.kubeconfig)
		fence_push(out, arena_printf(f->scratch, "--kubeconfig=%s", f->opts.kubeconfig));
	if (act == ACT_MOVE) {
		push_drain(f, out, first, name);
		return;
	}
	fence_push(out, "--request-timeout=20s");
	if (act == ACT_LOOK) {
		fence_push(out, "get");
		fence_push(out, "nodes");
		for (size_t i = 0; i < f->n_batch; i++)
			fence_push(out, small(f, f->nodes[f->batch[i]].name));
		fence_push(out, "--ignore-not-found");
		fence_push(out, "-o");
		fence_push(out, "json");
	} else if (act == ACT_JOBS) {
		fence_push(out, "get");
		fence_push(out, "pods");
		fence_push(out, "-A");
		fence_push(
			out, arena_printf(f->scratch, "--field-selector=spec.nodeName=%s", name));
		fence_push(out, "-o");
		fence_push(out, "json");
	} else if (act == ACT_WHY) {
		fence_push(out, "get");
		fence_push(out, "pdb");
		fence_push(out, "-n");
		fence_push(out, first->space);
		fence_push(out, "-o");
		fence_push(out, "json");
	} else {
		fence_push(out, "patch");
		fence_push(out, "node");
		fence_push(out, name);
		fence_push(out, "--type=merge");
		fence_push(out, "-p");
		fence_push(out, patch_of(f, first, act == ACT_CLOSE));
	}
}

const struct fence_ops FENCE_KUBERNETES_OPS = {.name = "Kubernetes",
	.batch = {[ACT_LOOK] = 200,
		[ACT_JOBS] = 1,
		[ACT_WHY] = 1,
		[ACT_CLOSE] = 1,
		[ACT_OPEN] = 1,
		[ACT_MOVE] = 1},
	.argv = fill_argv,
	.read = read_answer,
	.explain = explain_refusal};
