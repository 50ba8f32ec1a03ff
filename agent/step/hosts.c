/*
 * hosts - names of an address in /etc/hosts.
 *
 * Lines of ours end in "# stoika"; all others stay byte for byte. What others
 * say there already is enough; what they say otherwise comes first for the
 * resolver, so it is a conflict and not written over. But for the line by which
 * Debian's installer gives the node's own name to 127.0.1.1: ours goes ahead of it.
 */
#include "agent/base/err.h"
#include "agent/step/edit.h"
#include "agent/step/kinds.h"
#include "agent/step/own_lines.h"
#include "agent/step/report.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define FILE_PATH      "/etc/hosts"
#define MARK           "# stoika"
#define OWN_ADDRESS    "127.0.1.1" /* of the node itself, as Debian's installer writes it */
#define NAMES_MAX      64
#define LINE_BYTES_MAX (32u << 10)

struct wish {
	const char *address; /* "": any (absent) */
	const json_t *names;
	bool absent;
};

struct address {
	int family; /* 0: none */
	unsigned char bytes[16];
};

static struct address parse_address(struct str text)
{
	struct address a = {0};
	char z[64];

	if (text.n == 0 || text.n >= sizeof z)
		return a;
	snprintf(z, sizeof z, STR_FMT, STR_ARG(text));
	if (inet_pton(AF_INET, z, a.bytes) == 1)
		a.family = AF_INET;
	else if (inet_pton(AF_INET6, z, a.bytes) == 1)
		a.family = AF_INET6;
	return a;
}

static bool same_address(const struct address *a, const struct address *b)
{
	return a->family && a->family == b->family && memcmp(a->bytes, b->bytes, 16) == 0;
}

/* What stands before a '#'. */
static struct str without_comment(struct str line)
{
	return str_first(line, str_find(line, '#'));
}

/* Names are not case sensitive. */
static bool same_name(struct str a, const char *b)
{
	return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

static bool line_names(struct str line, const char *name)
{
	struct str field;

	line = without_comment(line);
	for (unsigned i = 1; (field = edit_field(line, i)).n > 0; i++)
		if (same_name(field, name))
			return true;
	return false;
}

static bool is_ours(const void *ctx, struct str line)
{
	const struct wish *w = ctx;
	const struct address here = parse_address(edit_field(without_comment(line), 0));
	const struct address wanted = parse_address(str_of(w->address));
	const json_t *name;
	size_t i;

	if (!here.family || !str_ends(str_trim(line), MARK))
		return false;
	if (same_address(&here, &wanted))
		return true;
	/* a name that moved to another address; the other family is another entry */
	if (wanted.family && wanted.family != here.family)
		return false;
	json_array_foreach(w->names, i, name)
	{
		if (line_names(line, json_string_value(name)))
			return true;
	}
	return false;
}

static bool is_name(const char *name)
{
	const size_t n = strlen(name);

	return n > 0 && n <= 253 && name[0] != '-' && name[0] != '.' &&
	       n == strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
				 "_");
}

static int judge_names(const struct wish *w, struct err *err)
{
	const json_t *name;
	size_t i;

	if (json_array_size(w->names) > NAMES_MAX)
		return err_set(err, E_LIMIT, "'names' holds %zu names, expected at most %d",
			json_array_size(w->names), NAMES_MAX);
	json_array_foreach(w->names, i, name)
	{
		if (json_is_string(name) && is_name(json_string_value(name)))
			continue;
		err_set(err, E_SCHEMA, "'%.80s' is not a host name", json_string_value(name));
		return err_hint(err, "letters, digits and '-' between dots, such as gpu01.example");
	}
	return 0;
}

static int read_args(const json_t *args, struct wish *w, struct err *err)
{
	w->address = json_get_str(args, "address", "");
	w->names = json_get(args, "names");
	w->absent = strcmp(json_get_str(args, "state", "present"), "absent") == 0;
	if (*w->address && !parse_address(str_of(w->address)).family) {
		err_set(err, E_SCHEMA, "'%.80s' is not an address", w->address);
		return err_hint(err, "such as 10.0.0.5 or fd00::5, without a prefix length");
	}
	if (!w->absent && (!*w->address || json_array_size(w->names) == 0)) {
		err_set(err, E_SCHEMA, "an entry needs 'address' and 'names'");
		return err_hint(err, "such as address: 10.0.0.5, names: [gpu01]");
	}
	return judge_names(w, err);
}

static void make_line(const struct wish *w, struct buf *out)
{
	const json_t *name;
	size_t i;

	buf_add_text(out, w->address);
	json_array_foreach(w->names, i, name)
		buf_addf(out, "%c%s", i ? ' ' : '\t', json_string_value(name));
	buf_addf(out, "\t%s", MARK);
}

static bool is_own_name(struct str line)
{
	return str_is(edit_field(without_comment(line), 0), OWN_ADDRESS);
}

