#include "agent/step/rpm.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"
#include "agent/base/vec.h"
#include "agent/step/cache.h"
#include "agent/step/tool.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_LEN_MAX 128
#define LIST_HEAD    "# "

/* sqlite keeps what was just written beside the file for a while. */
static const char *const FILES[] = {"/usr/lib/sysimage/rpm/rpmdb.sqlite",
	"/usr/lib/sysimage/rpm/rpmdb.sqlite-wal", "/usr/lib/sysimage/rpm/Packages.db",
	"/var/lib/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite-wal", "/var/lib/rpm/Packages.db",
	"/var/lib/rpm/Packages"};

static bool is_plain(struct str s, const char *more)
{
	if (s.n == 0 || s.n > NAME_LEN_MAX || !isalnum((unsigned char)s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\0' || (!isalnum((unsigned char)s.p[i]) && !strchr(more, s.p[i])))
			return false;
	return true;
}

bool rpm_spec_parse(struct str text, struct dpkg_spec *out)
{
	const size_t equal = str_find(text, '=');
	struct str name = str_first(text, equal);
	size_t colon;

	memset(out, 0, sizeof *out);
	if (equal != STR_NONE) {
		out->version = str_from(text, equal + 1);
		if (!is_plain(out->version, "._+-~^:"))
			return false;
	}
	colon = str_find(name, ':');
	if (colon != STR_NONE) {
		out->arch = str_from(name, colon + 1);
		if (!is_plain(out->arch, "_"))
			return false;
	}
	out->name = str_first(name, colon);
	return is_plain(out->name, "+._-");
}

bool rpm_is_here(const struct step_env *env)
{
	struct stat st;

	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++)
		if (fs_stat(env->root, FILES[i], true, &st, NULL) == 0)
			return true;
	return false;
}

static void make_key(const struct step_env *env, char key[static 512])
{
	struct stat st;
	AUTO_BUF text;

	buf_init(&text, 500);
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
		if (fs_stat(env->root, FILES[i], true, &st, NULL) < 0 || st.st_size == 0)
			continue;
		buf_addf(&text, "%zu:%ju:%ju:%jd:%jd.%09ld ", i, (uintmax_t)st.st_dev,
			(uintmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
			st.st_mtim.tv_nsec);
	}
	snprintf(key, 512, "%s", buf_text(&text));
}

bool rpm_is_outside(const struct step_env *env, const char *program)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/usr/bin/%.40s", program);
	return strcmp(env->root_path, "/") != 0 && fs_stat(env->root, path, true, &st, NULL) < 0;
}

static int query(const struct step_env *env, struct buf *out, struct err *err)
{
	const bool outside = rpm_is_outside(env, "rpm");
	const char *argv[8] = {"rpm"};
	const struct proc p = {.argv = argv,
		.root = outside || strcmp(env->root_path, "/") == 0 ? NULL : env->root_path,
		.timeout = TOOL_TIMEOUT};
	struct proc_result res;
	size_t n = 1;
	int rc;

	if (outside) {
		argv[n++] = "--root";
		argv[n++] = env->root_path;
	}
	argv[n++] = "-qa";
	argv[n++] = "--qf";
	argv[n++] = "%{NAME}\t%{ARCH}\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n";
	argv[n] = NULL;
	rc = proc_run(&p, &res, err);
	if (rc < 0)
		return rc;
	if (!proc_ok(&res)) {
		rc = proc_fail(&p, &res, err);
		err_hint(err, "is rpm's database whole? see 'rpm --rebuilddb'");
	} else if (res.truncated) {
		rc = err_set(err, E_LIMIT, "rpm lists more packages than can be read");
	} else {
		buf_add_str(out, buf_str(&res.out));
	}
	proc_result_done(&res);
	return rc;
}

struct lines vec(struct str);

static int by_text(const void *a, const void *b)
{
	const struct str *x = a, *y = b;
	const int diff = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return diff != 0 ? diff : (x->n > y->n) - (x->n < y->n);
}

