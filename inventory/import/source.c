#include "inventory/import/source.h"

#include "agent/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_DEEP 3
#define LABEL_MAX    64

void sources_init(struct sources *s, struct err_list *errors, struct losses *losses)
{
	*s = (struct sources){
		.arena = arena_new(), .errors = errors, .losses = losses, .next_line = 1};
}

void sources_done(struct sources *s)
{
	if (!s)
		return;
	vec_done(&s->files);
	arena_free(s->arena);
	s->arena = NULL;
}

/* --- files --- */

/* "dcim/Power_Feeds.csv" gives "power-feeds". */
static const char *stem_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	char *stem = arena_text(a, str_first(str_of(base), dot ? (size_t)(dot - base) : SIZE_MAX));

	for (char *p = stem; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
		else if (*p == '_' || *p == ' ')
			*p = '-';
	}
	return stem;
}

static const char *folder_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return "";
	return stem_of(a, arena_text(a, str_first(str_of(path), (size_t)(slash - path))));
}

static unsigned count_lines(struct str text)
{
	unsigned n = 1;
	const char *p = text.p, *end = text.p + text.n;

	while (p && p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		n++;
	}
	return n;
}

struct source_file *sources_add_text(struct sources *s, const char *path, struct str text)
{
	struct source_file *f = vec_push(&s->files);

	*f = (struct source_file){.path = arena_strdup(s->arena, path),
		.stem = stem_of(s->arena, path),
		.folder = folder_of(s->arena, path),
		.text = arena_str(s->arena, text),
		.first = s->next_line};
	s->next_line += count_lines(text);
	s->bytes += text.n;
	return f;
}

static int read_fd(int fd, const char *path, struct buf *out, struct err *err)
{
	for (;;) {
		void *room = buf_room(out, 1 << 16);
		ssize_t n;

		if (!room)
			return err_at(err, E_LIMIT, path, 0, 0,
				"longer than the %zu MiB that are read", SOURCE_BYTES_MAX >> 20);
		n = read(fd, room, 1 << 16);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read '%s'", path);
		if (n == 0)
			return 0;
		buf_grew(out, (size_t)n);
	}
}

static int read_file(struct sources *s, const char *path, const struct stat *st, struct err *err)
{
	AUTO_BUF text = {0};
	int fd, rc;

	buf_init(&text, SOURCE_BYTES_MAX + (2 << 16));
	if (!S_ISREG(st->st_mode))
		return err_set(err, E_UNSUPPORTED, "'%s' is neither a file nor a folder", path);
	if ((size_t)st->st_size > SOURCE_BYTES_MAX)
		return err_at(err, E_LIMIT, path, 0, 0, "longer than the %zu MiB that are read",
			SOURCE_BYTES_MAX >> 20);
	if (s->files.n >= SOURCE_FILES_MAX || s->bytes + (size_t)st->st_size > SOURCE_TOTAL_MAX)
		return err_at(err, E_LIMIT, path, 0, 0,
			"more than %d files or %zu MiB in one import", SOURCE_FILES_MAX,
			SOURCE_TOTAL_MAX >> 20);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	rc = read_fd(fd, path, &text, err);
	close(fd);
	if (rc == 0)
		sources_add_text(s, path, buf_str(&text));
	return rc;
}

static bool has_ending(const char *name, const char *const *endings)
{
	const struct str lower = str_of(name);
	char tail[16];

	for (; *endings; endings++) {
		const size_t n = strlen(*endings);

		if (lower.n <= n || n >= sizeof tail)
			continue;
		for (size_t i = 0; i < n; i++)
			tail[i] = (char)(lower.p[lower.n - n + i] | 0x20);
		if (memcmp(tail + 1, *endings + 1, n - 1) == 0 && lower.p[lower.n - n] == '.')
			return true;
	}
	return false;
}

static int compare_paths(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return model_compare_names(*x, *y);
}

static int list_folder(
	struct sources *s, const char *path, struct model_names *out, struct err *err)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return err_sys(err, errno, "cannot open the folder '%s'", path);
	while ((entry = readdir(dir)) && out->n <= 2 * SOURCE_FILES_MAX)
		if (entry->d_name[0] != '.')
			*vec_push(out) = arena_printf(s->arena, "%s/%s", path, entry->d_name);
	closedir(dir);
	vec_sort(out, compare_paths);
	return 0;
}

static int read_path(struct sources *s, const char *path, const char *const *endings, int depth,
	struct err *err);

