/* secret - the store of secrets: what may be in it, since when, never what it is. */
#include "controller/secret/secret.h"

#include "agent/base/clock.h"
#include "agent/base/seal.h"
#include "controller/command/session.h"
#include "controller/command/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct secret_ask ASK = {secret_passphrase, NULL};

/*
 * One change of the store: saved and written down, or nothing of it. A rotation may ask a person,
 * which the database is not kept locked for: it is written down afterwards.
 */
struct change {
	const struct invocation *inv;
	const char *name;
	struct str value;
	int (*change)(struct secrets *s, const struct change *c, struct err *err);
	bool saved; /* by change itself */
};

static int save_and_note(
	struct secrets *secrets, struct store *s, const struct change *c, struct err *err)
{
	int rc = store_begin(s, err);

	if (rc < 0)
		return rc;
	rc = store_audit_add(s, session_user(c->inv), c->inv->command->name, c->name, "", err);
	if (rc == 0 && !c->saved)
		rc = secrets_save(secrets, err);
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return rc;
}

static int run_change(const struct change *c, struct err *err)
{
	struct store *store = NULL;
	struct secrets *s = NULL;
	int rc = session_open(c->inv, STORE_WRITE, &store, err);

	if (rc == 0)
		rc = secrets_open(store_path(store), true, &ASK, &s, err);
	if (rc == 0)
		rc = c->change(s, c, err);
	if (rc == 0)
		rc = save_and_note(s, store, c, err);
	secrets_close(s);
	store_close(store);
	return rc;
}

/* --- set --- */

static int set_one(struct secrets *s, const struct change *c, struct err *err)
{
	return secrets_set(s, c->name, c->value, err);
}

