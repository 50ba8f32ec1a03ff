#include "agent/step/pgp.h"

#include "agent/base/err.h"
#include "agent/base/hash.h"

#include <ctype.h>
#include <string.h>

#define BEGIN "-----BEGIN PGP PUBLIC KEY BLOCK-----"
#define END   "-----END PGP PUBLIC KEY BLOCK-----"

enum {
	TAG_SECRET_KEY = 5,
	TAG_PUBLIC_KEY = 6,
	TAG_SECRET_SUBKEY = 7
};

bool pgp_is_armored(struct str text)
{
	return str_find_str(text, STR_LIT(BEGIN)) != STR_NONE;
}

static int base64_value(char c)
{
	static const char DIGITS[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(DIGITS, c) : NULL;

	return at ? (int)(at - DIGITS) : -1;
}

/* One line of base64; false for a character that is none. bits and held carry over lines. */
static bool decode_line(struct str line, unsigned *bits, unsigned *held, struct buf *out)
{
	for (size_t i = 0; i < line.n && line.p[i] != '='; i++) {
		const int v = base64_value(line.p[i]);

		if (v < 0)
			return false;
		*bits = *bits << 6 | (unsigned)v;
		*held += 6;
		if (*held >= 8) {
			*held -= 8;
			buf_add_char(out, (char)(*bits >> *held & 0xff));
		}
	}
	return true;
}

static int torn(struct err *err)
{
	err_set(err, E_SYNTAX, "the key file is damaged");
	return err_hint(err, "export it again: gpg --export --armor FINGERPRINT");
}

/* One block behind its BEGIN line: headers up to a blank line, base64, "=CRC", END. */
static int decode_block(struct str *rest, struct buf *out, struct err *err)
{
	unsigned bits = 0, held = 0;
	bool body = false;
	struct str line;

	while (str_line(rest, &line)) {
		line = str_trim(line);
		if (str_is(line, END))
			return 0;
		if (!body) {
			body = line.n == 0;
			continue;
		}
		if (line.n > 0 && line.p[0] == '=')
			continue;
		if (!decode_line(line, &bits, &held, out))
			return torn(err);
	}
	return torn(err);
}

int pgp_dearmor(struct str text, struct buf *out, struct err *err)
{
	struct str line;
	int rc = 0;

	while (rc == 0 && str_line(&text, &line))
		if (str_is(str_trim(line), BEGIN))
			rc = decode_block(&text, out, err);
	return rc;
}

/* --- packets --- */

struct packet {
	unsigned tag;
	struct str body;
	size_t size; /* with its head */
};

static size_t number(struct str s, size_t at, size_t bytes)
{
	size_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | (unsigned char)s.p[at + i];
	return v;
}

/* Head and length of the old form, then of the new; 0 when it is neither. */
static size_t old_head(struct str s, size_t *len)
{
	const size_t bytes = (size_t)1 << (s.p[0] & 3);

	if (bytes > 4 || s.n < 1 + bytes)
		return 0;
	*len = number(s, 1, bytes);
	return 1 + bytes;
}

static size_t new_head(struct str s, size_t *len)
{
	const unsigned first = s.n > 1 ? (unsigned char)s.p[1] : 255;

	if (first < 192) {
		*len = first;
		return 2;
	}
	if (first < 224 && s.n > 2) {
		*len = ((first - 192) << 8) + (unsigned char)s.p[2] + 192;
		return 3;
	}
	if (first == 255 && s.n > 5) {
		*len = number(s, 2, 4);
		return 6;
	}
	return 0;
}

static bool read_packet(struct str s, struct packet *p)
{
	const unsigned head = s.n > 0 ? (unsigned char)s.p[0] : 0;
	const bool is_new = head & 0x40;
	size_t start, len = 0;

	if (!(head & 0x80))
		return false;
	start = is_new ? new_head(s, &len) : old_head(s, &len);
	if (start == 0 || len > s.n - start)
		return false;
	p->tag = is_new ? head & 0x3f : head >> 2 & 0xf;
	p->body = str_first(str_from(s, start), len);
	p->size = start + len;
	return true;
}

static bool fingerprint(struct str body, char out[static 65])
{
	const unsigned version = body.n > 0 ? (unsigned char)body.p[0] : 0;
	char hex[HASH_HEX];
	AUTO_BUF text;

	buf_init(&text, PGP_MAX + 8);
	if (version == 4) {
		buf_add_char(&text, (char)0x99);
	} else if (version == 6) {
		buf_add_char(&text, (char)0x9b);
		buf_add_char(&text, (char)(body.n >> 24 & 0xff));
		buf_add_char(&text, (char)(body.n >> 16 & 0xff));
	} else {
		return false;
	}
	buf_add_char(&text, (char)(body.n >> 8 & 0xff));
	buf_add_char(&text, (char)(body.n & 0xff));
	buf_add_str(&text, body);
	if (version == 4) {
		hash_sha1_hex(buf_str(&text), out);
		return true;
	}
	hash_hex(buf_str(&text), hex);
	for (size_t i = 0; i < HASH_HEX; i++)
		out[i] = (char)toupper((unsigned char)hex[i]);
	return true;
}

static int walk(struct str bytes, struct pgp_keys *out, struct err *err)
{
	struct packet p;

	for (size_t at = 0; at < bytes.n; at += p.size) {
		struct pgp_key *key;

		if (!read_packet(str_from(bytes, at), &p))
			return torn(err);
		if (p.tag == TAG_SECRET_KEY || p.tag == TAG_SECRET_SUBKEY) {
			err_set(err, E_SCHEMA, "the key file holds a secret key");
			return err_hint(
				err, "give the public one: gpg --export --armor FINGERPRINT");
		}
		if (p.tag == TAG_PUBLIC_KEY) {
			key = vec_push(out);
			key->start = at;
			if (!fingerprint(p.body, key->fingerprint))
				return err_set(err, E_UNSUPPORTED,
					"the key file holds a key of an unknown version");
		} else if (out->n == 0) {
			return torn(err);
		}
		out->at[out->n - 1].end = at + p.size;
	}
	return out->n > 0 ? 0 : torn(err);
}

int pgp_read(struct str text, struct pgp_keys *out, struct err *err)
{
	AUTO_BUF bytes;
	int rc;

	buf_init(&bytes, PGP_MAX);
	if (!pgp_is_armored(text))
		return walk(text, out, err);
	rc = pgp_dearmor(text, &bytes, err);
	return rc < 0 ? rc : walk(buf_str(&bytes), out, err);
}

static bool is_id(const struct pgp_key *key, const char *id)
{
	return str_ends(str_of(key->fingerprint), id) && strlen(id) >= 16;
}

bool pgp_drop(struct str bytes, const char *id, struct buf *out)
{
	struct pgp_keys keys = VEC_INIT;
	bool found = false;
	size_t at = 0;

	if (!pgp_is_armored(bytes) && walk(bytes, &keys, NULL) == 0)
		vec_each(&keys, struct pgp_key, k) {
			if (!is_id(k, id))
				continue;
			buf_add(out, bytes.p + at, k->start - at);
			at = k->end;
			found = true;
		}
	if (found)
		buf_add_str(out, str_from(bytes, at));
	vec_done(&keys);
	return found;
}

/* --- against what a recipe says --- */

/* Blanks out, letters upper; false when it is no fingerprint. */
static bool clean_fingerprint(struct str s, char out[static 65])
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == ' ')
			continue;
		if (n == 64 || !isxdigit((unsigned char)s.p[i]))
			return false;
		out[n++] = (char)toupper((unsigned char)s.p[i]);
	}
	out[n] = '\0';
	return n == 40 || n == 64;
}