static void sort_lines(struct str text, struct buf *out)
{
	struct lines lines = VEC_INIT;
	struct str line;

	while (str_line(&text, &line))
		if (line.n > 0 && !str_starts(line, "gpg-pubkey\t"))
			*vec_push(&lines) = line;
	vec_sort(&lines, by_text);
	vec_each(&lines, struct str, l) {
		buf_add_str(out, *l);
		buf_add_char(out, '\n');
	}
	vec_done(&lines);
}

/* What an earlier agent found at the same database. */
static bool read_kept(const struct step_env *env, const char *key, struct buf *out)
{
	struct str rest, head;
	AUTO_BUF text;

	buf_init(&text, CACHE_RPM_MAX);
	if (fs_read(env->root, RPM_LIST, &text, NULL) < 0)
		return false;
	rest = buf_str(&text);
	if (!str_line(&rest, &head) || !str_starts(head, LIST_HEAD) ||
		!str_is(str_from(head, strlen(LIST_HEAD)), key))
		return false;
	buf_add_str(out, rest);
	return true;
}

/* Only a saving: what cannot be kept is asked again. */
static void keep_list(const struct step_env *env, const char *key, struct str list)
{
	AUTO_BUF text;

	buf_init(&text, CACHE_RPM_MAX);
	buf_addf(&text, LIST_HEAD "%s\n", key);
	buf_add_str(&text, list);
	if (buf_ok(&text) && fs_mkdirs(env->root, "/var/cache/stoika-agent", 0755, NULL) == 0)
		fs_replace(env->root, RPM_LIST, buf_str(&text), 0644, 0, 0, NULL);
}

int rpm_list(const struct step_env *env, struct str *out, struct err *err)
{
	struct cache_made *made = cache_rpm(env);
	char key[512];
	AUTO_BUF said;
	int rc;

	buf_init(&said, CACHE_RPM_MAX);
	*out = buf_str(&made->text);
	if (made->fresh)
		return 0;
	make_key(env, key);
	if (made->key[0] && strcmp(made->key, key) == 0) {
		made->fresh = true;
		return 0;
	}
	buf_clear(&made->text);
	made->key[0] = '\0';
	if (!read_kept(env, key, &made->text)) {
		rc = query(env, &said, err);
		if (rc < 0)
			return rc;
		sort_lines(buf_str(&said), &made->text);
		make_key(env, key); /* a reader may have settled sqlite's journal */
		keep_list(env, key, buf_str(&made->text));
	}
	memcpy(made->key, key, sizeof made->key);
	made->fresh = true;
	*out = buf_str(&made->text);
	return 0;
}

bool rpm_next(struct str *list, struct rpm_record *out)
{
	struct str line;

	while (str_line(list, &line)) {
		if (str_next(&line, '\t', &out->name) && str_next(&line, '\t', &out->arch) &&
			out->name.n > 0 && line.n > 0) {
			out->version = line;
			return true;
		}
	}
	return false;
}

bool rpm_find(struct str list, struct str name, struct str arch, struct rpm_record *out)
{
	struct rpm_record r;
	bool found = false;
	size_t at = 0, hit;

	while ((hit = str_find_str(str_from(list, at), name)) != STR_NONE) {
		struct str here = str_from(list, at + hit);

		at += hit + 1;
		if ((at > 1 && list.p[at - 2] != '\n') || here.n <= name.n ||
			here.p[name.n] != '\t')
			continue;
		if (!rpm_next(&here, &r) || (arch.n > 0 && !str_eq(arch, r.arch)))
			continue;
		*out = r;
		found = true;
	}
	return found;
}

bool rpm_fits(struct str installed, struct str wanted)
{
	const size_t colon = str_find(installed, ':');
	struct str plain = colon == STR_NONE ? installed : str_from(installed, colon + 1);
	size_t dash = plain.n;

	if (str_find(wanted, ':') != STR_NONE)
		plain = installed;
	if (str_eq(plain, wanted))
		return true;
	dash = plain.n;
	while (dash > 0 && plain.p[dash - 1] != '-')
		dash--;
	return dash > 0 && str_eq(str_first(plain, dash - 1), wanted);
}
