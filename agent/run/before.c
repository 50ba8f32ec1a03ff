/* before - how: documents are read when a record first names their recipe, and replaced as a whole.
 */
#include "agent/run/before.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"
#include "agent/run/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER         "before"
#define BLOBS          FOLDER "/blobs"
#define SUFFIX         ".json"
#define FORMAT         1
#define TEXT_MAX       (64u << 20)
#define PATH_MAX_BYTES 128
#define KEY_MAX        400

struct fold {
	int state;
	const char *run;
	json_t *docs;  /* recipe -> document */
	json_t *were;  /* recipe -> the document as it was read */
	json_t *begun; /* place -> entry of the last intent there */
};

static void doc_path(const char *recipe, char path[static PATH_MAX_BYTES])
{
	snprintf(path, PATH_MAX_BYTES, FOLDER "/%.64s" SUFFIX, recipe);
}

json_t *before_entries(json_t *doc)
{
	return json_get(doc, "entries");
}

static json_t *new_doc(const char *recipe)
{
	json_t *doc = json_object();

	json_put_int(doc, "format", FORMAT);
	json_put_str(doc, "recipe", recipe);
	json_object_set_new(doc, "entries", json_array());
	return doc;
}

int before_load(int state, const char *recipe, json_t **doc, struct err *err)
{
	char path[PATH_MAX_BYTES];
	AUTO_BUF text = {0};
	int rc;

	*doc = NULL;
	if (!str_is_name(str_of(recipe)))
		return err_set(err, E_SCHEMA, "'%.64s' is not a recipe's name", recipe);
	doc_path(recipe, path);
	buf_init(&text, TEXT_MAX);
	rc = fs_read(state, path, &text, err);
	if (rc == -E_NOTFOUND) {
		*doc = new_doc(recipe);
		return 0;
	}
	if (rc == 0)
		rc = json_parse(buf_str(&text), TEXT_MAX, path, doc, err);
	if (rc == 0 && (json_get_int(*doc, "format", 0) != FORMAT ||
			       !json_is_array(before_entries(*doc)))) {
		json_drop(doc);
		rc = err_set(err, E_UNSUPPORTED, "'%s' is not of format %d", path, FORMAT);
	}
	if (rc < 0) {
		err_wrap(err, "'%s' of the agent's state", path);
		err_hint(err,
			"when it is damaged, remove it; what '%s' changed until now can then "
			"not be taken back",
			recipe);
	}
	return rc;
}

/* --- one and the same change --- */

static bool same_value(const json_t *a, const json_t *b, const char *key)
{
	const json_t *va = json_get(a, key), *vb = json_get(b, key);

	return va && vb ? json_equal(va, vb) : va == vb;
}

/* What a step is about: its path, else its name or names. */
static bool same_target(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"path", "name", "names", NULL};
	const json_t *aa = json_get(a, "args"), *ba = json_get(b, "args");

	for (const char *const *k = keys; *k; k++)
		if (json_get(aa, *k) || json_get(ba, *k))
			return same_value(aa, ba, *k);
	return true;
}

static bool same_place(const json_t *a, const json_t *b)
{
	return same_value(a, b, "step") && same_value(a, b, "item") && same_value(a, b, "handler");
}

/* Equal arguments wherever they stand, or the same step of the recipe about the same thing. */
static bool same_change(const json_t *a, const json_t *b)
{
	if (!same_value(a, b, "kind"))
		return false;
	return same_value(a, b, "args") || (same_place(a, b) && same_target(a, b));
}

json_t *before_find(json_t *doc, const json_t *intent)
{
	json_t *entry;
	size_t i;

	json_array_foreach(before_entries(doc), i, entry)
	{
		if (same_change(entry, intent))
			return entry;
	}
	return NULL;
}

/* --- folding --- */

static int get_doc(struct fold *f, const char *recipe, json_t **doc, struct err *err)
{
	int rc = 0;

	*doc = json_get(f->docs, recipe);
	if (*doc)
		return 0;
	rc = before_load(f->state, recipe, doc, err);
	if (rc < 0)
		return rc;
	json_object_set_new(f->were, recipe, json_deep_copy(*doc));
	json_object_set_new(f->docs, recipe, *doc);
	return 0;
}

