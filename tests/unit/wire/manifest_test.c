/* manifests: one canonical form, plain paths only, signature and expiry. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/sign.h"
#include "agent/wire/manifest.h"
#include "tests/unit/t.h"

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct manifest_file file(const char *path)
{
	struct manifest_file f = {.path = path, .size = 10, .mode = 0644};

	memcpy(f.sha256, SHA_A, HASH_HEX);
	return f;
}

static void format(struct buf *out, struct manifest_file *files, unsigned n, struct manifest *m)
{
	*m = (struct manifest){.name = "a,b",
		.serial = 4,
		.created = 1000,
		.expires = 2000,
		.n_files = n,
		.files = files};
	buf_clear(out);
	manifest_format(m, out);
	assert_true(buf_ok(out));
}

TEST(manifest_both_ways)
{
	struct manifest_file files[] = {
		file("b/recipe.yaml"), file("a/recipe.yaml"), file("a/files/x y")};
	struct arena *a = arena_new();
	struct manifest m, back;
	struct err err = {0};
	char digest[HASH_HEX];
	AUTO_BUF text;

	buf_init(&text, 1u << 20);
	format(&text, files, 3, &m);
	if (manifest_parse(a, buf_str(&text), &back, &err) < 0)
		fail_msg("%s", err.msg);
	hash_hex(buf_str(&text), digest);
	assert_string_equal(digest, m.digest);
	assert_string_equal(digest, back.digest);
	assert_string_equal(m.content, back.content);
	assert_string_equal(back.name, "a,b");
	assert_int_equal(back.n_files, 3);
	assert_int_equal(back.bytes, 30);
	assert_string_equal(back.files[0].path, "a/files/x y");
	assert_non_null(manifest_find(&back, "b/recipe.yaml"));
	assert_null(manifest_find(&back, "b"));
	assert_null(manifest_find(&back, ""));
	arena_free(a);
}

TEST(manifest_content_ignores_serial_and_times)
{
	struct manifest_file files[] = {file("a")};
	struct manifest one, two = {.name = "b",
				     .serial = 9,
				     .created = 5,
				     .expires = 6,
				     .n_files = 1,
				     .files = files};
	AUTO_BUF text;

	buf_init(&text, 1u << 20);
	format(&text, files, 1, &one);
	buf_clear(&text);
	manifest_format(&two, &text);
	assert_string_equal(one.content, two.content);
	assert_string_not_equal(one.digest, two.digest);
	files[0].mode = 0755;
	buf_clear(&text);
	manifest_format(&two, &text);
	assert_string_not_equal(one.content, two.content);
}

TEST(manifest_empty_set)
{
	struct arena *a = arena_new();
	struct manifest m, back;
	struct err err;
	AUTO_BUF text;

	buf_init(&text, 1u << 20);
	format(&text, NULL, 0, &m);
	assert_int_equal(manifest_parse(a, buf_str(&text), &back, &err), 0);
	assert_null(manifest_find(&back, "x"));
	arena_free(a);
}

static int parse(const char *text)
{
	struct arena *a = arena_new();
	struct manifest m;
	struct err err = {0};
	const int rc = manifest_parse(a, str_of(text), &m, &err);

	assert_true(rc == 0 || err.msg[0]);
	arena_free(a);
	return rc;
}

TEST(manifest_refuses_paths)
{
	static const char *const bad[] = {"", "/etc/passwd", "..", "a/../b", "a//b", "a/", "./a",
		"a/.", "a\nb", "a\\b", "a\x7f", "\xff\xfe"};
	char *deep = calloc(1, 2000);

	memset(deep, 'a', 1500);
	for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
		const char *path = i < sizeof bad / sizeof *bad ? bad[i] : deep;
		struct manifest_file files[] = {file(path)};
		struct manifest m;
		AUTO_BUF text;

		buf_init(&text, 1u << 20);
		format(&text, files, 1, &m);
		if (parse(buf_text(&text)) == 0)
			fail_msg("path '%s' was taken", path);
	}
	free(deep);
}

TEST(manifest_refuses_a_file_that_is_a_folder_too)
{
	struct manifest_file files[] = {file("a"), file("a-b"), file("a/b")};
	struct manifest m;
	AUTO_BUF text;

	buf_init(&text, 1u << 20);
	format(&text, files, 3, &m);
	assert_int_equal(parse(buf_text(&text)), -E_CONFLICT);
}

TEST(manifest_refuses_the_same_path_twice)
{
	struct manifest_file files[] = {file("a"), file("a")};
	struct manifest m;
	AUTO_BUF text;

	buf_init(&text, 1u << 20);
	format(&text, files, 2, &m);
	assert_int_equal(parse(buf_text(&text)), -E_SCHEMA);
}

/* Replaces the first from by to in a good manifest of one file. */
static int parse_changed(const char *from, const char *to)
{
	struct manifest_file files[] = {file("a")};
	struct manifest m;
	AUTO_BUF text, changed;

	buf_init(&text, 1u << 20);
	buf_init(&changed, 1u << 20);
	format(&text, files, 1, &m);

	const size_t at = str_find_str(buf_str(&text), str_of(from));

	assert_true(at != STR_NONE);
	buf_add_str(&changed, str_first(buf_str(&text), at));
	buf_add_text(&changed, to);
	buf_add_str(&changed, str_from(buf_str(&text), at + strlen(from)));
	return parse(buf_text(&changed));
}

