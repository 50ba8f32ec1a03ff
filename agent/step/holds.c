#include "agent/step/holds.h"

#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define HOLDS_MAX (256u << 10)
#define HEAD                                                                                 \
	"# Packages that Stoika holds. One that is held and not named here is held by the\n" \
	"# administrator, and Stoika leaves it alone.\n"

void holds_done(struct holds *h)
{
	vec_each(h, struct hold, one)
		free(one->name);
	vec_done(h);
}

static struct hold *find(const struct holds *h, struct str name)
{
	vec_each(h, struct hold, one)
		if (str_is(name, one->name))
			return one;
	return NULL;
}

bool holds_has(const struct holds *h, struct str name)
{
	return find(h, name) != NULL;
}

void holds_set(struct holds *h, struct str name, bool lifted)
{
	struct hold *one = find(h, name);

	if (!one) {
		one = vec_push(h);
		one->name = xstrndup(name.p, name.n);
	}
	one->lifted = lifted;
}

void holds_drop(struct holds *h, struct str name)
{
	struct hold *one = find(h, name);

	if (!one)
		return;
	free(one->name);
	*one = h->at[--h->n];
}

int holds_load(const struct step_env *env, struct holds *out, struct err *err)
{
	struct str rest, line, name;
	AUTO_BUF text;
	int rc;

	buf_init(&text, HOLDS_MAX);
	rc = fs_read(env->root, HOLDS_PATH, &text, err);
	if (rc < 0)
		return rc == -E_NOTFOUND ? 0 : rc;
	rest = buf_str(&text);
	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (line.n == 0 || line.p[0] == '#' || !str_next(&line, ' ', &name))
			continue;
		holds_set(out, name, str_is(str_trim(line), "lifted"));
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void write_text(const struct holds *h, struct buf *out)
{
	struct holds sorted = VEC_INIT;

	vec_each(h, struct hold, one)
		*vec_push(&sorted) = *one;
	vec_sort(&sorted, by_name);
	buf_add_text(out, HEAD);
	vec_each(&sorted, struct hold, one)
		buf_addf(out, "%s%s\n", one->name, one->lifted ? " lifted" : "");
	vec_done(&sorted);
}

int holds_save(const struct step_env *env, const struct holds *h, struct err *err)
{
	AUTO_BUF text, old;
	int rc;

	buf_init(&text, HOLDS_MAX);
	buf_init(&old, HOLDS_MAX);
	if (h->n == 0)
		return fs_remove(env->root, HOLDS_PATH, false, err);
	write_text(h, &text);
	if (!buf_ok(&text))
		return err_set(err, E_LIMIT, "too many packages are held for '" HOLDS_PATH "'");
	if (fs_read(env->root, HOLDS_PATH, &old, NULL) == 0 &&
		str_eq(buf_str(&old), buf_str(&text)))
		return 0;
	rc = fs_mkdirs(env->root, "/var/lib/stoika-agent", 0755, err);
	if (rc < 0)
		return rc;
	return fs_replace(env->root, HOLDS_PATH, buf_str(&text), 0644, 0, 0, err);
}