/* Does a line of somebody else give the name this address, or another one first? */
static int judge_foreign(
	const struct wish *w, const char *name, struct str text, bool *given, struct err *err)
{
	const struct address wanted = parse_address(str_of(w->address));
	struct str line;

	*given = false;
	for (unsigned at = 1; str_line(&text, &line); at++) {
		const struct address here = parse_address(edit_field(without_comment(line), 0));

		if (here.family != wanted.family || is_ours(w, line) || !line_names(line, name))
			continue;
		if (same_address(&here, &wanted)) {
			*given = true;
			return 0;
		}
		if (is_own_name(line))
			continue;
		err_set(err, E_CONFLICT,
			"line %u of '" FILE_PATH "' gives '%.80s' the address " STR_FMT, at, name,
			STR_ARG(edit_field(line, 0)));
		return err_hint(err,
			"take that line away first, with a 'line' step of state "
			"absent, or leave '%.80s' out",
			name);
	}
	return 0;
}

/* *enough: all names are given by lines of others. */
static int look_at_others(const struct wish *w, struct str text, bool *enough, struct err *err)
{
	const json_t *name;
	size_t i;

	*enough = true;
	json_array_foreach(w->names, i, name)
	{
		bool given;
		const int rc = judge_foreign(w, json_string_value(name), text, &given, err);

		if (rc < 0)
			return rc;
		*enough = *enough && given;
	}
	return 0;
}

static bool names_one_of(const struct wish *w, struct str line)
{
	const json_t *name;
	size_t i;

	json_array_foreach(w->names, i, name)
	{
		if (line_names(line, json_string_value(name)))
			return true;
	}
	return false;
}

/* The resolver takes the first line that has a name: ours moves ahead of the node's own. */
static int go_ahead(const struct wish *w, struct str ours, struct edit *e, struct err *err)
{
	struct str rest = buf_str(&e->now), line;
	bool put = false, moved = false;
	AUTO_BUF next = {0};

	buf_init(&next, EDIT_MAX);
	while (str_line(&rest, &line)) {
		const bool own = !put && is_own_name(line) && names_one_of(w, line);

		if (is_ours(w, line)) {
			if (put)
				continue;
			put = true;
		}
		if (own)
			buf_addf(&next, STR_FMT "\n", STR_ARG(ours));
		put = put || own;
		moved = moved || own;
		buf_add_str(&next, line);
		buf_add_char(&next, '\n');
	}
	if (!buf_ok(&next))
		return err_set(
			err, E_LIMIT, "'" FILE_PATH "' would be longer than %u bytes", EDIT_MAX);
	if (moved)
		edit_set(e, buf_str(&next));
	return 0;
}

static int plan(const struct step_env *env, const struct wish *w, struct edit *e, struct err *err)
{
	AUTO_BUF line = {0};
	bool enough = w->absent;
	int rc = edit_open(env, FILE_PATH, e, err);

	buf_init(&line, LINE_BYTES_MAX);
	if (rc == 0 && !w->absent)
		rc = look_at_others(w, buf_str(&e->old), &enough, err);
	if (rc < 0)
		return rc;
	make_line(w, &line);
	rc = edit_line(e, is_ours, w, enough ? (struct str){NULL, 0} : buf_str(&line), err);
	return rc < 0 || enough ? rc : go_ahead(w, buf_str(&line), e, err);
}

static int check(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT e = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	if (rc == 0)
		rc = plan(env, &w, &e, err);
	if (rc == 0)
		edit_show(&e, rep);
	return rc;
}

static int apply(struct step_env *env, const json_t *args, struct step_report *rep, struct err *err)
{
	AUTO_EDIT e = {0};
	struct wish w;
	int rc = read_args(args, &w, err);

	(void)rep;
	if (rc == 0)
		rc = plan(env, &w, &e, err);
	return rc < 0 ? rc : edit_save(env, &e, err);
}

static int before(struct step_env *env, const json_t *args, json_t **out, struct err *err)
{
	struct wish w;
	int rc = read_args(args, &w, err);

	return rc < 0 ? rc
		      : edit_keep_lines(env, &(struct own_lines){FILE_PATH, EDIT_MAX, is_ours, &w},
				out, err);
}

static int undo(struct step_env *env, const json_t *args, const json_t *before, const json_t *after,
	struct step_report *rep, struct err *err)
{
	const struct edit_past past = {before, after};
	struct wish w;
	int rc = read_args(args, &w, err);
	const struct own_lines ours = {FILE_PATH, EDIT_MAX, is_ours, &w};

	return rc < 0 ? rc : edit_restore_lines(env, &ours, past, rep, err);
}

const struct step_ops STEP_HOSTS = {
	.kind = "hosts", .check = check, .apply = apply, .before = before, .undo = undo};