static int read_folder(
	struct sources *s, const char *path, const char *const *endings, int depth, struct err *err)
{
	struct model_names names = VEC_INIT;
	int rc = list_folder(s, path, &names, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = read_path(s, names.at[i], endings, depth + 1, err);
	vec_done(&names);
	return rc;
}

static int read_path(
	struct sources *s, const char *path, const char *const *endings, int depth, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	if (S_ISDIR(st.st_mode))
		return depth > FOLDERS_DEEP ? 0 : read_folder(s, path, endings, depth, err);
	if (depth > 0 && !has_ending(path, endings))
		return 0;
	return read_file(s, path, &st, err);
}

int sources_read(struct sources *s, const char *path, const char *const *endings, struct err *err)
{
	int rc = read_path(s, path, endings, 0, err);

	if (rc == 0 && s->files.n == 0) {
		err_set(err, E_NOTFOUND, "the folder '%s' has nothing to import", path);
		return err_hint(err, "its files must end in %s%s%s", endings[0],
			endings[1] ? " or " : "", endings[1] ? endings[1] : "");
	}
	return rc;
}

/* --- errors --- */

const struct source_file *sources_file(const struct sources *s, unsigned line)
{
	size_t lo = 0, hi = s->files.n;

	if (line == 0)
		return NULL;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->files.at[mid].first <= line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &s->files.at[lo - 1] : NULL;
}

void source_fault_err(struct sources *s, const struct err *err)
{
	s->errors->total++;
	if (s->errors->list.n < IMPORT_ERRORS_MAX)
		*vec_push(&s->errors->list) = *err;
}

void source_fault(struct sources *s, const struct yaml_node *at, enum ec code, const char *hint,
	const char *fmt, ...)
{
	struct err err = {0};
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_at(&err, code, "-", at ? at->line : 0, at ? at->col : 0, "%s", msg);
	if (hint && *hint)
		err_hint(&err, "%s", hint);
	source_fault_err(s, &err);
}

static struct str line_text(const struct source_file *f, unsigned line)
{
	struct str rest = f->text, text = {"", 0};

	for (unsigned i = 0; i < line; i++)
		if (!str_line(&rest, &text))
			return (struct str){"", 0};
	return text;
}

/* "(line 812)" in a message is of the row of all files; says it as file and line. */
static void place_words(const struct sources *s, const char *file, char *text, size_t room)
{
	char *at = strstr(text, "(line ");
	const struct source_file *f;
	char rest[400];
	uint64_t line;
	char *end = at ? strchr(at, ')') : NULL;

	if (!end || !str_to_u64((struct str){at + 6, (size_t)(end - at) - 6}, &line))
		return;
	f = sources_file(s, (unsigned)line);
	if (!f)
		return;
	snprintf(rest, sizeof rest, "%s", end);
	if (strcmp(f->path, file) == 0)
		snprintf(at, room - (size_t)(at - text), "(line %u%s",
			(unsigned)line - f->first + 1, rest);
	else
		snprintf(at, room - (size_t)(at - text), "(%s, line %u%s", f->path,
			(unsigned)line - f->first + 1, rest);
}

static int compare_errors(const void *a, const void *b)
{
	const struct err *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->col < y->col ? -1 : x->col > y->col;
}

void sources_finish(struct sources *s)
{
	vec_sort(&s->errors->list, compare_errors);
	vec_each(&s->errors->list, struct err, e) {
		const struct source_file *f = sources_file(s, e->line);
		struct str text;

		if (!f) {
			if (strcmp(e->file, "-") == 0)
				e->file[0] = '\0';
			continue;
		}
		snprintf(e->file, sizeof e->file, "%s", f->path);
		place_words(s, f->path, e->msg, sizeof e->msg);
		e->line = e->line - f->first + 1;
		text = line_text(f, e->line);
		err_excerpt(e, text.p, text.n);
	}
}

/* --- trees --- */

struct yaml_node *tree_new(struct sources *s, enum yaml_kind kind, unsigned line, unsigned col)
{
	struct yaml_node *n;

	if (s->nodes++ >= SOURCE_NODES_MAX) {
		if (s->nodes == SOURCE_NODES_MAX + 1)
			source_fault(s, &(struct yaml_node){.line = line, .col = col}, E_LIMIT,
				"import it site by site", "the files have more than %d values",
				SOURCE_NODES_MAX);
		return NULL;
	}
	n = arena_alloc(s->arena, sizeof *n);
	n->kind = kind;
	n->line = line;
	n->col = col;
	n->text = (struct str){"", 0};
	return n;
}

struct yaml_node *tree_map(struct sources *s, const struct yaml_node *at)
{
	return tree_new(s, YAML_MAP, at ? at->line : 0, at ? at->col : 0);
}

struct yaml_node *tree_list(struct sources *s, const struct yaml_node *at)
{
	return tree_new(s, YAML_LIST, at ? at->line : 0, at ? at->col : 0);
}

struct yaml_node *tree_text(struct sources *s, const struct yaml_node *at, struct str text)
{
	struct yaml_node *n = tree_new(s, YAML_SCALAR, at ? at->line : 0, at ? at->col : 0);

	if (n)
		n->text = arena_str(s->arena, text);
	return n;
}

/* Arrays grow when the count reaches a power of two, so that a node needs no room of its own. */
static struct yaml_node **grown(struct sources *s, struct yaml_node **old, unsigned n)
{
	struct yaml_node **at = old;

