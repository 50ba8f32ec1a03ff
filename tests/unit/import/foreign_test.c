/* foreign - other systems' files to models, their traps, their losses, and back. */
#include "agent/base/buf.h"
#include "agent/base/mem.h"
#include "inventory/audit/power.h"
#include "inventory/import/foreign.h"
#include "inventory/model/index.h"
#include "tests/unit/t.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct result {
	struct model *m;
	struct err_list errors;
	struct losses losses;
	int rc;
};

static struct result import_as(
	enum foreign_format format, const char *path, const char *map, const char *site)
{
	const struct foreign_opts o = {format, map, site};
	struct result r = {0};

	r.rc = foreign_import(path, &o, &r.m, &r.errors, &r.losses);
	if ((r.rc == 0) != (r.m != NULL))
		fail_msg("a model and an error, or neither");
	return r;
}

static void result_done(struct result *r)
{
	model_free(r->m);
	err_list_done(&r->errors);
	losses_done(&r->losses);
}

static void print_result(const struct result *r)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 20);
	for (size_t i = 0; i < r->errors.list.n; i++)
		err_format(&r->errors.list.at[i], &text);
	losses_format(&r->losses, &text);
	fprintf(stderr, "%s", buf_text(&text));
}

/* The model, or the test ends here with what was wrong. */
static struct result must(
	enum foreign_format format, const char *path, const char *map, const char *site)
{
	struct result r = import_as(format, path, map, site);

	if (!r.m) {
		print_result(&r);
		fail_msg("'%s' was refused", path);
	}
	return r;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A fresh folder below the test's own. */
static const char *folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	return path;
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[640];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	write_text(path, text);
}

/* One error whose message has the words; its hint has hint. */
static void expect_error(const struct result *r, const char *words, const char *hint)
{
	for (size_t i = 0; i < r->errors.list.n; i++)
		if (strstr(r->errors.list.at[i].msg, words) &&
			strstr(r->errors.list.at[i].hint, hint))
			return;
	print_result(r);
	fail_msg("no error says '%s' (%s)", words, hint);
}

static void expect_loss(const struct result *r, const char *noun, const char *field, size_t rows)
{
	const struct loss *l = losses_find(&r->losses, noun, field);

	if (!l || l->rows != rows) {
		print_result(r);
		fail_msg("no loss of %zu rows %s.%s", rows, noun, field);
	}
}

static size_t device(const struct model *m, const char *name)
{
	const size_t i = model_find_device(m, name);

	if (i == MODEL_NONE)
		fail_msg("there is no device '%s'", name);
	return i;
}

static const struct device_type *type_of(const struct model *m, const char *name)
{
	return &m->types.at[m->devices.at[device(m, name)].type];
}

/* "PDU/3" of a device's PSU, "" when it has no cord. */
static const char *cord_of(const struct model *m, const char *name, const char *psu)
{
	static char text[200];
	const size_t d = device(m, name);

	for (size_t i = 0; i < m->cords.n; i++) {
		const struct port *p = &m->ports.at[m->cords.at[i].port];
		const struct outlet *o = &m->outlets.at[m->cords.at[i].outlet];

		if (p->device != d || strcmp(p->name, psu) != 0)
			continue;
		snprintf(text, sizeof text, "%s/%s", m->pdus.at[o->pdu].name, o->name);
		return text;
	}
	return "";
}

static const struct feed *feed(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->feeds.n; i++)
		if (strcmp(m->feeds.at[i].name, name) == 0)
			return &m->feeds.at[i];
	fail_msg("there is no feed '%s'", name);
	return NULL;
}

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

#define FIXTURES TEST_DIR "/foreign/"

static const struct rack *rack(const struct model *m, const char *name)
{
	return &m->racks.at[model_find_rack(m, name)];
}

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

/* --- openDCIM --- */

TEST(opendcim_circuits)
{
	struct result r = must(FOREIGN_OPENDCIM, FIXTURES "opendcim", NULL, NULL);

	assert_string_equal(r.m->site, "Hall-A");
	assert_int_equal(r.m->panels.at[1].upstream.kind, SUPPLY_PANEL);
	assert_float_equal(r.m->panels.at[1].amps, 225, 1e-9);
	assert_int_equal(feed(r.m, "A01-L")->phases, 3);
	assert_float_equal(feed(r.m, "A01-L")->volts, 208, 1e-9);
	assert_int_equal(feed(r.m, "A01-R")->phases, 1);
	assert_float_equal(feed(r.m, "A01-R")->volts, 208, 1e-9);
	assert_int_equal(feed(r.m, "A02-L")->phases, 1);
	assert_float_equal(feed(r.m, "A02-L")->volts, 120, 1e-9);
	assert_float_equal(feed(r.m, "A02-L")->amps, 20, 1e-9);
	expect_loss(&r, "fac_PowerDistribution", "FailSafe, PanelID2", 1);
	expect_loss(&r, "fac_PowerDistribution", "SNMPCommunity", 3);
	expect_loss(&r, "fac_Cabinet", "MaxKW", 2);
	expect_loss(&r, "fac-department", "", 1);
	result_done(&r);
}

