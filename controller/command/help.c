#include "controller/command/help.h"

#include "agent/base/buf.h"
#include "agent/recipe/kind.h"
#include "agent/version.h"

#include <string.h>

#define LINE_WIDTH    80
#define NAME_WIDTH    24
#define OPTION_WIDTH  24
#define OPTION_LETTER 4
#define EXAMPLE       "    "

static const char EXITS[] = "Exit status: 0 ok, 1 some nodes failed or findings at FAIL, 2 usage,\n"
			    "3 refused by a check, 4 cannot reach, 70 our bug.\n";

static void add_padded(struct buf *out, const char *text, size_t width)
{
	buf_add_text(out, text);
	for (size_t n = strlen(text); n < width; n++)
		buf_add_char(out, ' ');
}

static bool is_example(const char *line)
{
	return strncmp(line, EXAMPLE, sizeof EXAMPLE - 1) == 0;
}

/* A paragraph that is set in by four is an example: its lines stay. Gives what stands behind it. */
static const char *add_example(struct buf *out, const char *p, size_t indent)
{
	while (is_example(p)) {
		const size_t n = strcspn(p, "\n");

		buf_add(out, p, n);
		p += n;
		if (p[0] != '\n' || !p[1] || p[1] == '\n')
			break;
		buf_add_char(out, '\n');
		add_padded(out, "", indent);
		p++;
	}
	return p;
}

void help_add_filled(struct buf *out, const char *text, size_t indent)
{
	size_t column = indent;

	for (const char *p = text; *p;) {
		if (column == indent)
			p = add_example(out, p, indent);

		const size_t n = strcspn(p, " \n");

		if (n > 0 && column > indent && column + 1 + n >= LINE_WIDTH) {
			buf_add_char(out, '\n');
			add_padded(out, "", indent);
			column = indent;
		}
		if (n > 0 && column > indent) {
			buf_add_char(out, ' ');
			column++;
		}
		buf_add(out, p, n);
		column += n;
		p += n;
		if (p[0] == '\n' && p[1] == '\n') {
			buf_add_text(out, "\n\n");
			add_padded(out, "", indent);
			column = indent;
			p += 2;
		} else {
			p += strspn(p, " \n");
		}
	}
	buf_add_char(out, '\n');
}

static const char *usage_of(const struct command *c, struct buf *line)
{
	buf_clear(line);
	buf_addf(line, "%s%s%s", c->name, *c->args ? " " : "", c->args);
	return buf_text(line);
}

void help_overview(struct buf *out)
{
	AUTO_BUF line = {0};

	buf_init(&line, 256);
	buf_add_text(out,
		"stoika " STOIKA_VERSION ": a GPU cluster from empty racks to a signed passport\n\n"
		"usage: stoika [--db FILE] [--json] COMMAND ...\n\n");
	for (const struct command *const *c = COMMANDS; *c; c++) {
		const char *usage = usage_of(*c, &line);

		buf_add_text(out, "  ");
		if (strlen(usage) > NAME_WIDTH) {
			buf_addf(out, "%s\n", usage);
			add_padded(out, "", NAME_WIDTH + 4);
		} else {
			add_padded(out, usage, NAME_WIDTH + 2);
		}
		help_add_filled(out, (*c)->summary, NAME_WIDTH + 4);
	}
	buf_addf(out,
		"\nNODES is a range: gpu[01-16], a,b  a,-b  a@b  rack=R1 role=gpu ~regex all.\n"
		"%s'stoika help COMMAND' tells more.\n",
		EXITS);
}

