/* sources, pgp - apt's lists of sources and OpenPGP key files, read and changed as texts. */
#include "agent/base/err.h"
#include "agent/step/pgp.h"
#include "agent/step/sources.h"
#include "tests/unit/step/keys.h"
#include "tests/unit/t.h"

static struct source_rows read_rows(const char *text, const char *path)
{
	struct source_rows rows = VEC_INIT;

	sources_read(str_of(text), path, &rows);
	return rows;
}

static void same(struct str is, const char *wanted)
{
	if (!str_is(is, wanted))
		fail_msg("'" STR_FMT "', expected '%s'", STR_ARG(is), wanted);
}

TEST(sources_one_line)
{
	struct source_rows r = read_rows(
		"# deb http://commented x y\n"
		"deb http://a/b/ stable main  contrib # why\n\n"
		"deb-src [ arch=amd64,i386 signed-by=/k.gpg trusted=yes ] http://c ./\n"
		"deb [signed-by=/k] cdrom:[x] y z\nrpm http://a b c\ndeb [arch=x http://a b c\n"
		"deb http://only\n" SOURCES_OFF
		"cuda: deb http://off / \ndeb\thttp://tab\tsid\tmain",
		"/etc/apt/sources.list");

	assert_int_equal(r.n, 5);
	same(r.at[0].uris, "http://a/b/");
	same(r.at[0].components, "main  contrib");
	same(r.at[1].types, "deb-src");
	same(r.at[1].architectures, "amd64,i386");
	same(r.at[1].signed_by, "/k.gpg");
	same(r.at[1].suites, "./");
	assert_true(r.at[1].enabled && !r.at[1].stanza);
	same(r.at[2].uris, "cdrom:[x]");
	same(r.at[3].off_by, "cuda");
	assert_false(r.at[3].enabled);
	same(r.at[4].components, "main");
	vec_done(&r);
}

static const char STANZAS[] = "# head\nTypes: deb deb-src\nURIs: http://a\n http://b\n"
			      "Suites: x x-updates\nComponents: main\n# between\n contrib\n"
			      "Signed-By:\n -----BEGIN-----\n .\n abc\n\n\n"
			      "types: deb\nuris: http://c\nSUITES: /\nenabled: No\n \n"
			      "Types: deb\nURIs: http://no-suites\n\nnonsense\n\n"
			      "Types: deb\nURIs: http://d\nSuites: s\nComponents: m";

TEST(sources_deb822)
{
	struct source_rows r = read_rows(STANZAS, "/x/a.sources");

	assert_int_equal(r.n, 3);
	assert_true(sources_has_words(r.at[0].uris, STR_LIT("http://b http://a")));
	assert_true(sources_has_words(r.at[0].suites, STR_LIT("x-updates")));
	assert_true(sources_has_words(r.at[0].components, STR_LIT("contrib")));
	assert_true(r.at[0].signed_by.n > 10);
	same(r.at[1].suites, "/");
	assert_false(r.at[1].enabled);
	same(r.at[2].components, "m");
	assert_int_equal(r.at[2].end, sizeof STANZAS - 1);
	vec_done(&r);
}

static void switched(const char *text, const char *path, size_t n, const char *wanted)
{
	struct source_rows r = read_rows(text, path);
	struct source_rows again;
	struct buf out;

	buf_init(&out, 4096);
	sources_switch_off(str_of(text), &r.at[n], "cuda", &out);
	assert_string_equal(buf_text(&out), wanted);
	again = read_rows(buf_text(&out), path);
	assert_int_equal(again.n, r.n);
	assert_false(again.at[n].enabled);
	same(again.at[n].off_by, "cuda");
	buf_done(&out);
	vec_done(&again);
	vec_done(&r);
}

TEST(sources_switch_off_one)
{
	switched("deb http://a x y\ndeb http://b x y\n", "a.list", 1,
		"deb http://a x y\n# switched off by stoika repo cuda: deb http://b x y\n");
	switched(
		"Types: deb\nURIs: a:/\nSuites: /\nEnabled: yes\n\nTypes: deb\nURIs: b:/\nSuites: /",
		"a.sources", 0,
		"# switched off by stoika repo cuda:\nTypes: deb\nURIs: a:/\nSuites: /\nEnabled: no\n\n"
		"Types: deb\nURIs: b:/\nSuites: /");
}

static const struct {
	const char *a, *b;
	bool same;
} URIS[] = {
	{"https://Host/a/", "HTTPS://host/a", true},
	{"https://host/A", "https://host/a", false},
	{"http://host/a", "https://host/a", false},
	{"https://host", "https://HOST//", true},
	{"file:/srv/x/", "file:/srv/x", true},
	{"file:/srv/X", "file:/srv/x", false},
	{"", "/", true},
};