TEST(opendcim_devices)
{
	struct result r = must(FOREIGN_OPENDCIM, FIXTURES "opendcim", NULL, NULL);
	const struct device *chassis = &r.m->devices.at[device(r.m, "CHASSIS-1")];
	const struct device *sw = &r.m->devices.at[device(r.m, "SW-REAR")];

	assert_float_equal(rack(r.m, "A01")->max_weight_kg, 1133.98, 0.01);
	assert_float_equal(type_of(r.m, "DB-01")->weight_kg, 28.576, 0.01);
	assert_float_equal(type_of(r.m, "DB-01")->watts[BASIS_MAX], 430, 1e-9);
	assert_float_equal(type_of(r.m, "DB-02")->watts[BASIS_MAX], 750, 1e-9);
	assert_int_equal(r.m->devices.at[device(r.m, "DB-02")].status, STATUS_PLANNED);
	assert_string_equal(cord_of(r.m, "DB-01", "psu2"), "A01-R/1");
	assert_string_equal(cord_of(r.m, "CHASSIS-1", "psu2"), "A02-L/A7");
	/* unit 1 is at the top of A02: 10 units from there end in unit 33 from below */
	assert_int_equal(chassis->position, 33);
	assert_float_equal(type_of(r.m, "CHASSIS-1")->watts[BASIS_MAX], 1080, 1e-9);
	assert_int_equal(type_of(r.m, "BLADE-1")->height_u, 0);
	assert_int_equal(type_of(r.m, "BLADE-1")->psus, 0);
	assert_int_equal(sw->face, FACE_REAR);
	assert_false(type_of(r.m, "SW-REAR")->full_depth);
	assert_int_equal(r.m->devices.at[device(r.m, "SPARE")].rack, MODEL_NONE);
	assert_int_equal(r.m->devices.at[device(r.m, "SPARE")].status, STATUS_OFFLINE);
	assert_int_equal(r.m->cables.n, 1);
	assert_string_equal(r.m->ports.at[r.m->cables.at[0].b].name, "Gi1-0-1");
	expect_loss(&r, "fac_Device", "Owner", 7);
	result_done(&r);
}

TEST(opendcim_bad_breakers)
{
	const char *dir = folder("od");
	struct result r;

	put(dir, "fac_Cabinet.csv", "CabinetID,DataCenterID,Location,CabinetHeight\n1,0,A,42\n");
	put(dir, "fac_PowerPanel.csv",
		"PanelID,PanelLabel,MainBreakerSize,PanelVoltage,ParentPanelID\n1,P,100,230,0\n");
	put(dir, "fac_PowerDistribution.csv",
		"PDUID,Label,CabinetID,PanelID,BreakerSize,InputAmperage\n"
		"1,X,1,1,32,32\n2,Y,1,1,3,32\n");
	r = import_as(FOREIGN_OPENDCIM, dir, NULL, "lab");
	expect_error(&r, "BreakerSize of 32", "number of poles");
	expect_error(&r, "230 V and a breaker of three poles", "between lines");
	result_done(&r);
	r = import_as(FOREIGN_OPENDCIM, dir, NULL, NULL);
	expect_error(&r, "a site needs a name", "--site");
	result_done(&r);
}

/* --- xCAT --- */

