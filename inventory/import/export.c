/* export - canonical YAML: sections and keys in a fixed order, rows in the model's. */
#include "agent/base/mem.h"
#include "inventory/import/export_priv.h"
#include "inventory/import/import.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- scalars --- */

/* Read back as the same text by any YAML reader's grammar, in flow maps too. */
static bool is_plain(const char *s)
{
	const size_t n = strlen(s);

	if (!isalnum((unsigned char)s[0]) || s[n - 1] == ' ')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._/+-", s[i]) &&
			!(s[i] == ' ' && s[i + 1] != ' '))
			return false;
	return true;
}

/* The code point at s and its length; the text is UTF-8, import and store see to that. */
static unsigned decode(const char *s, int *n)
{
	const unsigned char *p = (const unsigned char *)s;

	*n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	for (int i = 1; i < *n; i++)
		if ((p[i] & 0xc0) != 0x80)
			*n = 1;
	if (*n == 1)
		return p[0];
	if (*n == 2)
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	if (*n == 3)
		return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	return 0x10000; /* never in need of an escape */
}

/* What libyaml would refuse, or fold as a line break. */
static bool needs_escape(unsigned c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

void export_quoted(struct buf *out, const char *text)
{
	int n;

	buf_add_char(out, '"');
	for (; *text; text += n) {
		const unsigned c = decode(text, &n);

		if (c == '"' || c == '\\')
			buf_addf(out, "\\%c", (char)c);
		else if (c == '\n')
			buf_add_text(out, "\\n");
		else if (c == '\t')
			buf_add_text(out, "\\t");
		else if (needs_escape(c))
			buf_addf(out, "\\u%04X", c);
		else
			buf_add(out, text, (size_t)n);
	}
	buf_add_char(out, '"');
}

void export_text(struct buf *out, const char *text)
{
	if (*text && is_plain(text))
		buf_add_text(out, text);
	else
		export_quoted(out, text);
}

void export_num(struct buf *out, double v)
{
	char text[40];
	double back;

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (str_to_f64(str_of(text), &back) && back >= v && back <= v)
			break;
	}
	buf_add_text(out, text);
}

static void flow_key(struct flow *f, const char *key)
{
	buf_addf(f->out, "%s%s: ", f->n++ ? ", " : "", key);
}

void flow_text(struct flow *f, const char *key, const char *v)
{
	if (!v)
		return;
	flow_key(f, key);
	export_text(f->out, v);
}

void flow_num(struct flow *f, const char *key, double v)
{
	if (isnan(v))
		return;
	flow_key(f, key);
	export_num(f->out, v);
}

void flow_uint(struct flow *f, const char *key, unsigned v)
{
	if (v == 0)
		return;
	flow_key(f, key);
	buf_addf(f->out, "%u", v);
}

void export_site(const struct model *m, struct buf *out)
{
	const struct exporter e = export_begin(m, out);

	export_rooms(&e);
	export_power(&e);
	export_rows(&e, "reservations", NOUN_RESERVATION);
	export_roles(&e);
	export_types(&e);
	export_devices(&e);
	export_cables(m, out);
	export_nodes(m, out);
	arena_free(e.arena);
}
