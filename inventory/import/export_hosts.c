/*
 * export_hosts - nodes for those who manage hosts: Ansible's inventory and Prometheus' file_sd.
 *
 * Groups are role_X, rack_X and site_X, in letters that Ansible takes. The variables of a
 * node go along where the format can hold them.
 */
#include "agent/base/json.h"
#include "inventory/import/export_priv.h"
#include "inventory/import/export_table.h"
#include "inventory/model/index.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PROMETHEUS_PORT 9100 /* of node_exporter */

static const char *rack_of(const struct model *m, const struct node *n)
{
	const size_t rack = n->device == MODEL_NONE ? MODEL_NONE : m->devices.at[n->device].rack;

	return rack == MODEL_NONE ? NULL : m->racks.at[rack].name;
}

/* "role", "gpu-node" is role_gpu_node: group names are identifiers. */
static const char *group_name(struct arena *a, const char *kind, const char *name)
{
	char *group = arena_printf(a, "%s_%s", kind, name);

	for (char *p = group; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	return group;
}

enum group_kind {
	GROUP_ROLE,
	GROUP_RACK,
	GROUP_SITE,
	GROUP_N
};

static const char *group_of(
	struct arena *a, const struct model *m, const struct node *n, enum group_kind kind)
{
	static const char *const words[] = {"role", "rack", "site"};
	const char *const name[] = {n->role, rack_of(m, n), m->site};

	return name[kind] && *name[kind] ? group_name(a, words[kind], name[kind]) : NULL;
}

/* Groups in the order they are met, with their nodes. */
struct group {
	const char *name;
	struct vec(size_t) nodes;
};
struct groups vec(struct group);

static void collect(struct arena *a, const struct model *m, struct groups *out)
{
	struct model_index *index = model_index_new();

	for (int kind = 0; kind < GROUP_N; kind++)
		for (size_t i = 0; i < m->nodes.n; i++) {
			const char *name = group_of(a, m, &m->nodes.at[i], (enum group_kind)kind);
			size_t at;

			if (!name)
				continue;
			at = model_index_put(index, NOUN_N, 0, name, out->n);
			if (at == MODEL_NONE) {
				at = out->n;
				vec_push(out)->name = name;
			}
			*vec_push(&out->at[at].nodes) = i;
		}
	model_index_free(index);
}

static void groups_done(struct groups *g)
{
	vec_each(g, struct group, it)
		vec_done(&it->nodes);
	vec_done(g);
}

static json_t *vars_of(const struct node *n)
{
	json_t *vars = NULL;

	if (!n->vars || json_parse(str_of(n->vars), (size_t)1 << 20, "vars", &vars, NULL) < 0)
		return NULL;
	return vars;
}

/* --- INI --- */

/* Ansible reads key=value with Python's literals; quotes keep texts as texts. */
static void ini_value(struct buf *out, const json_t *v)
{
	AUTO_BUF text = {0};

	buf_init(&text, (size_t)1 << 20);
	if (json_is_string(v)) {
		buf_add_char(&text, '"');
		for (const char *p = json_string_value(v); *p; p++)
			buf_addf(&text, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
		buf_add_char(&text, '"');
	} else if (json_is_boolean(v)) {
		buf_add_text(&text, json_is_true(v) ? "True" : "False");
	} else {
		json_write(v, &text);
	}
	buf_add_char(out, '\'');
	for (const char *p = buf_text(&text); *p; p++)
		buf_addf(out, *p == '\'' ? "'\\''" : "%c", *p);
	buf_add_char(out, '\'');
}

static void ini_vars(struct buf *out, const struct node *n)
{
	AUTO_JSON vars = vars_of(n);
	const char *key;
	json_t *v;

	json_object_foreach(vars, key, v)
	{
		bool plain = isalpha((unsigned char)*key) || *key == '_';

		for (const char *p = key; *p; p++)
			plain = plain && (isalnum((unsigned char)*p) || *p == '_');
		if (!plain)
			continue;
		buf_addf(out, " %s=", key);
		ini_value(out, v);
	}
}

void export_ansible(const struct model *m, struct buf *out)
{
	struct arena *a = arena_new();
	struct groups groups = VEC_INIT;

	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.at[i];

		buf_addf(out, "%s ansible_host=%s", n->name, n->address);
		if (n->port != 22)
			buf_addf(out, " ansible_port=%u", n->port);
		if (n->user)
			buf_addf(out, " ansible_user=%s", n->user);
		ini_vars(out, n);
		buf_add_char(out, '\n');
	}
	collect(a, m, &groups);
	vec_each(&groups, struct group, g) {
		buf_addf(out, "\n[%s]\n", g->name);
		vec_each(&g->nodes, size_t, i)
			buf_addf(out, "%s\n", m->nodes.at[*i].name);
	}
	groups_done(&groups);
	arena_free(a);
}

/* --- YAML --- */

static void yaml_vars(struct buf *out, const struct node *n)
{
	AUTO_JSON vars = vars_of(n);
	const char *key;
	json_t *v;

	json_object_foreach(vars, key, v)
	{
		AUTO_JSON list = json_array();
		AUTO_BUF text = {0};

		buf_init(&text, (size_t)1 << 20);
		json_array_append(list, v);
		json_write(list, &text);
		buf_add_text(out, "      ");
		export_quoted(out, key);
		/* JSON is YAML; the brackets of the list go */
		buf_addf(out, ": %.*s\n", (int)text.n - 2, buf_text(&text) + 1);
	}
}

void export_ansible_yaml(const struct model *m, struct buf *out)
{
	struct arena *a = arena_new();
	struct groups groups = VEC_INIT;

	buf_add_text(out, m->nodes.n ? "all:\n  hosts:\n" : "all: {}\n");
	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.at[i];

		buf_addf(out, "    %s:\n      ansible_host: ", n->name);
		export_quoted(out, n->address);
		buf_add_char(out, '\n');
		if (n->port != 22)
			buf_addf(out, "      ansible_port: %u\n", n->port);
		if (n->user)
			buf_addf(out, "      ansible_user: \"%s\"\n", n->user);
		yaml_vars(out, n);
	}
	collect(a, m, &groups);
	buf_add_text(out, groups.n ? "  children:\n" : "");
	vec_each(&groups, struct group, g) {
		buf_addf(out, "    %s:\n      hosts:\n", g->name);
		vec_each(&g->nodes, size_t, i)
			buf_addf(out, "        %s:\n", m->nodes.at[*i].name);
	}
	groups_done(&groups);
	arena_free(a);
}

/* --- Prometheus --- */

void export_prometheus(const struct model *m, struct buf *out)
{
	AUTO_JSON list = json_array();

	for (size_t i = 0; i < m->nodes.n; i++) {
		const struct node *n = &m->nodes.at[i];
		const bool v6 = strchr(n->address, ':') != NULL;
		json_t *item = json_object(), *labels = json_object(), *targets = json_array();
		char target[300];

		snprintf(target, sizeof target, v6 ? "[%.250s]:%d" : "%.250s:%d", n->address,
			PROMETHEUS_PORT);
		json_array_append_new(targets, json_string(target));
		json_put_str(labels, "node", n->name);
		json_put_str(labels, "site", m->site);
		json_put_str(labels, "rack", rack_of(m, n));
		json_put_str(labels, "role", n->role);
		json_object_set_new(item, "targets", targets);
		json_object_set_new(item, "labels", labels);
		json_array_append_new(list, item);
	}
	json_write_pretty(list, out);
	buf_add_char(out, '\n');
}