static void add_option(struct buf *out, const struct option *o)
{
	AUTO_BUF line = {0};

	buf_init(&line, 512);
	if (o->letter)
		buf_addf(&line, "-%c, ", o->letter);
	else
		add_padded(&line, "", OPTION_LETTER);
	buf_addf(&line, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
	buf_add_text(out, "  ");
	add_padded(out, buf_text(&line), OPTION_WIDTH);
	buf_clear(&line);
	buf_addf(&line, "%s%s", o->about, o->many ? "; may be given again" : "");
	help_add_filled(out, buf_text(&line), OPTION_WIDTH + 2);
}

void help_command(const struct command *c, struct buf *out)
{
	AUTO_BUF line = {0};

	buf_init(&line, 256);
	buf_addf(out, "usage: stoika %s\n\n%s\n", usage_of(c, &line), c->summary);
	if (c->about) {
		buf_add_char(out, '\n');
		help_add_filled(out, c->about, 0);
	}
	buf_add_text(out, "\noptions:\n");
	for (const struct option *o = c->options; o && o->name; o++)
		add_option(out, o);
	add_option(out, &(struct option){"db", 0, "FILE", "the inventory", false});
	add_option(out, &(struct option){"json", 0, NULL, "machine-readable output", false});
}

/* The words of the table as shell words: first words, and per first word its second words. */
static void add_words(struct buf *out, const char *first)
{
	const size_t n = strlen(first);
	const char *last = "";

	for (const struct command *const *c = COMMANDS; *c; c++) {
		const char *name = (*c)->name;
		const size_t head = strcspn(name, " ");

		if (n > 0) {
			if (head == n && strncmp(name, first, n) == 0 && name[n])
				buf_addf(out, "%s ", name + n + 1);
		} else if (strncmp(last, name, head) != 0 || (last[head] && last[head] != ' ')) {
			buf_addf(out, "%.*s ", (int)head, name);
			last = name;
		}
	}
}

static void add_option_words(struct buf *out, const struct command *c)
{
	for (const struct option *o = c->options; o && o->name; o++)
		buf_addf(out, "--%s ", o->name);
	buf_add_text(out, "--db --json --help");
}

/* Two words are asked first: 'audit' begins 'audit diff'. */
static void add_option_cases(struct buf *out, bool two_words)
{
	for (const struct command *const *c = COMMANDS; *c; c++) {
		if ((strchr((*c)->name, ' ') != NULL) != two_words)
			continue;
		buf_addf(out, "\t\"%s\"*) words=\"", (*c)->name);
		add_option_words(out, *c);
		buf_add_text(out, "\" ;;\n");
	}
}

/* Of "racks|nodes|runs [SITE|NODES]" the first word's choices; capitals are no words to type. */
static void add_choices(struct buf *out, const struct command *c)
{
	const size_t n = strcspn(c->args, " ");

	if (!memchr(c->args, '|', n) || strcspn(c->args, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < n)
		return;
	buf_addf(out, "\t%s) words=\"", c->name);
	for (size_t i = 0; i < n; i++)
		buf_add_char(out, c->args[i] == '|' ? ' ' : c->args[i]);
	buf_add_text(out, "\" ;;\n");
}

/* Kinds of step are known here, recipes are asked for: they come and go. */
static void add_names(struct buf *out)
{
	const struct kind *k;

	buf_add_text(out,
		"\tcase \"$COMP_CWORD ${COMP_WORDS[*]:1:2}\" in\n"
		"\t\"2 plan \"*|\"2 apply \"*|\"3 recipe show\"*|\"3 recipe check\"*|\"3 recipe test\"*)\n"
		"\t\twords+=\" $(stoika recipe list --names 2> /dev/null)\" ;;\n"
		"\t\"2 help \"*) words+=\" step\" ;;\n"
		"\t\"3 help step\"*) words=\"");
	for (unsigned i = 0; (k = kind_at(i)) != NULL; i++)
		buf_addf(out, "%s ", k->name);
	buf_add_text(out, "\" ;;\n\t\"2 manual \"*) words+=\" stoika stoika-recipe");
	for (unsigned i = 0; (k = kind_at(i)) != NULL; i++)
		buf_addf(out, " stoika-step-%s", k->name);
	buf_add_text(out, "\" ;;\n\tesac\n");
}

void help_completion_bash(struct buf *out)
{
	buf_add_text(out, "# bash completion of stoika; source it or put it into "
			  "/usr/share/bash-completion/completions/stoika\n_stoika()\n{\n"
			  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\"\"\n\tCOMPREPLY=()\n"
			  "\tcase \"${COMP_WORDS[*]:1:2}\" in\n");
	add_option_cases(out, true);
	add_option_cases(out, false);
	buf_add_text(out, "\tesac\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then words=\"");
	add_words(out, "");
	buf_add_text(
		out, "\"; fi\n\tif [ \"$COMP_CWORD\" -eq 2 ]; then case ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = COMMANDS; *c; c++) {
		const char *name = (*c)->name;
		const size_t head = strcspn(name, " ");

		if (!name[head])
			add_choices(out, *c);
		if (!name[head] || (c != COMMANDS && strncmp(c[-1]->name, name, head + 1) == 0))
			continue;
		buf_addf(out, "\t%.*s) words=\"", (int)head, name);

		AUTO_BUF first = {0};
		buf_init(&first, 64);
		buf_add(&first, name, head);
		add_words(out, buf_text(&first));
		buf_add_text(out, "\" ;;\n");
	}
	buf_add_text(out, "\tesac; fi\n");
	add_names(out);
	buf_add_text(out,
		"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"\t[ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
		"}\ncomplete -F _stoika stoika\n");
}

void help_completion_zsh(struct buf *out)
{
	buf_add_text(out, "#compdef stoika\nautoload -U +X bashcompinit && bashcompinit\n");
	help_completion_bash(out);
}

/* roff needs a dash and a leading dot or quote escaped, and to be told that an example's lines
 * stay. */
static void add_roff(struct buf *out, const char *text)
{
	bool start = true, example = false;

	for (const char *p = text; *p; p++) {
		if (start && example != is_example(p)) {
			example = !example;
			buf_add_text(out, example ? ".nf\n" : ".fi\n");
		}
		if (start && (*p == '.' || *p == '\''))
			buf_add_text(out, "\\&");
		if (*p == '-' || *p == '\\')
			buf_add_char(out, '\\');
		if (*p == '\\')
			buf_add_char(out, 'e');
		else
			buf_add_char(out, *p);
		start = *p == '\n';
	}
	if (example)
		buf_add_text(out, start ? ".fi\n" : "\n.fi\n");
}

static const char MANUAL_END[] =
	".SH OPTIONS OF EVERY COMMAND\n"
	".TP\n\\-\\-db FILE\nthe inventory; keys and bundles lie beside it\n"
	".TP\n\\-\\-json\nmachine-readable output, errors too\n"
	".TP\n\\-\\-help\nwhat 'stoika help COMMAND' tells\n"
	".SH NODES\n"
	"A range: gpu[01\\-16]; a,b is both, a,\\-b is a without b, a@b what is in both;\n"
	"rack=R1, role=gpu, state=ready; ~REGEX by name; all; parentheses.\n"
	".SH ENVIRONMENT\n"
	".TP\nSTOIKA_DB\nthe inventory, unless \\-\\-db is given\n"
	".TP\nSTOIKA_RECIPES\nfolders of recipes, divided by ':', asked before the program's own\n"
	".TP\nSTOIKA_CATALOG\nfolders of the hardware catalogue; an empty one is the program's own\n"
	".TP\nLC_ALL, LC_MESSAGES, LANG\nru in the first that is set: lists and audits in Russian\n"
	".TP\nSTOIKA_AGENT\nthe stoika\\-agent that runs a recipe's tests, unless it lies beside the program\n"
	".SH SEE ALSO\n"
	"stoika\\-recipe(7), the language of recipes; stoika\\-step\\-KIND(7), such as\n"
	"stoika\\-step\\-file(7), each kind of step: 'stoika help step' lists them.\n"
	".SH FILES\n"
	"/var/lib/stoika/stoika.db as root, ~/.local/state/stoika/stoika.db for others.\n"
	".SH EXIT STATUS\n";

void help_manual(struct buf *out)
{
	AUTO_BUF line = {0};

	buf_init(&line, 256);
	buf_add_text(out, ".TH STOIKA 1 \"\" \"stoika " STOIKA_VERSION "\"\n.SH NAME\nstoika \\- "
			  "GPU clusters from empty racks to a signed passport\n.SH SYNOPSIS\n"
			  ".B stoika\n[\\-\\-db FILE] [\\-\\-json] COMMAND ...\n.SH COMMANDS\n");
	for (const struct command *const *c = COMMANDS; *c; c++) {
		buf_add_text(out, ".SS ");
		add_roff(out, usage_of(*c, &line));
		buf_add_char(out, '\n');
		add_roff(out, (*c)->summary);
		buf_add_text(out, ".\n");
		if ((*c)->about) {
			buf_add_text(out, ".PP\n");
			add_roff(out, (*c)->about);
		}
		for (const struct option *o = (*c)->options; o && o->name; o++) {
			buf_add_text(out, ".TP\n");
			if (o->letter)
				buf_addf(out, "\\-%c, ", o->letter);
			add_roff(out, "--");
			add_roff(out, o->name);
			buf_addf(out, "%s%s\n", o->value ? " " : "", o->value ? o->value : "");
			add_roff(out, o->about);
			buf_add_char(out, '\n');
		}
	}
	buf_add_text(out, MANUAL_END);
	add_roff(out, EXITS);
}