static void place_of(const json_t *record, char key[static KEY_MAX])
{
	snprintf(key, KEY_MAX, "%.64s %lld %lld %.200s", json_get_str(record, "recipe", ""),
		(long long)json_get_int(record, "step", 0),
		(long long)json_get_int(record, "item", 0), json_get_str(record, "handler", ""));
}

static void copy_keys(json_t *to, const json_t *from, const char *const *keys)
{
	for (; *keys; keys++) {
		json_t *v = json_get(from, *keys);

		if (v)
			json_object_set(to, *keys, v);
		else
			json_object_del(to, *keys);
	}
}

static json_t *new_entry(const struct fold *f, const json_t *intent)
{
	static const char *const first[] = {"before", NULL};
	json_t *entry = json_object();
	char id[128];

	snprintf(id, sizeof id, "%.64s:%lld", f->run, (long long)json_get_int(intent, "seq", 0));
	json_put_str(entry, "id", id);
	copy_keys(entry, intent, first);
	return entry;
}

static int see_intent(struct fold *f, const json_t *intent, struct err *err)
{
	static const char *const latest[] = {
		"step", "item", "handler", "name", "kind", "args", "notify", NULL};
	const char *recipe = json_get_str(intent, "recipe", "");
	json_t *doc, *entry;
	char key[KEY_MAX];
	int rc;

	if (json_get(intent, "undo") || json_get(intent, "of") || !json_get(intent, "args"))
		return 0;
	rc = get_doc(f, recipe, &doc, err);
	if (rc < 0)
		return rc;
	entry = before_find(doc, intent);
	if (!entry) {
		if (json_array_size(before_entries(doc)) >= BEFORE_ENTRIES_MAX)
			json_array_remove(before_entries(doc), 0);
		entry = new_entry(f, intent);
		json_array_append_new(before_entries(doc), entry);
	}
	copy_keys(entry, intent, latest);
	json_object_del(entry, "after"); /* it is being changed: only the end of that tells */
	before_begin_run(doc, entry, f->run, intent);
	place_of(intent, key);
	json_object_set(f->begun, key, entry);
	return 0;
}

static void see_result(struct fold *f, const json_t *record)
{
	json_t *after = json_get(record, "after"), *entry;
	char key[KEY_MAX];

	place_of(record, key);
	entry = json_get(f->begun, key);
	if (entry && after && !json_get(record, "of")) {
		json_object_set(entry, "after", after);
		before_end_run(entry, f->run, after);
	}
}

static int see_undo(struct fold *f, const json_t *record, struct err *err)
{
	const char *id = json_get_str(record, "entry", "");
	const char *of = json_get_str(record, "undo_of", NULL);
	const bool all = strcmp(id, BEFORE_ALL) == 0;
	json_t *doc, *entries;
	int rc;

	if (!json_get_bool(record, "done", false))
		return 0;
	rc = get_doc(f, json_get_str(record, "recipe", ""), &doc, err);
	if (rc < 0)
		return rc;
	entries = before_entries(doc);
	for (size_t i = json_array_size(entries); i-- > 0;)
		if (all)
			json_array_remove(entries, i);
		else if (strcmp(json_get_str(json_array_get(entries, i), "id", ""), id) != 0)
			continue;
		else if (of)
			before_drop_run(doc, i, of);
		else
			json_array_remove(entries, i);
	return 0;
}

static int see(void *ctx, const json_t *record, struct err *err)
{
	struct fold *f = ctx;
	const char *ev = json_get_str(record, "ev", "");

	if (strcmp(ev, "intent") == 0)
		return see_intent(f, record, err);
	if (strcmp(ev, "undo") == 0)
		return see_undo(f, record, err);
	if (strcmp(ev, "step") == 0)
		see_result(f, record);
	return 0;
}

/* --- bytes that nobody needs any more --- */

static void note_hashes(json_t *v, json_t *needed)
{
	const char *key;
	json_t *one;
	size_t i;

	if (json_is_string(v) && hash_is_hex(json_string_value(v)))
		json_object_set_new(needed, json_string_value(v), json_true());
	json_array_foreach(v, i, one) note_hashes(one, needed);
	json_object_foreach(v, key, one) note_hashes(one, needed);
}

