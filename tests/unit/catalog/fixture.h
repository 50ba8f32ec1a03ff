/* fixture - files whose second line "# expect: RULE..." tells what must be found in them. */
#pragma once

#include "agent/base/buf.h"
#include "tests/unit/t.h"

#include <dirent.h>

#define RULES_MAX 32

struct rules {
	unsigned n;
	char at[RULES_MAX][32];
};

static inline int compare_rules(const void *a, const void *b)
{
	return strcmp(a, b);
}

static inline void rules_add(struct rules *r, const char *rule)
{
	for (unsigned i = 0; i < r->n; i++)
		if (strcmp(r->at[i], rule) == 0)
			return;
	assert_true(r->n < RULES_MAX);
	snprintf(r->at[r->n++], sizeof r->at[0], "%s", rule);
}

static inline void rules_text(struct rules *r, struct buf *out)
{
	qsort(r->at, r->n, sizeof r->at[0], compare_rules);
	for (unsigned i = 0; i < r->n; i++)
		buf_addf(out, "%s%s", i ? " " : "", r->at[i]);
}

/* What the file expects, sorted. */
static inline void rules_of_file(const char *path, struct buf *out)
{
	static const char mark[] = "# expect:";
	AUTO_BUF text = {0};
	struct rules rules = {0};
	struct str rest, line, word;
	FILE *f = fopen(path, "re");
	void *to;

	buf_init(&text, 1 << 20);
	to = buf_room(&text, 1 << 16);
	assert_non_null(f);
	assert_non_null(to);
	buf_grew(&text, fread(to, 1, 1 << 16, f));
	fclose(f);
	rest = buf_str(&text);
	while (str_line(&rest, &line) && !str_starts(line, mark))
		;
	assert_true(str_starts(line, mark));
	line = str_trim(str_from(line, sizeof mark - 1));
	while (str_next(&line, ' ', &word)) {
		char rule[32];

		snprintf(rule, sizeof rule, STR_FMT, STR_ARG(word));
		rules_add(&rules, rule);
	}
	rules_text(&rules, out);
}

/* Calls judge for each file of a folder beside the test, and compares. */
static inline void rules_check_folder(
	const char *name, unsigned files, void (*judge)(const char *path, struct rules *found))
{
	char dir[512], path[1024];
	const struct dirent *e;
	unsigned seen = 0;
	DIR *d;

	snprintf(dir, sizeof dir, TEST_DIR "/%s", name);
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		AUTO_BUF want = {0}, got = {0};
		struct rules found = {0};

		if (e->d_name[0] == '.')
			continue;
		buf_init(&want, 4096);
		buf_init(&got, 4096);
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		rules_of_file(path, &want);
		judge(path, &found);
		rules_text(&found, &got);
		if (strcmp(buf_text(&want), buf_text(&got)) != 0)
			fail_msg("%s: expected '%s', found '%s'", e->d_name, buf_text(&want),
				buf_text(&got));
		seen++;
	}
	closedir(d);
	assert_true(seen >= files);
}