TEST(xcat_nodes)
{
	struct result r = must(FOREIGN_XCAT, FIXTURES "xcat", NULL, "hpc");
	const struct device *d = &r.m->devices.at[device(r.m, "node02")];

	assert_int_equal(r.m->nodes.n, 3);
	assert_int_equal(r.m->devices.n, 2);
	assert_int_equal(d->position, 12);
	assert_int_equal(type_of(r.m, "node02")->height_u, 2);
	assert_string_equal(type_of(r.m, "node01")->name, "7X21 2u");
	assert_string_equal(r.m->devices.at[device(r.m, "node01")].serial, "J300");
	for (size_t i = 0; i < r.m->nodes.n; i++) {
		const struct node *n = &r.m->nodes.at[i];

		if (strcmp(n->name, "node01") == 0) {
			assert_string_equal(n->address, "10.0.0.1");
			assert_string_equal(n->role, "compute");
			assert_non_null(strstr(n->vars, "10.2.0.1"));
			assert_null(strstr(n->vars, "secret"));
		}
		if (strcmp(n->name, "login1") == 0)
			assert_string_equal(n->address, "login1");
	}
	expect_loss(&r, "ipmi", "password", 2);
	expect_loss(&r, "hosts", "ip", 1);
	expect_loss(&r, "nodehm", "mgt", 1);
	result_done(&r);
}

TEST(xcat_rules_are_refused)
{
	const char *dir = folder("xc");
	struct result r;

	put(dir, "nodelist.csv", "#node,groups,disable\n\"n1\",\"g\",\n\"n2\",\"g\",\n");
	put(dir, "hosts.csv", "#node,ip,disable\n\"g\",\"|n(\\d+)|10.0.0.($1)|\",\n");
	r = import_as(FOREIGN_XCAT, dir, NULL, "hpc");
	assert_int_equal(r.errors.total, 1);
	expect_error(&r, "hosts.ip holds a rule", "nodels all hosts.ip");
	result_done(&r);
	r = import_as(FOREIGN_XCAT, dir, NULL, NULL);
	expect_error(&r, "no name for a site", "--site");
	result_done(&r);
}

/* --- spreadsheets --- */

TEST(spreadsheet_in_russian)
{
	const char *map = FIXTURES "spreadsheet/map.yaml";
	struct result r = must(FOREIGN_CSV, FIXTURES "spreadsheet", map, NULL);
	const struct device *d = &r.m->devices.at[device(r.m, "Server-GP-2")];

	assert_string_equal(r.m->site, "spb-1");
	assert_int_equal(r.m->racks.n, 2);
	assert_float_equal(rack(r.m, "С-02")->depth_mm, 1075, 1e-9);
	assert_float_equal(rack(r.m, "С-01")->max_weight_kg, 1360, 1e-9);
	assert_int_equal(r.m->locations.n, 1);
	assert_int_equal(r.m->types.n, 2);
	assert_float_equal(type_of(r.m, "Server-GP-1")->watts[BASIS_MAX], 10200, 1e-9);
	assert_float_equal(type_of(r.m, "Server-GP-1")->weight_kg, 130.5, 1e-9);
	assert_int_equal(type_of(r.m, "Server-GP-1")->psus_needed, 4);
	assert_string_equal(d->role, "gpu");
	assert_int_equal(d->status, STATUS_PLANNED);
	assert_int_equal(r.m->nodes.n, 2);
	assert_string_equal(cord_of(r.m, "Server-GP-1", "psu2"), "С-01-Б/1");
	assert_float_equal(feed(r.m, "С-01-А")->amps, 63, 1e-9);
	expect_loss(&r, "стойки", "Ответственный", 4);
	expect_loss(&r, "оборудование", "Инв. №", 6);
	result_done(&r);
}

/* A mapping over one table, with what is wrong in either. */
static struct result map_one(const char *map, const char *table)
{
	const char *dir = folder("one");
	char path[600], file[600];

	put(dir, "t.csv", table);
	snprintf(path, sizeof path, "%s/map.yaml", t_dir());
	write_text(path, map);
	snprintf(file, sizeof file, "%s/t.csv", dir);
	return import_as(FOREIGN_CSV, file, path, NULL);
}