static void note_needed(const json_t *entry, json_t *needed)
{
	json_t *one;
	size_t i;

	note_hashes(json_get(entry, "before"), needed);
	json_array_foreach(json_get(entry, "runs"), i, one)
		note_hashes(json_get(one, "before"), needed);
}

static DIR *open_list(int state, const char *path)
{
	int fd = openat(state, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		mem_close_fd(&fd);
	return dir;
}

/* Negative when a document cannot be read: then nothing may be called needless. */
static int collect_needed(int state, json_t *needed)
{
	DIR *dir = open_list(state, FOLDER);
	int rc = dir ? 0 : -E_IO;
	json_t *entry;
	size_t i;

	for (const struct dirent *e; rc == 0 && (e = readdir(dir));) {
		AUTO_JSON doc = NULL;
		const struct str name = str_of(e->d_name);
		char recipe[PATH_MAX_BYTES];

		if (!str_ends(name, SUFFIX) || name.n >= sizeof recipe || e->d_name[0] == '.')
			continue;
		snprintf(
			recipe, sizeof recipe, "%.*s", (int)(name.n - (sizeof SUFFIX - 1)), name.p);
		rc = before_load(state, recipe, &doc, NULL);
		json_array_foreach(before_entries(doc), i, entry) note_needed(entry, needed);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static void sweep_blobs(int state)
{
	AUTO_JSON needed = json_object();
	DIR *dir = collect_needed(state, needed) < 0 ? NULL : open_list(state, BLOBS);

	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (hash_is_hex(e->d_name) && !json_get(needed, e->d_name))
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
}

/* --- files --- */

static int make_folder(int state, const char *path, struct err *err)
{
	if (mkdirat(state, path, 0700) < 0 && errno != EEXIST)
		return err_sys(
			err, errno, "cannot make the folder '%s' of the agent's state", path);
	return 0;
}

int before_open_blobs(int state, struct err *err)
{
	int rc = make_folder(state, FOLDER, err);

	if (rc == 0)
		rc = make_folder(state, BLOBS, err);
	return rc < 0 ? rc : fs_open(state, BLOBS, O_RDONLY | O_DIRECTORY, 0, false, err);
}

static int write_doc(int state, const char *recipe, json_t *doc, struct err *err)
{
	char path[PATH_MAX_BYTES];
	AUTO_BUF text = {0};

	doc_path(recipe, path);
	if (json_array_size(before_entries(doc)) == 0)
		return fs_remove(state, path, false, err);
	buf_init(&text, TEXT_MAX);
	json_write(doc, &text);
	if (!buf_ok(&text))
		return err_set(
			err, E_LIMIT, "what recipe '%s' changed is too much to be kept", recipe);
	return fs_replace(state, path, buf_str(&text), 0600, geteuid(), getegid(), err);
}

static int write_changed(const struct fold *f, struct err *err)
{
	const char *recipe;
	json_t *doc;
	bool changed = false;
	int rc = 0;

	json_object_foreach(f->docs, recipe, doc)
	{
		if (json_equal(doc, json_get(f->were, recipe)))
			continue;
		if (!changed)
			rc = make_folder(f->state, FOLDER, err);
		changed = true;
		if (rc < 0 || (rc = write_doc(f->state, recipe, doc, err)) < 0)
			return rc;
	}
	/* Also when nothing changed: this may be the repetition of a fold that was cut off here. */
	sweep_blobs(f->state);
	return 0;
}

int before_fold(int state, const char *run, struct err *err)
{
	struct fold f = {.state = state,
		.run = run,
		.docs = json_object(),
		.were = json_object(),
		.begun = json_object()};
	int rc = journal_read(state, run, 0, see, &f, err);

	if (rc == 0)
		rc = write_changed(&f, err);
	json_decref(f.begun);
	json_decref(f.docs);
	json_decref(f.were);
	if (rc == -E_NOTFOUND) /* a run that changed nothing, or a folder cleared by hand */
		return 0;
	return rc < 0 ? err_wrap(err, "what run '%s' changed cannot be kept for undo", run) : 0;
}