static const struct pgp_key *find_key(const struct pgp_keys *keys, const char *fingerprint)
{
	vec_each(keys, struct pgp_key, k)
		if (strcmp(k->fingerprint, fingerprint) == 0)
			return k;
	return NULL;
}

static bool is_wanted(const char *wanted, const struct pgp_key *key)
{
	struct str rest = str_of(wanted), one;
	char clean[65];

	while (str_next(&rest, ',', &one))
		if (clean_fingerprint(one, clean) && strcmp(clean, key->fingerprint) == 0)
			return true;
	return false;
}

static int compare(const struct pgp_keys *keys, const char *wanted, struct err *err)
{
	struct str rest = str_of(wanted), one;
	char clean[65];

	while (str_next(&rest, ',', &one)) {
		if (!clean_fingerprint(one, clean)) {
			err_set(err, E_SCHEMA, "'" STR_FMT "' is not a fingerprint",
				STR_ARG(str_first(str_trim(one), 80)));
			return err_hint(err, "expected all 40 hex digits: gpg --show-keys FILE");
		}
		if (find_key(keys, clean))
			continue;
		err_set(err, E_VERIFY, "the key has fingerprint %s, expected %s",
			keys->at[0].fingerprint, clean);
		return err_hint(err, "compare with what the repository's owner publishes");
	}
	vec_each(keys, struct pgp_key, k) {
		if (is_wanted(wanted, k))
			continue;
		err_set(err, E_VERIFY, "the key file also holds key %s", k->fingerprint);
		return err_hint(err, "take it out of the file, or name it in 'fingerprint' too");
	}
	return 0;
}

int pgp_check(struct str text, const char *wanted, struct err *err)
{
	struct pgp_keys keys = VEC_INIT;
	int rc = pgp_read(text, &keys, err);

	if (rc == 0 && wanted)
		rc = compare(&keys, wanted, err);
	vec_done(&keys);
	return rc;
}