TEST(spreadsheet_errors)
{
	static const struct {
		const char *map, *table, *says, *hint;
	} cases[] = {
		{"site: a\ntables:\n  - {rows: racks, columns: {Nome: name}}\n", "Name\nR1\n",
			"no column 'Nome'", "'Name'"},
		{"site: a\ntables:\n  - {rows: stools, columns: {Name: name}}\n", "Name\nR1\n",
			"what its 'rows' are", "racks"},
		{"site: a\ntables:\n  - {rows: racks, columns: {Name: name, H: height_u}}\n",
			"Name,H\nR1,tall\n", "height_u", ""},
		{"site: a\ntables:\n  - {rows: racks, columns: {Name: name, H: hight_u}}\n",
			"Name,H\nR1,42\n", "unknown key 'hight_u'", "height_u"},
		{"site: a\ntables:\n  - {rows: racks, columns: {Name: name, H: {field: height_u, "
		 "values: {x: \"42\"}}}}\n",
			"Name,H\nR1,y\n", "'y' has no translation", "values"},
		{"site: a\ntables:\n  - {rows: racks, file: q.csv, columns: {Name: name}}\n",
			"Name\nR1\n", "no file 'q.csv'", ""},
		{"site: a\ntables:\n  - {rows: racks, once: true, columns: {Name: name, H: "
		 "height_u}}\n",
			"Name,H\nR1,42\nR1,47\n", "'R1' has height_u '47' here and '42' before",
			""},
		{"site: a\n", "Name\nR1\n", "no list of 'tables'", ""},
		{"site: [\n", "Name\nR1\n", "", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct result r = map_one(cases[i].map, cases[i].table);

		if (r.m)
			fail_msg("case %zu was taken", i);
		expect_error(&r, cases[i].says, cases[i].hint);
		result_done(&r);
	}
}

/* --- files --- */

TEST(files_that_cannot_be_read)
{
	const char *dir = folder("huge");
	char path[600];
	struct result r;
	int fd;

	r = import_as(FOREIGN_NETBOX, "/nonexistent", NULL, NULL);
	assert_int_equal(r.rc, -E_NOTFOUND);
	result_done(&r);
	r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
	expect_error(&r, "has nothing to import", ".json or .csv");
	result_done(&r);
	snprintf(path, sizeof path, "%s/racks.json", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	close(fd);
	r = import_as(FOREIGN_NETBOX, dir, NULL, NULL);
	assert_int_equal(r.rc, -E_LIMIT);
	result_done(&r);
	r = import_as(FOREIGN_CSV, dir, NULL, NULL);
	expect_error(&r, "need a mapping file", "--map");
	result_done(&r);
}

/* --- other exports --- */

static const char *export_text_of(
	struct model *m, enum export_format format, struct export_files *files)
{
	struct losses losses = {0};
	struct err err;

	assert_int_equal(foreign_export(m, format, files, &losses, &err), 0);
	losses_done(&losses);
	return buf_text(&files->at[0].text);
}

TEST(exports_for_hosts)
{
	struct result r =
		must(FOREIGN_CSV, FIXTURES "spreadsheet", FIXTURES "spreadsheet/map.yaml", NULL);
	struct export_files files = VEC_INIT;
	const char *text = export_text_of(r.m, EXPORT_ANSIBLE, &files);

	assert_non_null(strstr(text, "Server-GP-1 ansible_host=10.0.0.1\n"));
	assert_non_null(strstr(text, "[role_gpu]\nServer-GP-1\nServer-GP-2\n"));
	assert_non_null(strstr(text, "[site_spb_1]"));
	export_files_done(&files);
	text = export_text_of(r.m, EXPORT_ANSIBLE_YAML, &files);
	assert_non_null(strstr(text, "ansible_host: \"10.0.0.1\""));
	assert_non_null(strstr(text, "    role_gpu:\n      hosts:\n        Server-GP-1:\n"));
	export_files_done(&files);
	text = export_text_of(r.m, EXPORT_PROMETHEUS, &files);
	assert_non_null(strstr(text, "\"10.0.0.1:9100\""));
	assert_non_null(strstr(text, "\"role\": \"gpu\""));
	export_files_done(&files);
	text = export_text_of(r.m, EXPORT_XLSX, &files);
	assert_memory_equal(text, "PK\x03\x04", 4);
	assert_true(files.at[0].text.n > 4000);
	export_files_done(&files);
	result_done(&r);
}

TEST(export_of_tables)
{
	struct result r =
		must(FOREIGN_CSV, FIXTURES "spreadsheet", FIXTURES "spreadsheet/map.yaml", NULL);
	struct export_files files = VEC_INIT;
	bool racks = false, cords = false;

	export_text_of(r.m, EXPORT_CSV, &files);
	vec_each(&files, struct export_file, f) {
		if (strcmp(f->name, "racks.csv") == 0)
			racks = strstr(buf_text(&f->text), "С-01,Mashzal-1,42,1200,1360") != NULL;
		if (strcmp(f->name, "cords.csv") == 0)
			cords = strcmp(buf_text(&f->text),
					"device,port,pdu,outlet\nServer-GP-1,psu1,С-01-А,1\n"
					"Server-GP-1,psu2,С-01-Б,1\n") == 0;
	}
	assert_true(racks);
	assert_true(cords);
	export_files_done(&files);
	result_done(&r);
}

T_MAIN
