/* link_fail - why a link failed, in words that name the node, the cause and what helps. */
#include "agent/base/clock.h"
#include "controller/ssh/link_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const DOING[] = {
	[LINK_QUEUED] = "waiting",
	[LINK_CONNECTING] = "connecting",
	[LINK_KEX] = "the key exchange",
	[LINK_AUTH] = "the login",
	[LINK_CHANNEL] = "opening a channel",
	[LINK_EXEC] = "starting the command",
	[LINK_RUNNING] = "the command",
	[LINK_OVER] = "closing",
};

struct err *link_err(struct link *l)
{
	if (!l->err)
		l->err = xcalloc(1, sizeof *l->err);
	return l->err;
}

static void hint_host_key(struct link *l)
{
	err_hint(l->err,
		"if '%s' was installed anew: stoika agent install %s --known-hosts FILE, with its "
		"new key in FILE",
		l->target.name, l->target.name);
}

void link_fail_connect(struct link *l, int sys)
{
	const struct link_target *t = &l->target;

	if (l->err)
		return;
	err_sys(link_err(l), sys, "cannot connect to '%s' (%s port %u)", t->name, t->address,
		t->port);
	l->err->code = sys == ETIMEDOUT ? E_TIMEOUT : E_NET;
	l->err->fault = FAULT_ENVIRONMENT;
	if (sys == ECONNREFUSED)
		err_hint(l->err, "the node is up, sshd is not: start it, or correct port %u",
			t->port);
	else if (sys == EHOSTUNREACH || sys == ENETUNREACH)
		err_hint(l->err, "there is no route to %s: check cable, switch port and address",
			t->address);
	else if (sys == EMFILE || sys == ENFILE)
		err_hint(l->err, "raise the limit of open files: ulimit -n 65536");
	else
		err_hint(l->err, "check power and network of '%s'", t->name);
}

void link_fail_timeout(struct link *l)
{
	const struct link_target *t = &l->target;
	char span[24];

	if (l->err)
		return;
	clock_format_span(
		l->state < LINK_RUNNING ? l->set->opts.connect_timeout : l->set->opts.idle_timeout,
		span);
	if (l->state == LINK_RUNNING) {
		err_set(link_err(l), E_TIMEOUT, "'%s' started the command and said nothing for %s",
			t->name, span);
		err_hint(l->err, "a slow shell start-up or a hung file system: ssh %s@%s -p %u",
			t->user, t->address, t->port);
		return;
	}
	err_set(link_err(l), E_TIMEOUT, "'%s' (%s port %u) did not answer for %s during %s",
		t->name, t->address, t->port, span, DOING[l->state]);
	if (l->state == LINK_CONNECTING)
		err_hint(l->err, "check power, address and firewall of '%s'", t->name);
	else
		err_hint(l->err,
			"something listens there but is slow or no SSH server: check the "
			"load of '%s'",
			t->name);
}

void link_fail_session(struct link *l)
{
	const char *said = l->session ? ssh_get_error(l->session) : "";
	const bool reset = strstr(said, "Socket error") != NULL;

	if (l->err)
		return;
	if (strstr(said, "server host key algo")) {
		err_set(link_err(l), E_HOSTKEY,
			"'%s' does not have a host key of the pinned kind '" STR_FMT "'",
			l->target.name, (int)strcspn(l->target.host_key, " "), l->target.host_key);
		hint_host_key(l);
		return;
	}
	err_set(link_err(l), l->state == LINK_KEX && !reset ? E_REMOTE : E_NET,
		"lost '%s' during %s: %s", l->target.name, DOING[l->state],
		*said ? said : "the connection was closed");
	if (l->state == LINK_KEX && reset)
		err_hint(l->err, "sshd turns connections away when it is busy (MaxStartups) or "
				 "bans this host");
	else if (l->state == LINK_KEX)
		err_hint(l->err, "compare with: ssh -v %s@%s -p %u", l->target.user,
			l->target.address, l->target.port);
}

void link_fail_auth(struct link *l, int rc)
{
	if (l->err)
		return;
	if (rc != SSH_AUTH_DENIED && rc != SSH_AUTH_PARTIAL) {
		link_fail_session(l);
		return;
	}
	err_set(link_err(l), E_AUTH, "'%s' refused our key for user '%s'%s", l->target.name,
		l->target.user, rc == SSH_AUTH_PARTIAL ? ": it wants a second way to log in" : "");
	err_hint(l->err, "stoika agent install %s --identity FILE", l->target.name);
}

/* "SHA256:..." of a key, or "" (owned by the caller). */
static char *fingerprint(ssh_key key)
{
	unsigned char *hash = NULL;
	size_t len = 0;
	char *text = NULL, *copy;

	if (key && ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &len) == 0)
		text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, len);
	ssh_clean_pubkey_hash(&hash);
	copy = xstrdup(text ? text : "unreadable");
	ssh_string_free_char(text);
	return copy;
}

/* The pinned "type base64 comment" as a key, or NULL. */
static ssh_key pinned_key(const char *text)
{
	const size_t type_len = strcspn(text, " ");
	const char *blob = text + type_len + strspn(text + type_len, " ");
	AUTO_STR type = xstrndup(text, type_len);
	AUTO_STR base64 = xstrndup(blob, strcspn(blob, " \n"));
	ssh_key key = NULL;

	(void)ssh_pki_import_pubkey_base64(base64, ssh_key_type_from_name(type), &key);
	return key;
}

void link_fail_host_key(struct link *l, ssh_key got)
{
	ssh_key pinned;

	if (l->err)
		return;
	pinned = pinned_key(l->target.host_key);

	AUTO_STR want = fingerprint(pinned);
	AUTO_STR have = fingerprint(got);

	ssh_key_free(pinned);
	err_set(link_err(l), E_HOSTKEY,
		"the host key of '%s' is not the pinned one: expected %s, got %s", l->target.name,
		want, have);
	hint_host_key(l);
}
