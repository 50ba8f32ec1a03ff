/* repo_dnf - one source of packages for dnf: its file, its key, the module streams it needs. */
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/proc.h"
#include "agent/step/pgp.h"
#include "agent/step/repo_plan.h"
#include "agent/step/rpm.h"
#include "agent/step/tool.h"

#include <inttypes.h>
#include <string.h>

#define KEYS            "/etc/pki/rpm-gpg"
#define TEXT_MAX        (64u << 10)
#define REFRESH_TIMEOUT (600 * INT64_C(1000000000))

static bool is_value(const char *text)
{
	if (!text || !text[0])
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static int write_addresses(const struct repo_plan *p, struct buf *out, struct err *err)
{
	const json_t *uris = json_get(p->args, "uris"), *uri;
	size_t i;

	json_array_foreach(uris, i, uri)
	{
		const char *text = json_string_value(uri);

		if (!is_value(text) || !strchr(text, '/') || strchr(text, ' ')) {
			err_set(err, E_SCHEMA, "'%.120s' is no address of a repository",
				text ? text : "");
			return err_hint(err, "expected such as https://mirror/rocky/9/BaseOS");
		}
		buf_addf(out, "%s%s\n", i ? "        " : "baseurl=", text);
	}
	return 0;
}

static int plan_key(struct repo_plan *p, struct buf *out, struct err *err)
{
	const char *given = json_get_str(p->args, "signed_by", NULL);
	const char *path = arena_printf(p->arena, KEYS "/RPM-GPG-KEY-%s", p->name);
	AUTO_BUF key;
	int rc;

	buf_init(&key, PGP_MAX);
	rc = repo_plan_key(p, &key, err);
	if (rc < 0)
		return rc;
	if (key.n == 0 && !given) {
		err_set(err, E_SCHEMA, "repo '%s' has neither a key nor 'signed_by'", p->name);
		return err_hint(err,
			"give the key: a file of the recipe with 'key', or a key that is "
			"on the node with 'signed_by'");
	}
	buf_addf(out, "gpgcheck=1\ngpgkey=file://%s\n", key.n > 0 ? path : given);
	return key.n > 0 ? repo_plan_file(p, path, buf_str(&key), err) : 0;
}

/* "NAME:STREAM" as 'dnf module enable' writes it. */
static int plan_module(struct repo_plan *p, const char *text, struct err *err)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	const struct str module =
		colon ? (struct str){text, (size_t)(colon - text)} : (struct str){NULL, 0};
	AUTO_BUF now;

	buf_init(&now, 1024);
	if (!colon || !str_is_name(module) || !str_is_name(str_of(colon + 1))) {
		err_set(err, E_SCHEMA, "'%.80s' is no stream of a module", text ? text : "");
		return err_hint(err, "expected 'module:stream', such as nvidia-driver:580-open");
	}
	buf_addf(&now, "[" STR_FMT "]\nname=" STR_FMT "\nstream=%s\nprofiles=\nstate=enabled\n",
		STR_ARG(module), STR_ARG(module), colon + 1);
	return repo_plan_file(p,
		arena_printf(p->arena, "/etc/dnf/modules.d/" STR_FMT ".module", STR_ARG(module)),
		buf_str(&now), err);
}

static int plan_present(struct repo_plan *p, const char *path, struct err *err)
{
	const json_t *modules = json_get(p->args, "modules"), *module;
	const json_t *priority = json_get(p->args, "priority");
	AUTO_BUF text;
	size_t i;
	int rc;

	buf_init(&text, TEXT_MAX);
	buf_addf(&text, "# kept by stoika\n[%s]\nname=%s\n", p->name, p->name);
	rc = write_addresses(p, &text, err);
	buf_addf(&text, "enabled=%d\n", p->enabled);
	if (rc == 0)
		rc = plan_key(p, &text, err);
	if (json_is_integer(priority))
		buf_addf(&text, "priority=%" PRId64 "\n", (int64_t)json_integer_value(priority));
	json_array_foreach(modules, i, module) if (rc == 0) rc =
		plan_module(p, json_string_value(module), err);
	if (rc == 0)
		rc = repo_plan_file(p, path, buf_str(&text), err);
	if (rc == 0 && p->enabled)
		p->refresh = p->name;
	return rc;
}

int repo_plan_dnf(struct repo_plan *p, struct err *err)
{
	const char *path = arena_printf(p->arena, "/etc/yum.repos.d/%s.repo", p->name);
	const char *key = arena_printf(p->arena, KEYS "/RPM-GPG-KEY-%s", p->name);
	const struct str none = {NULL, 0};
	int rc;

	if (!p->absent)
		return plan_present(p, path, err);
	rc = repo_plan_file(p, path, none, err);
	return rc < 0 ? rc : repo_plan_file(p, key, none, err);
}

int repo_refresh_dnf(const struct step_env *env, const char *id, struct err *err)
{
	const bool outside = rpm_is_outside(env, "dnf");
	struct arena *a = arena_new();
	const char *argv[12] = {"dnf", "-y", "makecache", "--disablerepo=*",
		arena_printf(a, "--enablerepo=%s", id), "--disableplugin=versionlock",
		/* which distributions set, and then a dead source is a success */
		arena_printf(a, "--setopt=%s.skip_if_unavailable=0", id)};
	const struct proc proc = {.argv = argv,
		.root = outside || strcmp(env->root_path, "/") == 0 ? NULL : env->root_path,
		.timeout = REFRESH_TIMEOUT,
		.merge = true};
	struct proc_result res;
	size_t n = 7;
	AUTO_BUF tail;
	int rc;

	buf_init(&tail, 300);
	if (outside) {
		argv[n++] = arena_printf(a, "--installroot=%s", env->root_path);
		argv[n++] = arena_printf(a, "--setopt=reposdir=%s/etc/yum.repos.d", env->root_path);
	}
	argv[n] = NULL;
	rc = proc_run(&proc, &res, err);
	arena_free(a);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res)) {
		tool_tail(buf_str(&res.out), 3, &tail);
		rc = err_set(err, E_NET, "'dnf makecache' failed: %s", buf_text(&tail));
		err_hint(err,
			"check the address and the network: curl -I ADDRESS/repodata/repomd.xml");
	}
	proc_result_done(&res);
	return rc;
}
