/* link_key - our SSH key pair: made 0600, loaded once, its public half as OpenSSH writes it. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "controller/ssh/link_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct link_key {
	ssh_key key;
	char *public_text;
};

/* "type base64", the caller's, or NULL. */
static char *public_text(ssh_key key)
{
	char *base64 = NULL, *text;

	if (ssh_pki_export_pubkey_base64(key, &base64) != SSH_OK)
		return NULL;
	text = xasprintf("%s %s", ssh_key_type_to_char(ssh_key_type(key)), base64);
	ssh_string_free_char(base64);
	return text;
}

/* A key that others can read is no key; ssh refuses it as well. */
static int judge_file(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return err_sys(err, errno, "cannot read the SSH key '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, E_SCHEMA, "the SSH key '%s' is not a file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO)) {
		err_set(err, E_DENIED, "the SSH key '%s' can be read by others (mode %04o)", path,
			(unsigned)st.st_mode & 07777);
		return err_hint(err, "chmod 600 %s", path);
	}
	return 0;
}

int link_key_load(const char *path, struct link_key **out, struct err *err)
{
	ssh_key key = NULL;
	char *text;
	int rc = judge_file(path, err);

	if (rc < 0)
		return rc;
	if (ssh_pki_import_privkey_file(path, NULL, NULL, NULL, &key) != SSH_OK) {
		err_set(err, E_SCHEMA,
			"cannot load the SSH key '%s': expected a private key without a "
			"passphrase",
			path);
		return err_hint(err, "ssh-keygen -p -f %s takes the passphrase off", path);
	}
	text = public_text(key);
	if (!text) {
		ssh_key_free(key);
		return err_set(err, E_INTERNAL, "cannot derive the public half of '%s'", path);
	}
	*out = xcalloc(1, sizeof **out);
	(*out)->key = key;
	(*out)->public_text = text;
	return 0;
}

/* The folder of path, opened, and the name in it. */
static int open_folder(const char *path, const char **name, struct err *err)
{
	const char *slash = strrchr(path, '/');
	AUTO_STR dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*name = slash ? slash + 1 : path;
	return fd < 0 ? err_sys(err, errno, "cannot open the folder '%s'", dir) : fd;
}

/* Key and key.pub; the private half last, so that a pair is never half there. */
static int save(ssh_key key, const char *path, struct err *err)
{
	AUTO_STR text = public_text(key);
	const char *name;
	char *private_text = NULL;
	AUTO_FD dir = open_folder(path, &name, err);
	int rc = dir;

	if (rc < 0)
		return rc;
	if (!text || ssh_pki_export_privkey_base64(key, NULL, NULL, NULL, &private_text) != SSH_OK)
		return err_set(err, E_INTERNAL, "cannot write out a new SSH key");

	AUTO_STR public_name = xasprintf("%s.pub", name);
	AUTO_STR line = xasprintf("%s stoika\n", text);

	rc = fs_replace(dir, public_name, str_of(line), 0644, FS_KEEP_ID, FS_KEEP_ID, err);
	if (rc == 0)
		rc = fs_replace(dir, name, str_of(private_text), 0600, FS_KEEP_ID, FS_KEEP_ID, err);
	explicit_bzero(private_text, strlen(private_text));
	ssh_string_free_char(private_text);
	return rc;
}

int link_key_make(const char *path, const char *type, struct err *err)
{
	const bool ecdsa = strcmp(type, "ecdsa") == 0;
	ssh_key key = NULL;
	int rc;

	if (!ecdsa && strcmp(type, "ed25519") != 0)
		return err_set(err, E_UNSUPPORTED,
			"unknown kind of SSH key '%s': expected 'ed25519' or 'ecdsa'", type);
	if (access(path, F_OK) == 0)
		return 0;
	if (ssh_pki_generate(ecdsa ? SSH_KEYTYPE_ECDSA_P256 : SSH_KEYTYPE_ED25519, ecdsa ? 256 : 0,
		    &key) != SSH_OK)
		return err_set(err, E_INTERNAL, "libssh cannot make an SSH key");
	rc = save(key, path, err);
	ssh_key_free(key);
	return rc;
}

const char *link_key_public(const struct link_key *k)
{
	return k->public_text;
}

ssh_key link_key_private(const struct link_key *k)
{
	return k->key;
}

void link_key_free(struct link_key *k)
{
	if (!k)
		return;
	ssh_key_free(k->key);
	free(k->public_text);
	free(k);
}