/* All of standard input but one newline at its end. */
static int read_value(struct buf *out, struct err *err)
{
	ssize_t n;

	for (;;) {
		char *at = buf_room(out, 4096);

		if (!at)
			return err_set(err, E_LIMIT, "the value is longer than %u bytes",
				SECRET_VALUE_MAX);
		n = read(STDIN_FILENO, at, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read standard input");
		if (n == 0)
			break;
		buf_grew(out, (size_t)n);
	}
	if (out->n > 0 && out->p[out->n - 1] == '\n')
		buf_cut(out, out->n - 1);
	return 0;
}

static int run_set(struct invocation *inv)
{
	AUTO_BUF value = {0};
	struct change c = {.inv = inv, .name = inv->args[0], .change = set_one};
	struct err err;
	int rc;

	buf_init(&value, SECRET_VALUE_MAX + 8192);
	rc = isatty(STDIN_FILENO) ? secret_prompt(c.name, &value, &err) : read_value(&value, &err);
	c.value = buf_str(&value);
	if (rc == 0)
		rc = run_change(&c, &err);
	seal_wipe(&value);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

/* --- rm --- */

static int remove_one(struct secrets *s, const struct change *c, struct err *err)
{
	return secrets_remove(s, c->name, err);
}

static int run_rm(struct invocation *inv)
{
	const struct change c = {.inv = inv, .name = inv->args[0], .change = remove_one};
	struct err err;

	return run_change(&c, &err) < 0 ? command_fail(inv, &err) : EXIT_OK;
}

/* --- rotate --- */

static int rotate_all(struct secrets *s, const struct change *c, struct err *err)
{
	const bool words = option_get(c->inv, "passphrase"), file = option_get(c->inv, "key-file");

	if (words && file)
		return err_set(err, E_CONFLICT, "--passphrase and --key-file exclude each other");
	return secrets_rotate(s,
		words  ? SECRET_PASSPHRASE
		: file ? SECRET_KEY_FILE
		       : secrets_lock(s),
		&ASK, err);
}

static int run_rotate(struct invocation *inv)
{
	const struct change c = {.inv = inv, .name = "", .change = rotate_all, .saved = true};
	struct err err;

	if (run_change(&c, &err) < 0)
		return command_fail(inv, &err);
	if (!inv->json)
		puts("all secrets are sealed with a new key; backups open with the old one only");
	return EXIT_OK;
}

/* --- list, check --- */

static json_t *info_json(const struct secret_info *i)
{
	json_t *obj = json_object();

	json_put_str(obj, "name", i->name);
	json_put_int(obj, "created", i->created);
	json_put_int(obj, "changed", i->changed);
	json_put_str(obj, "bytes", secret_length_class(i->length));
	return obj;
}

static void print_list(const struct invocation *inv, const struct secrets *s)
{
	AUTO_JSON list = json_array();
	AUTO_BUF text = {0};
	int width = 4;

	buf_init(&text, 4u << 20);
	for (unsigned i = 0; i < secrets_count(s); i++)
		if ((int)strlen(secrets_at(s, i).name) > width)
			width = (int)strlen(secrets_at(s, i).name);
	buf_addf(&text, "%-*s  %-20s  %-20s  BYTES\n", width, "NAME", "CREATED", "CHANGED");
	for (unsigned i = 0; i < secrets_count(s); i++) {
		const struct secret_info one = secrets_at(s, i);
		char created[24], changed[24];

		clock_format(one.created * CLOCK_SEC, created);
		clock_format(one.changed * CLOCK_SEC, changed);
		buf_addf(&text, "%-*s  %-20s  %-20s  %s\n", width, one.name, created, changed,
			secret_length_class(one.length));
		json_array_append_new(list, info_json(&one));
	}
	if (inv->json)
		session_print_json(list);
	else if (secrets_count(s) > 0)
		session_print(&text);
	else
		puts("there are no secrets: stoika secret set NAME");
}

static void print_check(const struct invocation *inv, const struct secrets *s)
{
	const char *lock = secrets_lock(s) == SECRET_PASSPHRASE ? "a passphrase" : "a key file";

	if (inv->json)
		printf("{\"secrets\": %u, \"sealed_with\": \"%s\", \"ok\": true}\n",
			secrets_count(s), lock);
	else
		printf("%u secret%s, sealed with %s; modes, owners and seal are as they must be\n",
			secrets_count(s), secrets_count(s) == 1 ? "" : "s", lock);
}

static int run_look(const struct invocation *inv,
	void (*print)(const struct invocation *, const struct secrets *))
{
	struct store *store = NULL;
	struct secrets *s = NULL;
	struct err err;
	int rc = session_open(inv, STORE_READ, &store, &err);

	if (rc == 0)
		rc = secrets_open(store_path(store), false, &ASK, &s, &err);
	if (rc == 0)
		print(inv, s);
	secrets_close(s);
	store_close(store);
	return rc < 0 ? command_fail(inv, &err) : EXIT_OK;
}

static int run_list(struct invocation *inv)
{
	return run_look(inv, print_list);
}

static int run_check(struct invocation *inv)
{
	return run_look(inv, print_check);
}

const struct command COMMAND_SECRET_SET = {
	.name = "secret set",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "keep a secret; its value comes from standard input or is asked for",
	.about =
		"The value is all of standard input but one newline at its end; on a terminal it is\n"
		"typed without echo. It is never an argument. A recipe's parameter of type 'secret' is\n"
		"given as --set PARAMETER=secret:NAME, or as {$secret: NAME} in the site file's vars.\n"
		"Secrets lie beside the database in 'secrets', sealed with keys/secret (0600), or with\n"
		"a passphrase after 'stoika secret rotate --passphrase'. STOIKA_PASSPHRASE_FD names a\n"
		"descriptor to read the passphrase from.\n",
	.run = run_set,
};

const struct command COMMAND_SECRET_LIST = {
	.name = "secret list",
	.args = "",
	.summary = "names and dates of secrets, never their values",
	.run = run_list,
};

const struct command COMMAND_SECRET_RM = {
	.name = "secret rm",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.summary = "forget a secret",
	.run = run_rm,
};

static const struct option ROTATE_OPTIONS[] = {
	{"passphrase", 0, NULL, "seal with a passphrase from now on", false},
	{"key-file", 0, NULL, "seal with keys/secret from now on", false},
	{0},
};

const struct command COMMAND_SECRET_ROTATE = {
	.name = "secret rotate",
	.args = "",
	.summary = "seal all secrets with a new key or passphrase",
	.about = "The old key is gone afterwards. The values stay as they are: a secret that\n"
		 "somebody has seen needs a new value, by 'stoika secret set'.\n",
	.options = ROTATE_OPTIONS,
	.run = run_rotate,
};

const struct command COMMAND_SECRET_CHECK = {
	.name = "secret check",
	.args = "",
	.summary = "open the store of secrets and say whether all is well with it",
	.run = run_check,
};
