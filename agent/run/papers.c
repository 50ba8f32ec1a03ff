#include "agent/run/papers.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/sign.h"

#include <string.h>

#define AGAIN_MAX 256

json_t *papers_new(struct str body, const char *sig, const char *nonce, const char *again_sig)
{
	json_t *papers = json_object();

	json_put_text(papers, "body", body);
	json_put_str(papers, "sig", sig);
	if (again_sig) {
		json_t *again = json_object();

		json_put_str(again, "nonce", nonce);
		json_put_str(again, "sig", again_sig);
		json_object_set_new(papers, "again", again);
	}
	return papers;
}

static int check_signatures(const json_t *papers, struct str body, const struct sign_key *key,
	const char *run, struct err *err)
{
	const json_t *again = json_get(papers, "again");
	char hash[HASH_HEX];
	AUTO_BUF text = {0};
	int rc = sign_check(key, body, str_of(json_get_str(papers, "sig", "")), err);

	if (rc < 0 || !again)
		return rc;
	buf_init(&text, AGAIN_MAX);
	hash_hex(body, hash);
	order_again_text(&text, json_get_str(again, "nonce", ""), run, hash);
	return sign_check(key, buf_str(&text), str_of(json_get_str(again, "sig", "")), err);
}

int papers_read(const json_t *papers, const struct sign_key *key, const char *run, struct arena *a,
	struct order *out, struct err *err)
{
	const struct str body = str_of(json_get_str(papers, "body", ""));
	int rc = check_signatures(papers, body, key, run, err);

	if (rc < 0) {
		err_wrap(err, "the order of run '%s'", run);
		return err_hint(err, "the controller's key is another one since; apply again");
	}
	rc = order_parse(a, body, out, err);
	if (rc < 0)
		return rc;
	if (json_get(papers, "again"))
		out->run = arena_strdup(a, run);
	if (strcmp(out->run, run) == 0)
		return 0;
	err_set(err, E_VERIFY, "the order kept for run '%s' is that of run '%s'", run, out->run);
	order_done(out);
	return -E_VERIFY;
}