TEST(sources_compare_addresses)
{
	for (size_t i = 0; i < sizeof URIS / sizeof URIS[0]; i++)
		if (sources_same_uri(str_of(URIS[i].a), str_of(URIS[i].b)) != URIS[i].same)
			fail_msg("'%s' and '%s'", URIS[i].a, URIS[i].b);
	assert_true(sources_same_suite(STR_LIT("./"), STR_LIT("/")));
	assert_false(sources_same_suite(STR_LIT("stable"), STR_LIT("stable/")));
}

/* --- keys --- */

TEST(pgp_knows_fingerprints)
{
	struct pgp_keys keys = VEC_INIT;
	struct buf bytes;
	struct err err;

	assert_int_equal(pgp_read(STR_LIT(KEY_ONE KEY_TWO), &keys, &err), 0);
	assert_int_equal(keys.n, 2);
	assert_string_equal(keys.at[0].fingerprint, KEY_ONE_ID);
	assert_string_equal(keys.at[1].fingerprint, KEY_TWO_ID);
	vec_done(&keys);
	buf_init(&bytes, PGP_MAX);
	assert_int_equal(pgp_dearmor(STR_LIT(KEY_ONE), &bytes, &err), 0);
	assert_int_equal(pgp_read(buf_str(&bytes), &keys, &err), 0);
	assert_string_equal(keys.at[0].fingerprint, KEY_ONE_ID);
	vec_done(&keys);
	/* every cut of it is damaged, none is misread */
	for (size_t n = 0; n < bytes.n; n++) {
		if (pgp_read(str_first(buf_str(&bytes), n), &keys, &err) == 0)
			assert_string_equal(keys.at[0].fingerprint, KEY_ONE_ID);
		vec_done(&keys);
	}
	buf_done(&bytes);
}

TEST(pgp_drops_one_key_of_a_ring)
{
	struct buf ring, one, two, out;
	struct err err;

	buf_init(&ring, PGP_MAX);
	buf_init(&one, PGP_MAX);
	buf_init(&two, PGP_MAX);
	buf_init(&out, PGP_MAX);
	assert_int_equal(pgp_dearmor(STR_LIT(KEY_ONE KEY_TWO), &ring, &err), 0);
	assert_int_equal(pgp_dearmor(STR_LIT(KEY_ONE), &one, &err), 0);
	assert_int_equal(pgp_dearmor(STR_LIT(KEY_TWO), &two, &err), 0);
	assert_true(pgp_drop(buf_str(&ring), KEY_ONE_ID + 24, &out));
	assert_true(str_eq(buf_str(&out), buf_str(&two)));
	buf_clear(&out);
	assert_true(pgp_drop(buf_str(&ring), KEY_TWO_ID, &out));
	assert_true(str_eq(buf_str(&out), buf_str(&one)));
	buf_clear(&out);
	assert_false(pgp_drop(buf_str(&ring), "F60F4B3D7FA2AF80", &out));
	assert_false(pgp_drop(buf_str(&ring), "16A65B6C", &out)); /* too short to mean one key */
	assert_false(pgp_drop(STR_LIT("no ring"), KEY_ONE_ID, &out));
	assert_int_equal(out.n, 0);
	buf_done(&ring);
	buf_done(&one);
	buf_done(&two);
	buf_done(&out);
}

static const struct {
	const char *text, *wanted;
	int code;
	const char *msg;
} KEYS[] = {
	{KEY_ONE, NULL, 0, ""},
	{KEY_ONE, KEY_ONE_ID, 0, ""},
	{KEY_ONE, "c125 39f5 6055 2c84 1f56  a640 0911 a0b6 16a6 5b6c", 0, ""},
	{KEY_ONE KEY_TWO, KEY_TWO_ID ", " KEY_ONE_ID, 0, ""},
	{KEY_ONE, KEY_TWO_ID, E_VERIFY,
		"the key has fingerprint " KEY_ONE_ID ", expected " KEY_TWO_ID},
	{KEY_ONE KEY_TWO, KEY_ONE_ID, E_VERIFY, "the key file also holds key " KEY_TWO_ID},
	{KEY_ONE, "16A65B6C", E_SCHEMA, "'16A65B6C' is not a fingerprint"},
	{"<html>404</html>", NULL, E_SYNTAX, "the key file is damaged"},
	{"", NULL, E_SYNTAX, "the key file is damaged"},
	{"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME", NULL, E_SYNTAX, "the key file is damaged"},
	{"\xc5\x01\x04", NULL, E_SCHEMA, "the key file holds a secret key"},
	{"\xc6\x01\x03", NULL, E_UNSUPPORTED, "the key file holds a key of an unknown version"},
};

TEST(pgp_checks_what_a_recipe_says)
{
	for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
		struct err err = {.code = E_INTERNAL};
		const int rc = pgp_check(str_of(KEYS[i].text), KEYS[i].wanted, &err);

		if (rc != -KEYS[i].code || strcmp(err.msg, KEYS[i].msg) != 0)
			fail_msg("case %zu: %d %s", i, rc, err.msg);
	}
}

T_MAIN
