/* lang - columns are counted by characters: none of ours is wider than one. */
#include "controller/command/lang.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 80

int lang_opts(const struct invocation *inv, struct report_opts *out, struct err *err)
{
	const char *lang = option_get(inv, "lang");
	struct winsize size;

	*out = (struct report_opts){
		.json = inv->json, .lang = lang ? text_lang_find(lang) : text_lang_env()};
	if (out->lang == LANG_N) {
		err_set(err, E_SYNTAX, "there is no language '%s'", lang);
		return err_hint(err, "en or ru");
	}
	if (isatty(STDOUT_FILENO))
		out->width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
				     ? size.ws_col
				     : WIDTH;
	return 0;
}

static unsigned columns(struct str s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

void lang_add_wrapped(struct buf *out, unsigned indent, const char *text)
{
	struct str rest = str_of(text), word;
	unsigned at = 0;

	while (str_next(&rest, ' ', &word)) {
		const unsigned n = columns(word);

		if (at == 0 || at + 1 + n >= WIDTH) {
			buf_addf(out, "%s%*s", at ? "\n" : "", (int)indent, "");
			at = indent;
		} else {
			buf_add_char(out, ' ');
			at++;
		}
		buf_add_printable(out, word);
		at += n;
	}
	buf_add_char(out, '\n');
}

void lang_add_label(struct buf *out, const char *text, unsigned width)
{
	const unsigned n = columns(str_of(text));

	buf_addf(out, "%s%*s", text, n < width ? (int)(width - n) : 1, "");
}
