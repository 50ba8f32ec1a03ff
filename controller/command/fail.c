/* fail - errors at the program's edge: text or JSON, and the exit code of their kind. */
#include "agent/base/buf.h"
#include "agent/base/json.h"
#include "controller/command/command.h"

#include <stdio.h>

static enum exit_code code_of(const struct err *err)
{
	const bool from_file = err->file[0] != '\0'; /* content that we refuse is no wrong usage */

	switch (err->code) {
	case E_SYNTAX:
	case E_SCHEMA:
	case E_LIMIT:
	case E_NOTFOUND:
	case E_EXISTS:
	case E_CONFLICT:
	case E_UNSUPPORTED:
		return from_file ? EXIT_REFUSED : EXIT_USAGE;
	case E_BUSY:
	case E_DENIED:
	case E_VERIFY:
	case E_STATE:
	case E_CANCELLED:
		return EXIT_REFUSED;
	case E_AUTH:
	case E_HOSTKEY:
	case E_NET:
	case E_TIMEOUT:
		return EXIT_UNREACHED;
	case E_REMOTE:
	case E_IO:
	case E_NOSPACE:
		return EXIT_SOME;
	case E_INTERNAL:
	case E_MAX:
		return EXIT_BUG;
	}
	return EXIT_BUG;
}

static void print_json(const struct err *err)
{
	AUTO_JSON obj = json_object();
	AUTO_BUF text = {0};

	json_put_str(obj, "error", ec_name(err->code));
	json_put_str(obj, "message", err->msg);
	if (*err->hint)
		json_put_str(obj, "hint", err->hint);
	if (*err->file) {
		json_put_str(obj, "file", err->file);
		json_put_int(obj, "line", err->line);
		json_put_int(obj, "col", err->col);
	}
	buf_init(&text, 64 << 10);
	json_write(obj, &text);
	fprintf(stderr, "%s\n", buf_text(&text));
}

int command_fail(const struct invocation *inv, const struct err *err)
{
	if (inv->json)
		print_json(err);
	else
		err_print(err);
	return code_of(err);
}
