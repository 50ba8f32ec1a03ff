/* foreign - imports of other systems' files for tests: what came of it, and what to expect of it.
 */
#pragma once

#include "agent/base/buf.h"
#include "inventory/import/foreign.h"
#include "inventory/model/index.h"
#include "tests/unit/t.h"

#include <errno.h>
#include <sys/stat.h>

struct result {
	struct model *m;
	struct err_list errors;
	struct losses losses;
	int rc;
};

static inline struct result import_as(
	enum foreign_format format, const char *path, const char *map, const char *site)
{
	const struct foreign_opts o = {format, map, site, NULL};
	struct result r = {0};

	r.rc = foreign_import(path, &o, &r.m, &r.errors, &r.losses);
	if ((r.rc == 0) != (r.m != NULL))
		fail_msg("a model and an error, or neither");
	return r;
}

static inline void result_done(struct result *r)
{
	model_free(r->m);
	err_list_done(&r->errors);
	losses_done(&r->losses);
}

static inline void print_result(const struct result *r)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1 << 20);
	for (size_t i = 0; i < r->errors.list.n; i++)
		err_format(&r->errors.list.at[i], &text);
	losses_format(&r->losses, &text);
	fprintf(stderr, "%s", buf_text(&text));
}

/* The model, or the test ends here with what was wrong. */
static inline struct result must(
	enum foreign_format format, const char *path, const char *map, const char *site)
{
	struct result r = import_as(format, path, map, site);

	if (!r.m) {
		print_result(&r);
		fail_msg("'%s' was refused", path);
	}
	return r;
}

static inline void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A fresh folder below the test's own. */
static inline const char *folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	return path;
}

static inline void put(const char *dir, const char *name, const char *text)
{
	char path[640];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	write_text(path, text);
}

/* One error whose message has the words; its hint has hint. */
static inline void expect_error(const struct result *r, const char *words, const char *hint)
{
	for (size_t i = 0; i < r->errors.list.n; i++)
		if (strstr(r->errors.list.at[i].msg, words) &&
			strstr(r->errors.list.at[i].hint, hint))
			return;
	print_result(r);
	fail_msg("no error says '%s' (%s)", words, hint);
}

static inline void expect_loss(
	const struct result *r, const char *noun, const char *field, size_t rows)
{
	const struct loss *l = losses_find(&r->losses, noun, field);

	if (!l || l->rows != rows) {
		print_result(r);
		fail_msg("no loss of %zu rows %s.%s", rows, noun, field);
	}
}

static inline size_t device(const struct model *m, const char *name)
{
	const size_t i = model_find_device(m, name);

	if (i == MODEL_NONE)
		fail_msg("there is no device '%s'", name);
	return i;
}

static inline const struct device_type *type_of(const struct model *m, const char *name)
{
	return &m->types.at[m->devices.at[device(m, name)].type];
}

/* "PDU/3" of a device's PSU, "" when it has no cord. */
static inline const char *cord_of(const struct model *m, const char *name, const char *psu)
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

static inline const struct feed *feed(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->feeds.n; i++)
		if (strcmp(m->feeds.at[i].name, name) == 0)
			return &m->feeds.at[i];
	fail_msg("there is no feed '%s'", name);
	return NULL;
}

#define FIXTURES TEST_DIR "/foreign/"

static inline const struct rack *rack(const struct model *m, const char *name)
{
	return &m->racks.at[model_find_rack(m, name)];
}
