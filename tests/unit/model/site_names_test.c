/* site_names_test - a small fabric of two leaves, a spine and a core, as recipes see it. */
#include "agent/base/mem.h"
#include "inventory/model/site_names.h"
#include "tests/unit/t.h"

static size_t add_device(struct model *m, const char *name, const char *role)
{
	*vec_push(&m->devices) = (struct device){.name = name,
		.role = role,
		.type = MODEL_NONE,
		.rack = MODEL_NONE,
		.status = STATUS_ACTIVE};
	return m->devices.n - 1;
}

static void connect(struct model *m, size_t a, size_t b, enum port_kind kind, const char *type)
{
	*vec_push(&m->ports) = (struct port){.name = "p", .device = a, .kind = kind, .type = type};
	*vec_push(&m->ports) = (struct port){.name = "p", .device = b, .kind = kind, .type = type};
	*vec_push(&m->cables) = (struct cable){.a = m->ports.n - 2, .b = m->ports.n - 1};
}

static struct model *make(void)
{
	struct model *m = model_new();
	const size_t n2 = add_device(m, "n2", "gpu"), n1 = add_device(m, "n1", "gpu");
	const size_t leaf1 = add_device(m, "leaf1", "switch"),
		     leaf2 = add_device(m, "leaf2", "ib-switch");
	const size_t spine = add_device(m, "spine1", "switch"),
		     core = add_device(m, "core1", "switch");
	const size_t oob = add_device(m, "oob1", "switch");

	m->site = "lab";
	*vec_push(&m->types) = (struct device_type){.name = "dgx", .gpus = 8, .gpu = "h100"};
	m->devices.at[n1].type = 0;
	*vec_push(&m->nodes) = (struct node){.name = "n2", .device = n2, .address = "10.0.0.2"};
	*vec_push(&m->nodes) =
		(struct node){.name = "n1", .device = n1, .address = "10.0.0.1", .role = "compute"};
	*vec_push(&m->nodes) = (struct node){.name = "bare", .device = MODEL_NONE};
	connect(m, n1, leaf1, PORT_INFINIBAND, NULL);
	connect(m, n1, leaf1, PORT_INFINIBAND, NULL);
	connect(m, n1, leaf2, PORT_INFINIBAND, NULL);
	connect(m, leaf2, n2, PORT_INFINIBAND, NULL);
	connect(m, spine, leaf1, PORT_INFINIBAND, NULL);
	connect(m, spine, leaf2, PORT_INFINIBAND, NULL);
	connect(m, core, spine, PORT_INFINIBAND, NULL);
	connect(m, n1, oob, PORT_ETHERNET, "rj45");
	return m;
}

static const json_t *named(const json_t *list, const char *name)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_get_str(json_array_get(list, i), "name", ""), name) == 0)
			return json_array_get(list, i);
	return NULL;
}

static void assert_list(const json_t *list, const char *want)
{
	char *text = json_dumps(list, JSON_COMPACT);

	assert_string_equal(text, want);
	free(text);
}

TEST(nodes_are_sorted_and_know_their_leaves)
{
	struct model *m = make();
	AUTO_JSON site = site_names(m);
	const json_t *nodes = json_get(site, "nodes");

	assert_string_equal(json_get_str(site, "name", ""), "lab");
	assert_int_equal(json_array_size(nodes), 3);
	assert_string_equal(json_get_str(json_array_get(nodes, 1), "name", ""), "n1");
	assert_list(json_get(named(nodes, "n1"), "leaves"), "[\"leaf1\",\"leaf2\"]");
	assert_list(json_get(named(nodes, "n2"), "leaves"), "[\"leaf2\"]");
	assert_string_equal(json_get_str(named(nodes, "n1"), "leaf", NULL), "leaf1");
	assert_string_equal(json_get_str(named(nodes, "n2"), "leaf", NULL), "leaf2");
	assert_list(json_get(named(nodes, "bare"), "leaves"), "[]");
	assert_int_equal(json_get_int(named(nodes, "n1"), "gpus", 0), 8);
	assert_string_equal(json_get_str(named(nodes, "n1"), "gpu", ""), "h100");
	assert_string_equal(json_get_str(named(nodes, "n1"), "role", ""), "compute");
	assert_string_equal(json_get_str(named(nodes, "n2"), "role", ""), "gpu");
	model_free(m);
}

TEST(switches_have_levels)
{
	struct model *m = make();
	AUTO_JSON site = site_names(m);
	const json_t *switches = json_get(site, "switches");

	assert_int_equal(json_array_size(switches), 4); /* that of management is none */
	assert_string_equal(json_get_str(named(switches, "leaf1"), "level", ""), "leaf");
	assert_string_equal(json_get_str(named(switches, "spine1"), "level", ""), "spine");
	assert_string_equal(json_get_str(named(switches, "core1"), "level", ""), "core");
	assert_string_equal(json_get_str(named(switches, "core1"), "kind", ""), "infiniband");
	assert_list(json_get(named(switches, "leaf1"), "nodes"), "[\"n1\"]");
	assert_list(
		json_get(named(switches, "spine1"), "switches"), "[\"leaf1\",\"leaf2\",\"core1\"]");
	model_free(m);
}

T_MAIN
