#include "controller/command/session.h"

#include "agent/recipe/recipe.h"
#include "controller/secret/secret.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_TEXT_MAX (256u << 20)

int session_open(
	const struct invocation *inv, enum store_open how, struct store **out, struct err *err)
{
	const char *path = store_default_path(inv->arena, inv->db);
	int rc = store_open(path, how, out, err);

	if (rc == -E_NOTFOUND)
		return err_hint(
			err, "make it with 'stoika --db %s init', or name another by --db", path);
	return rc;
}

int session_nodes(const struct invocation *inv, struct store *s, const char *expr,
	struct node_rows *rows, struct node_refs *refs, struct err *err)
{
	int rc = store_nodes(s, inv->arena, rows, err);

	if (rc < 0)
		return rc;
	if (rows->n == 0) {
		err_set(err, E_NOTFOUND, "the inventory has no nodes");
		return err_hint(err, "import a site first: 'stoika import FILE'");
	}
	return range_resolve(expr, rows, refs, err);
}

static bool wants_secrets(const struct pack_recipe *recipes, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < recipes[i].recipe->n_params; k++)
			if (recipes[i].recipe->params[k].type == PARAM_SECRET)
				return true;
	return false;
}

int session_secrets(struct store *s, const struct pack_recipe *recipes, unsigned n,
	struct secrets **out, struct err *err)
{
	static const struct secret_ask ask = {secret_passphrase, NULL};

	*out = NULL;
	return wants_secrets(recipes, n) ? secrets_open(store_path(s), false, &ask, out, err) : 0;
}

const char *session_user(const struct invocation *inv)
{
	const char *name = getenv("SUDO_USER");
	const struct passwd *pw = name && *name ? NULL : getpwuid(getuid());
	char host[128] = "localhost";

	if (pw)
		name = pw->pw_name;
	gethostname(host, sizeof host - 1);
	return arena_printf(inv->arena, "%s@%s", name && *name ? name : "unknown", host);
}

int session_split_names(const struct invocation *inv, const char *list,
	const char *names[static SESSION_NAMES_MAX], unsigned *n, struct err *err)
{
	struct str rest = str_of(list), part;

	*n = 0;
	while (str_next(&rest, ',', &part)) {
		if (part.n == 0)
			continue;
		if (*n == SESSION_NAMES_MAX)
			return err_set(err, E_LIMIT, "more than %d recipes are named at once",
				SESSION_NAMES_MAX);
		names[(*n)++] = arena_text(inv->arena, part);
	}
	if (*n > 0)
		return 0;
	err_set(err, E_SYNTAX, "'%s' names no recipe", list);
	return err_hint(err, "'stoika recipe list' shows them");
}

int session_judge_target(const char *path, struct err *err)
{
	struct stat st;

	if (!*path || path[strlen(path) - 1] == '/')
		return err_set(err, E_SYNTAX, "'%s' is no name of a file", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		err_set(err, E_UNSUPPORTED, "'%s' is no plain file", path);
		return err_hint(err, "name a new file, or one that may be replaced");
	}
	return 0;
}

void session_print(const struct buf *text)
{
	if (fwrite(buf_text(text), 1, text->n, stdout) == text->n && fflush(stdout) == 0)
		return;
	if (errno == EPIPE)
		exit(EXIT_OK);
	fprintf(stderr, "stoika: cannot write the output: %s\n", strerrordesc_np(errno));
	exit(EXIT_SOME);
}

void session_add_lines(struct buf *out, struct str text)
{
	while (text.n > 0) {
		size_t end = 0;

		while (end < text.n && text.p[end] != '\n' && text.p[end] != '\t')
			end++;
		buf_add_printable(out, str_first(text, end));
		if (end == text.n)
			return;
		buf_add_char(out, text.p[end]);
		text = str_from(text, end + 1);
	}
}

void session_print_lines(const struct buf *text)
{
	AUTO_BUF safe = {0};

	buf_init(&safe, SESSION_TEXT_MAX);
	session_add_lines(&safe, buf_str(text));
	session_print(&safe);
}

void session_print_json(const json_t *value)
{
	AUTO_BUF text = {0};

	buf_init(&text, SESSION_TEXT_MAX);
	json_write_pretty(value, &text);
	buf_add_char(&text, '\n');
	session_print(&text);
}

void session_print_document(const struct invocation *inv, const struct buf *text)
{
	AUTO_JSON doc = NULL;

	if (!inv->json) {
		session_print(text);
		return;
	}
	doc = json_object();
	json_put_text(doc, "text", buf_str(text));
	session_print_json(doc);
}