TEST(manifest_refuses_changes)
{
	assert_int_equal(parse_changed("\"serial\":4", "\"serial\":4"), 0);
	assert_int_equal(parse_changed("\"size\":10", "\"size\":11"), -E_VERIFY);
	assert_int_equal(parse_changed("\"mode\":420", "\"mode\":4095"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"size\":10", "\"size\":-1"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"size\":10", "\"size\":9223372036854775807"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"sha256\":\"a", "\"sha256\":\"A"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"format\":1", "\"format\":2"), -E_UNSUPPORTED);
	assert_int_equal(parse_changed("\"serial\":4", "\"serial\": 4"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"serial\":4", "\"serial\":4,\"x\":1"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"serial\":4", "\"serial\":-4"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"expires\":2000", "\"expires\":999"), -E_SCHEMA);
	assert_int_equal(
		parse_changed("\"expires\":2000", "\"expires\":9223372036854775807"), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\"", "\"name\":\"a,a\""), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\"", "\"name\":\"b,a\""), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\"", "\"name\":\"a,\""), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\"", "\"name\":\",a\""), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\"", "\"name\":\"../a\""), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\",", ""), -E_SCHEMA);
	assert_int_equal(parse_changed("\"name\":\"a,b\"", "\"name\":\"a,ab\""), 0);
	assert_int_equal(parse_changed("\"files\":[", "\"files\":[7,"), -E_SCHEMA);
	assert_true(parse("") < 0);
	assert_true(parse("[]") < 0);
	assert_true(parse("{\"format\":1}") < 0);
}

TEST(manifest_check_signature_and_expiry)
{
	struct manifest_file files[] = {file("a")};
	struct sign_key *ours, *theirs;
	struct manifest m, other;
	struct err err;
	char sig[SIGN_TEXT_MAX];
	AUTO_BUF text, text2;

	buf_init(&text, 1u << 20);
	buf_init(&text2, 1u << 20);
	assert_int_equal(sign_key_make(&ours, &err), 0);
	assert_int_equal(sign_key_make(&theirs, &err), 0);
	format(&text, files, 1, &m);
	files[0].size++;
	format(&text2, files, 1, &other);
	assert_int_equal(sign_make(ours, buf_str(&text), sig, &err), 0);
	assert_int_equal(manifest_check(buf_str(&text), str_of(sig), ours, 1999, &m, &err), 0);
	assert_int_equal(
		manifest_check(buf_str(&text), str_of(sig), ours, 2000, &m, &err), -E_VERIFY);
	assert_true(err.hint[0] != '\0');
	assert_int_equal(
		manifest_check(buf_str(&text), str_of(sig), theirs, 1500, &m, &err), -E_VERIFY);
	assert_int_equal(
		manifest_check(buf_str(&text2), str_of(sig), ours, 1500, &other, &err), -E_VERIFY);
	assert_int_equal(
		manifest_check(buf_str(&text), str_of(sig), ours, 1500, &other, &err), -E_VERIFY);
	assert_int_equal(
		manifest_check(buf_str(&text), str_of(""), ours, 1500, &m, &err), -E_VERIFY);
	sign_key_free(ours);
	sign_key_free(theirs);
}

T_MAIN
