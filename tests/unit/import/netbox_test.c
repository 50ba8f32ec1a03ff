/* netbox - dumps and CSV of NetBox: their traps, their losses, and the way there and back. */
#include "inventory/audit/power.h"
#include "tests/unit/import/foreign.h"

/* --- the round trip through NetBox --- */

static void write_export(const struct model *m, enum export_format format, const char *dir)
{
	struct export_files files = VEC_INIT;
	struct losses losses = {0};
	struct err err;

	if (foreign_export(m, format, &files, &losses, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < files.n; i++)
		put(dir, files.at[i].name, buf_text(&files.at[i].text));
	export_files_done(&files);
	losses_done(&losses);
}

/* What has to survive, as sorted lines. */
static const char *const NO = "-";

static const char *or_none(const char *s)
{
	return s ? s : NO;
}

static int compare_lines(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void add_rooms(const struct model *m, struct model_names *lines)
{
	vec_each(&m->racks, struct rack, r) {
		*vec_push(lines) = arena_printf(m->arena, "rack %s %s %u %g %g", r->name,
			r->location == MODEL_NONE ? NO : m->locations.at[r->location].name,
			r->height_u, r->depth_mm, r->max_weight_kg);
	}
	vec_each(&m->feeds, struct feed, f) {
		*vec_push(lines) = arena_printf(m->arena, "feed %s %s %s %g %u %g %g", f->name,
			f->rack == MODEL_NONE ? NO : m->racks.at[f->rack].name,
			f->panel == MODEL_NONE ? NO : m->panels.at[f->panel].name, f->volts,
			f->phases, f->amps, isnan(f->max_utilization) ? 0.8 : f->max_utilization);
	}
	vec_each(&m->outlets, struct outlet, o) {
		*vec_push(lines) = arena_printf(m->arena, "outlet %s/%s %s %u",
			m->pdus.at[o->pdu].name, o->name, or_none(o->type), o->phase);
	}
}

static void add_devices(const struct model *m, struct model_names *lines)
{
	vec_each(&m->devices, struct device, d) {
		const struct device_type *t = &m->types.at[d->type];

		*vec_push(lines) = arena_printf(m->arena, "device %s %s %s %s %u.%d %s %u %d %u %g",
			d->name, t->name, or_none(d->role),
			d->rack == MODEL_NONE ? NO : m->racks.at[d->rack].name, d->position,
			d->half_up, model_face_name(d->face), t->height_u, t->full_depth, t->psus,
			t->watts[BASIS_MAX]);
	}
	vec_each(&m->ports, struct port, p) {
		*vec_push(lines) = arena_printf(m->arena, "port %s/%s %s %s %s",
			m->devices.at[p->device].name, p->name, model_port_kind_name(p->kind),
			p->kind == PORT_POWER ? NO : or_none(p->type), or_none(p->mac));
	}
	vec_each(&m->cords, struct cord, c) {
		const struct port *p = &m->ports.at[c->port];

		*vec_push(lines) =
			arena_printf(m->arena, "cord %s/%s %s/%s", m->devices.at[p->device].name,
				p->name, m->pdus.at[m->outlets.at[c->outlet].pdu].name,
				m->outlets.at[c->outlet].name);
	}
	vec_each(&m->cables, struct cable, c) {
		const struct port *a = &m->ports.at[c->a], *b = &m->ports.at[c->b];

		*vec_push(lines) = arena_printf(m->arena, "cable %s/%s %s/%s %s %s %g",
			m->devices.at[a->device].name, a->name, m->devices.at[b->device].name,
			b->name, or_none(c->type), or_none(c->label), c->length_m);
	}
}

/* Ends of a cable have no order in NetBox's tables: put the lesser first. */
static void assert_same(struct model *a, struct model *b)
{
	struct model_names x = VEC_INIT, y = VEC_INIT;

	add_rooms(a, &x);
	add_devices(a, &x);
	add_rooms(b, &y);
	add_devices(b, &y);
	vec_sort(&x, compare_lines);
	vec_sort(&y, compare_lines);
	for (size_t i = 0; i < x.n && i < y.n; i++)
		if (strcmp(x.at[i], y.at[i]) != 0)
			fail_msg("'%s' became '%s'", x.at[i], y.at[i]);
	assert_int_equal(x.n, y.n);
	vec_done(&x);
	vec_done(&y);
}

static void check_round_trip(const char *name)
{
	struct err_list errors = {0};
	struct model *m = NULL;
	struct result back;
	char path[512];
	const char *dir = folder(name);

	snprintf(path, sizeof path, EXAMPLES "/%s.yaml", name);
	assert_int_equal(import_site(path, &m, &errors), 0);
	write_export(m, EXPORT_NETBOX, dir);
	back = must(FOREIGN_NETBOX, dir, NULL, NULL);
	assert_string_equal(back.m->site, m->site);
	assert_same(m, back.m);
	result_done(&back);
	model_free(m);
	err_list_done(&errors);
}

TEST(examples_survive_netbox)
{
	check_round_trip("start");
	check_round_trip("business");
	check_round_trip("enterprise");
}

/* --- NetBox, JSON of version 4 --- */

TEST(netbox_rooms_and_units)
{
	struct result r = must(FOREIGN_NETBOX, FIXTURES "netbox4", NULL, NULL);
	const struct rack *r1 = rack(r.m, "R1"), *r2 = rack(r.m, "R2");

	assert_string_equal(r.m->site, "msk-3");
	assert_string_equal(r.m->locations.at[0].name, "Mashzal-1");
	assert_int_equal(r1->height_u, 48);
	assert_float_equal(r1->own_kg, 130, 1e-9);
	assert_float_equal(r1->depth_mm, 1200, 1e-9);
	assert_float_equal(r2->max_weight_kg, 907.18474, 1e-5);
	assert_float_equal(r2->depth_mm, 1193.8, 1e-6);
	expect_loss(&r, "racks", "asset_tag", 1);
	expect_loss(&r, "racks", "status", 1);
	expect_loss(&r, "sites", "region", 1);
	expect_loss(&r, "manufacturers", "", 1);
	result_done(&r);
}

/* 0U, half units, half depth on both faces, a rack that counts from the top. */
TEST(netbox_positions)
{
	struct result r = must(FOREIGN_NETBOX, FIXTURES "netbox4", NULL, NULL);
	const struct device *app = &r.m->devices.at[device(r.m, "app-1")];
	const struct device *rear = &r.m->devices.at[device(r.m, "half-rear")];

	assert_int_equal(app->position, 20);
	assert_true(app->half_up);
	assert_int_equal(type_of(r.m, "app-1")->height_u, 1);
	assert_true(type_of(r.m, "app-1")->half_u);
	assert_false(type_of(r.m, "app-1")->full_depth);
	assert_int_equal(rear->face, FACE_REAR);
	assert_int_equal(r.m->devices.at[device(r.m, "chassis1")].position, 33);
	assert_int_equal(r.m->devices.at[device(r.m, "oob1")].position, 1);
	assert_int_equal(r.m->devices.at[device(r.m, "blade1")].position, 0);
	assert_int_equal(type_of(r.m, "blade1")->height_u, 0);
	assert_int_equal(r.m->devices.at[device(r.m, "unnamed-31")].rack, MODEL_NONE);
	assert_int_equal(r.m->devices.at[device(r.m, "gpu02")].status, STATUS_OFFLINE);
	assert_int_equal(model_find_device(r.m, "pdu-a"), MODEL_NONE);
	assert_int_equal(r.m->reservations.n, 1);
	assert_string_equal(r.m->reservations.at[0].name, "pdu-sub");
	assert_int_equal(r.m->reservations.at[0].position, 40);
	expect_loss(&r, "devices", "asset_tag", 1);
	expect_loss(&r, "devices", "parent_device", 1);
	expect_loss(&r, "racks", "desc_units", 1);
	result_done(&r);
}

/* PSUs are the device's: two of one type with six and four become two types. */
TEST(netbox_draws_are_marked)
{
	struct result r = must(FOREIGN_NETBOX, FIXTURES "netbox4", NULL, NULL);
	const struct device_type *six = type_of(r.m, "gpu01"), *four = type_of(r.m, "gpu02");

	assert_string_equal(six->name, "DGX H100");
	assert_string_equal(four->name, "DGX H100 4psu 6800W");
	assert_int_equal(six->psus, 6);
	assert_int_equal(four->psus, 4);
	assert_int_equal(six->psus_needed, 0);
	assert_float_equal(six->watts[BASIS_MAX], 10200, 1e-9);
	assert_float_equal(six->watts[BASIS_NAMEPLATE], 19800, 1e-9);
	assert_int_equal(six->watts_origin, ORIGIN_ASSUMED);
	assert_float_equal(six->weight_kg, 130.453, 0.01);
	assert_int_equal(six->airflow, AIRFLOW_FRONT_REAR);
	assert_int_equal(type_of(r.m, "app-1")->watts_origin, ORIGIN_DECLARED);
	assert_int_equal(type_of(r.m, "chassis1")->psus, 2);
	assert_true(losses_find(&r.losses, "power-ports", "draw") != NULL);
	assert_int_equal(losses_find(&r.losses, "power-ports", "draw")->kind, LOSS_ASSUMED);
	expect_loss(&r, "power-ports", "draw of PDUs", 1);
	result_done(&r);
}

TEST(netbox_draws_as_stated)
{
	const char *dir = folder("maps");
	struct result r;
	char map[600];

	put(dir, "each.yaml", "draws: each\nnode_roles: [gpu]\n");
	put(dir, "sum.yaml", "draws: sum\n");
	put(dir, "bad.yaml", "draws: half\n");
	snprintf(map, sizeof map, "%s/each.yaml", dir);
	r = must(FOREIGN_NETBOX, FIXTURES "netbox4", map, NULL);
	assert_float_equal(type_of(r.m, "gpu01")->watts[BASIS_MAX], 1700, 1e-9);
	assert_float_equal(type_of(r.m, "chassis1")->watts[BASIS_NAMEPLATE], 2360, 1e-9);
	assert_int_equal(type_of(r.m, "gpu01")->watts_origin, ORIGIN_DECLARED);
	assert_int_equal(r.m->nodes.n, 1);
	assert_string_equal(r.m->nodes.at[0].address, "10.0.0.11");
	result_done(&r);
	snprintf(map, sizeof map, "%s/sum.yaml", dir);
	r = must(FOREIGN_NETBOX, FIXTURES "netbox4", map, NULL);
	assert_float_equal(type_of(r.m, "gpu01")->watts[BASIS_MAX], 10200, 1e-9);
	assert_int_equal(type_of(r.m, "gpu01")->watts_origin, ORIGIN_DECLARED);
	expect_loss(&r, "devices", "primary_ip", 1);
	result_done(&r);
	snprintf(map, sizeof map, "%s/bad.yaml", dir);
	r = import_as(FOREIGN_NETBOX, FIXTURES "netbox4", map, NULL);
	expect_error(&r, "'draws' must be 'sum' or 'each'", "");
	assert_string_equal(r.errors.list.at[0].file, map);
	assert_int_equal(r.errors.list.at[0].line, 1);
	result_done(&r);
}

/* Feeds, a PDU on another's outlet, two inlets, none, and a feed straight into a device. */
TEST(netbox_power_path)
{
	struct result r = must(FOREIGN_NETBOX, FIXTURES "netbox4", NULL, NULL);
	const struct feed *a = feed(r.m, "R1-A");
	size_t sub = MODEL_NONE;

	assert_int_equal(a->phases, 3);
	assert_float_equal(a->volts, 400, 1e-9);
	assert_float_equal(a->max_utilization, 0.8, 1e-9);
	assert_float_equal(feed(r.m, "R2-A")->max_utilization, 0.75, 1e-9);
	assert_string_equal(cord_of(r.m, "gpu01", "psu1"), "pdu-a/1");
	assert_string_equal(cord_of(r.m, "gpu01", "psu4"), "pdu-b/1");
	assert_string_equal(cord_of(r.m, "chassis1", "psu1"), "pdu-c-In1/L1");
	assert_string_equal(cord_of(r.m, "chassis1", "psu2"), "");
	assert_string_equal(cord_of(r.m, "app-1", "psu1"), "pdu-sub/1");
	assert_string_equal(cord_of(r.m, "direct1", "psu1"), "direct/1");
	for (size_t i = 0; i < r.m->pdus.n; i++)
		if (strcmp(r.m->pdus.at[i].name, "pdu-sub") == 0)
			sub = i;
	assert_true(sub != MODEL_NONE);
	assert_int_equal(r.m->pdus.at[sub].upstream.kind, SUPPLY_OUTLET);
	assert_int_equal(r.m->pdus.at[sub].feed, MODEL_NONE);
	expect_loss(&r, "power-feeds", "type", 4);
	expect_loss(&r, "power-feeds", "cable", 1);
	expect_loss(&r, "devices", "PDU", 1);
	expect_loss(&r, "cables", "cord", 1);
	expect_loss(&r, "cables", "dcim.frontport", 1);
	for (size_t i = 0; i < r.m->outlets.n; i++)
		if (strcmp(r.m->outlets.at[i].name, "2") == 0 && r.m->outlets.at[i].phase)
			assert_int_equal(r.m->outlets.at[i].phase, PHASE_L2);
	result_done(&r);
}

/* What NetBox adds up stays apart here: each feed has its own limit, 0.8 of one breaker. */
TEST(netbox_redundant_feeds_are_not_summed)
{
	struct result r = must(FOREIGN_NETBOX, FIXTURES "netbox4", NULL, NULL);
	struct rack_loads loads = VEC_INIT;
	const struct rack_load *l;

	rack_loads_make(r.m, BASIS_MAX, &loads);
	l = &loads.at[model_find_rack(r.m, "R1")];
	for (size_t i = 0; i < l->feeds.n; i++)
		if (r.m->feeds.at[l->feeds.at[i].feed].phases == 3)
			assert_float_equal(l->feeds.at[i].limit_va, 34917, 2);
	rack_loads_done(&loads);
	result_done(&r);
}

TEST(netbox_ports_and_cables)
{
	struct result r = must(FOREIGN_NETBOX, FIXTURES "netbox4", NULL, NULL);
	const size_t gpu = device(r.m, "gpu01");
	unsigned seen = 0;

	for (size_t i = 0; i < r.m->ports.n; i++) {
		const struct port *p = &r.m->ports.at[i];

		if (p->device != gpu || p->kind == PORT_POWER)
			continue;
		if (strcmp(p->name, "ib0") == 0 && p->kind == PORT_INFINIBAND)
			seen |= 1;
		if (strcmp(p->name, "iDRAC") == 0 && p->kind == PORT_BMC)
			seen |= 2;
		if (strcmp(p->name, "mgmt0") == 0 && p->kind == PORT_ETHERNET && p->mac &&
			strcmp(p->mac, "02:aa:00:00:00:01") == 0)
			seen |= 4;
		if (strcmp(p->name, "bond0") == 0)
			seen |= 8;
	}
	assert_int_equal(seen, 7);
	assert_int_equal(r.m->cables.n, 2);
	assert_float_equal(r.m->cables.at[0].length_m, 3.048, 1e-9);
	assert_string_equal(r.m->ports.at[r.m->cables.at[1].b].name, "Ethernet1-2");
	expect_loss(&r, "interfaces", "virtual, lag, bridge", 1);
	expect_loss(&r, "interfaces", "description", 1);
	result_done(&r);
}

/* --- NetBox, bad input --- */

static const char RACKS[] = "site,name,status,width,u_height\nlab,R1,active,19,42\n";
static const char TYPES[] = "manufacturer,model,slug,u_height,is_full_depth\nACME,Box,box,1,true\n";
static const char DEVICES[] = "name,role,manufacturer,device_type,status,site,rack,position,face\n"
			      "s1,srv,ACME,Box,active,lab,R1,1,front\n";
static const char FEED_HEAD[] = "site,power_panel,rack,name,status,type,supply,phase,voltage,"
				"amperage,max_utilization\n";

static const char *netbox_csv(const char *name, const char *feeds, const char *devices)
{
	const char *dir = folder(name);
	char text[2000];

	put(dir, "racks.csv", RACKS);
	put(dir, "device-types.csv", TYPES);
	put(dir, "devices.csv", devices);
	put(dir, "power-panels.csv", "site,name\nlab,P\n");
	snprintf(text, sizeof text, "%s%s", FEED_HEAD, feeds);
	put(dir, "power-feeds.csv", text);
	return dir;
}

TEST(netbox_three_phases_of_230)
{
	const char *dir = netbox_csv("ambiguous",
		"lab,P,R1,A,active,primary,ac,three-phase,230,32,80\n"
		"lab,P,R1,B,active,redundant,ac,three-phase,400,32,80\n",
		DEVICES);
	struct result r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
	char map[600], file[600];

	expect_error(&r, "three phases of 230 V", "three_phase_volts: LN");
	assert_int_equal(r.errors.total, 1);
	snprintf(file, sizeof file, "%s/power-feeds.csv", dir);
	assert_string_equal(r.errors.list.at[0].file, file);
	assert_int_equal(r.errors.list.at[0].line, 2);
	assert_int_equal(r.errors.list.at[0].col, 42);
	result_done(&r);
	put(t_dir(), "ln.yaml", "three_phase_volts: LN\n");
	snprintf(map, sizeof map, "%s/ln.yaml", t_dir());
	r = must(FOREIGN_NETBOX, dir, map, NULL);
	assert_int_equal(feed(r.m, "A")->volts_are, VOLTS_LN);
	assert_float_equal(feed(r.m, "A")->volts, 230, 1e-9);
	assert_int_equal(feed(r.m, "B")->volts_are, VOLTS_UNSTATED);
	result_done(&r);
}

TEST(netbox_tells_all_errors_at_once)
{
	const char *dir = netbox_csv("errors",
		"lab,P,R1,A,active,primary,dc,single-phase,-48,100,80\n"
		"lab,Q,R1,B,active,primary,ac,single-phase,230,many,80\n",
		"name,role,manufacturer,device_type,status,site,rack,position,face\n"
		"s1,srv,ACME,Box,active,lab,R1,1,front\n"
		"s2,srv,ACME,Box,active,lab,R1,1,front\n"
		"s3,srv,ACME,Bix,active,lab,R9,50,front\n");
	struct result r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);

	put(dir, "power-ports.csv", "device,name\nnobody,PSU1\n");
	result_done(&r);
	r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
	expect_error(&r, "is DC", "");
	expect_error(&r, "no panel 'Q'", "");
	expect_error(&r, "'amperage' must be a number, not 'many'", "");
	expect_error(&r, "no device 'nobody'", "");
	expect_error(&r, "both take unit 1", "");
	expect_error(&r, "no device type 'Bix'", "");
	expect_error(&r, "no rack 'R9'", "");
	for (size_t i = 0; i < r.errors.list.n; i++)
		assert_true(r.errors.list.at[i].line > 0 && r.errors.list.at[i].line < 5);
	result_done(&r);
}

TEST(netbox_dumps_cut_short)
{
	const char *dir = folder("pages");
	struct result r;

	put(dir, "racks.json",
		"{\"count\": 412, \"next\": \"x\", \"results\": [{\"id\": 1, \"name\": \"R1\", "
		"\"u_height\": 42, \"site\": {\"id\": 1, \"name\": \"lab\"}}]}");
	r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
	expect_error(&r, "1 of 412 racks", "limit=0");
	result_done(&r);
	put(dir, "racks.json",
		"[{\"name\": \"R1\", \"u_height\": 42, \"site\": {\"name\": \"lab\"}},"
		"{\"name\": \"R2\", \"u_height\": 42, \"site\": {\"name\": \"other\"}}]");
	r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
	expect_error(&r, "several sites", "--site");
	result_done(&r);
	r = must(FOREIGN_NETBOX, dir, NULL, "other");
	assert_int_equal(r.m->racks.n, 1);
	expect_loss(&r, "racks", "site", 1);
	result_done(&r);
	r = import_as(FOREIGN_NETBOX, dir, NULL, "third");
	expect_error(&r, "no site 'third'", "");
	result_done(&r);
}

TEST(json_places)
{
	static const struct {
		const char *text, *says;
		unsigned line, col;
	} cases[] = {
		{"[\n {\"name\": \"R1\",}]", "expected a key in quotes", 2, 16},
		{"[{\"a\": 1, \"a\": 2}]", "is there twice", 1, 11},
		{"[\n1\n", "expected ',' or ']'", 3, 1},
		{"[\"\\ud800\"]", "surrogate", 1, 9},
		{"[] []", "text after the value", 1, 4},
		{"[\"я\", nul]", "expected a value", 1, 7},
		{"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested deeper", 1, 34},
		{"", "the text ends", 1, 1},
	};
	const char *dir = folder("json");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct result r;

		put(dir, "racks.json", cases[i].text);
		r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
		expect_error(&r, cases[i].says, "");
		assert_int_equal(r.errors.list.at[0].line, cases[i].line);
		assert_int_equal(r.errors.list.at[0].col, cases[i].col);
		result_done(&r);
	}
}

T_MAIN
