/* foreign - openDCIM, xCAT and spreadsheets to models; files that cannot be read; other exports. */
#include "tests/unit/import/foreign.h"

#include <fcntl.h>

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
	expect_loss(&r, "стойки", "Ответственный", 2);
	expect_loss(&r, "оборудование", "Инв. №", 3);
	assert_null(losses_find(&r.losses, "оборудование", "Масса, кг"));
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