	if (n < 4 ? n == 0 : (n & (n - 1)) == 0) {
		at = arena_alloc(s->arena, (n ? 2 * (size_t)n : 4) * sizeof *at);
		if (n)
			memcpy(at, old, n * sizeof *at);
	}
	return at;
}

void tree_add(struct sources *s, struct yaml_node *list, struct yaml_node *item)
{
	if (!list || !item)
		return;
	list->item = grown(s, list->item, list->n);
	list->item[list->n++] = item;
}

void tree_put_key(
	struct sources *s, struct yaml_node *map, struct yaml_node *key, struct yaml_node *value)
{
	if (!map || !key || !value)
		return;
	map->key = grown(s, map->key, map->n);
	map->key[map->n] = key;
	map->item = grown(s, map->item, map->n);
	map->item[map->n++] = value;
}

void tree_put(struct sources *s, struct yaml_node *map, const char *key, struct yaml_node *value)
{
	if (value)
		tree_put_key(s, map, tree_text(s, value, str_of(key)), value);
}

void tree_put_text(struct sources *s, struct yaml_node *map, const char *key,
	const struct yaml_node *at, const char *text)
{
	if (text && *text)
		tree_put(s, map, key, tree_text(s, at, str_of(text)));
}

void tree_put_num(struct sources *s, struct yaml_node *map, const char *key,
	const struct yaml_node *at, double v)
{
	char text[40];

	if (isnan(v))
		return;
	snprintf(text, sizeof text, "%.10g", v);
	tree_put_text(s, map, key, at, text);
}

struct yaml_node *tree_list_of(struct sources *s, struct yaml_node *map, const char *key)
{
	struct yaml_node *list;

	if (!map)
		return NULL;
	for (unsigned i = 0; i < map->n; i++)
		if (str_is(map->key[i]->text, key))
			return map->item[i];
	list = tree_list(s, map);
	tree_put(s, map, key, list);
	return list;
}

/* --- names --- */

/* Russian letters from U+0430 on, as on a passport but without signs that a name cannot have. */
static const char *const LATIN[] = {"a", "b", "v", "g", "d", "e", "zh", "z", "i", "i", "k", "l",
	"m", "n", "o", "p", "r", "s", "t", "u", "f", "kh", "ts", "ch", "sh", "shch", "", "y", "",
	"e", "yu", "ya"};

/* The Latin of the two bytes at p, NULL when they are no Russian letter; *upper for a capital. */
static const char *latin_of(const char *p, bool *upper)
{
	const unsigned a = (unsigned char)p[0], b = (unsigned char)p[1];
	unsigned c = a == 0xd0 || a == 0xd1 ? ((a & 0x1fu) << 6 | (b & 0x3fu)) : 0;

	if (c == 0x401 || c == 0x451) {
		*upper = c == 0x401;
		return "e";
	}
	*upper = c >= 0x410 && c < 0x430;
	c += *upper ? 0x20 : 0;
	return c >= 0x430 && c < 0x450 ? LATIN[c - 0x430] : NULL;
}

static void spell_name(struct str text, struct buf *out)
{
	while (text.n > 0) {
		size_t n = str_utf8_length(text);
		bool upper = false;
		const char *latin = n == 2 ? latin_of(text.p, &upper) : NULL;
		const char c = text.p[0];

		n = n ? n : 1;
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(out->n > 0 && (c == '.' || c == '_' || c == '-')))
			buf_add_char(out, c);
		else if (latin && *latin) {
			buf_add_char(out, (char)(upper ? *latin - 'a' + 'A' : *latin));
			buf_add_text(out, latin + 1);
		} else if (!latin && out->n > 0 && out->p[out->n - 1] != '-')
			buf_add_char(out, '-');
		text = str_from(text, n);
	}
	while (out->n > 0 && out->p[out->n - 1] == '-')
		out->p[--out->n] = '\0';
}

const char *source_name(struct sources *s, const char *noun, const char *text)
{
	const char *name;
	AUTO_BUF out = {0};

	buf_init(&out, LABEL_MAX);
	if (str_is_name(str_of(text)))
		return text;
	spell_name(str_trim(str_of(text)), &out);
	name = arena_strdup(s->arena, buf_text(&out));
	if (*name && noun)
		loss_add(s->losses, LOSS_CHANGED, noun, "name", "'%.60s' is '%s' here", text, name);
	return name;
}

const char *source_label(struct sources *s, const char *noun, const char *text)
{
	const struct str whole = str_trim(str_of(text));
	struct str rest = whole;
	AUTO_BUF out = {0};
	const char *name;

	buf_init(&out, LABEL_MAX);
	while (rest.n > 0) {
		size_t n = str_utf8_length(rest);

		n = n ? n : 1;
		if (out.n + n > LABEL_MAX)
			break;
		if (n == 1 && ((unsigned char)*rest.p < ' ' || *rest.p == '/' || *rest.p == 0x7f))
			buf_add_char(&out, '-');
		else
			buf_add(&out, rest.p, n);
		rest = str_from(rest, n);
	}
	name = arena_text(s->arena, str_trim(buf_str(&out)));
	if (noun && strcmp(name, text) != 0)
		loss_add(s->losses, LOSS_CHANGED, noun, "name", "'%.60s' is '%s' here", text, name);
	return name;
}
