/* firewall_ssh - how: braces make chains, lines and ';' make rules, blanks make words. */
#include "agent/step/firewall_ssh.h"

#include "agent/step/edit.h"

#include <stdio.h>
#include <string.h>

#define WORDS_MAX 64

enum verdict {
	VERDICT_NONE,
	VERDICT_ACCEPT,
	VERDICT_DROP
};

static bool is_word(struct str rule, unsigned n, const char *word)
{
	return str_is(edit_field(rule, n), word);
}

/* Where the word stands, or -1. */
static int find_word(struct str rule, const char *word)
{
	for (unsigned i = 0; i < WORDS_MAX && edit_field(rule, i).n > 0; i++)
		if (is_word(rule, i, word))
			return (int)i;
	return -1;
}

static bool is_range(struct str item, unsigned port)
{
	size_t dash;
	uint64_t from, to;

	item = str_trim(item);
	dash = str_find(item, '-');
	if (str_is(item, "ssh"))
		return port == 22;
	if (!str_to_u64(str_trim(str_first(item, dash)), &from))
		return false;
	if (dash == STR_NONE)
		return from == port;
	return str_to_u64(str_trim(str_from(item, dash + 1)), &to) && from <= port && port <= to;
}

/* "22", "ssh", "20-25", "{ 22, 80 }"; a named set or variable is not known. */
static bool holds_port(struct str rest, unsigned port)
{
	struct str list = rest, item;

	if (str_starts(rest, "{")) {
		list = str_first(str_from(rest, 1), str_find(str_from(rest, 1), '}'));
		while (str_next(&list, ',', &item))
			if (is_range(item, port))
				return true;
		return false;
	}
	return is_range(edit_field(rest, 0), port);
}

enum port_match {
	PORT_NOT_ASKED,
	PORT_HELD,
	PORT_OTHER
};

static enum port_match match_port(struct str rule, unsigned port)
{
	const size_t at = str_find_str(rule, STR_LIT("dport "));
	struct str rest;
	bool negated;

	if (at == STR_NONE)
		return PORT_NOT_ASKED;
	rest = str_trim(str_from(rule, at + strlen("dport ")));
	negated = str_starts(rest, "!=");
	if (negated)
		rest = str_trim(str_from(rest, 2));
	if (str_starts(rest, "=="))
		rest = str_trim(str_from(rest, 2));
	return holds_port(rest, port) != negated ? PORT_HELD : PORT_OTHER;
}

static enum verdict verdict_of(struct str rule)
{
	if (find_word(rule, "drop") >= 0 || find_word(rule, "reject") >= 0)
		return VERDICT_DROP;
	return find_word(rule, "accept") >= 0 ? VERDICT_ACCEPT : VERDICT_NONE;
}

/* Nothing but words that match no packet: counter, log, limit's absence, and the verdict. */
static bool is_bare(struct str rule)
{
	static const char *const FREE[] = {"counter", "log", "drop", "reject", "accept", "comment",
		"prefix", "with", "tcp", "reset", "icmp", "icmpx", "type", "admin-prohibited",
		"port-unreachable", NULL};
	struct str word;

	for (unsigned i = 0; i < WORDS_MAX && (word = edit_field(rule, i)).n > 0; i++) {
		bool known = word.p[0] == '"' || str_ends(word, "\"");

		for (unsigned k = 0; FREE[k]; k++)
			known = known || str_is(word, FREE[k]);
		if (!known)
			return false;
	}
	return true;
}

static bool is_other_protocol(struct str rule)
{
	return find_word(rule, "udp") >= 0 || find_word(rule, "icmp") == 0 ||
	       find_word(rule, "icmpv6") == 0 || find_word(rule, "sctp") >= 0;
}

/* An accept of replies only, or of the loopback, lets no new connection in. */
static bool is_replies_or_loopback(struct str rule)
{
	return (find_word(rule, "ct") >= 0 && str_find_str(rule, STR_LIT("new")) == STR_NONE) ||
	       str_find_str(rule, STR_LIT("\"lo\"")) != STR_NONE ||
	       str_find_str(rule, STR_LIT("if lo ")) != STR_NONE ||
	       str_find_str(rule, STR_LIT("ifname lo ")) != STR_NONE;
}

/* What the rule means for a new TCP connection to the port. */
static enum verdict judge_rule(struct str rule, unsigned port)
{
	const enum verdict verdict = verdict_of(rule);
	const enum port_match match = match_port(rule, port);

	if (verdict == VERDICT_NONE || match == PORT_OTHER)
		return VERDICT_NONE;
	if (match == PORT_NOT_ASKED && !is_bare(rule)) {
		/* narrowed by an address or an interface */
		if (verdict == VERDICT_DROP || is_other_protocol(rule) ||
			is_replies_or_loopback(rule))
			return VERDICT_NONE;
		return VERDICT_ACCEPT;
	}
	return match == PORT_HELD && find_word(rule, "udp") >= 0 ? VERDICT_NONE : verdict;
}

struct chain {
	bool at_input, drops; /* its hook, its policy */
	bool decided;         /* the port is accepted */
};

static void read_hook(struct chain *c, struct str rule)
{
	static const char *const HOOKS[] = {"input", "prerouting", "ingress"};
	const int at = find_word(rule, "hook");

	for (size_t i = 0; at >= 0 && i < sizeof HOOKS / sizeof *HOOKS; i++)
		c->at_input = c->at_input || is_word(rule, (unsigned)at + 1, HOOKS[i]);
}

static void say(struct buf *why, struct str rule)
{
	buf_add_printable(why, str_first_utf8(str_trim(rule), 100));
}

/* True when it closes the port. */
static bool take_rule(struct chain *c, struct str rule, unsigned port, struct buf *why)
{
	enum verdict v;

	rule = str_trim(rule);
	if (rule.n == 0 || c->decided)
		return false;
	if (str_starts(rule, "type ")) {
		read_hook(c, rule);
		return false;
	}
	if (str_starts(rule, "policy ")) {
		c->drops = is_word(rule, 1, "drop");
		return false;
	}
	v = c->at_input ? judge_rule(rule, port) : VERDICT_NONE;
	c->decided = v == VERDICT_ACCEPT;
	if (v == VERDICT_DROP)
		say(why, rule);
	return v == VERDICT_DROP;
}

static bool end_chain(const struct chain *c, struct buf *why)
{
	if (!c->at_input || !c->drops || c->decided)
		return false;
	buf_add_text(why, "policy drop");
	return true;
}

/* Comments go, and what stands in braces inside a rule stays on its line. */
static size_t rule_length(struct str text)
{
	unsigned depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		const char c = text.p[i];

		if (c == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (c == '{')
			depth++;
		if (c == '}' && depth == 0)
			return i;
		if (c == '}')
			depth--;
		if ((c == '\n' || c == ';') && depth == 0)
			return i;
	}
	return text.n;
}

static bool judge_chain(struct str body, unsigned port, struct buf *why)
{
	struct chain c = {0};

	while (body.n > 0) {
		const size_t n = rule_length(body);
		struct str rule = str_first(body, n);

		body = str_from(body, n + 1);
		if (str_starts(str_trim(rule), "#"))
			continue;
		if (take_rule(&c, rule, port, why))
			return true;
	}
	return end_chain(&c, why);
}

/* The text between the braces that open at the beginning of s. */
static struct str inside(struct str s)
{
	size_t depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '{')
			depth++;
		if (s.p[i] == '}' && --depth == 0)
			return str_first(str_from(s, 1), i - 1);
	}
	return str_from(s, 1);
}

bool firewall_cuts_port(struct str table, unsigned port, struct buf *why)
{
	size_t at;

	while ((at = str_find_str(table, STR_LIT("chain "))) != STR_NONE) {
		struct str body;

		table = str_from(table, at);
		at = str_find(table, '{');
		if (at == STR_NONE)
			return false;
		body = inside(str_from(table, at));
		if (judge_chain(body, port, why))
			return true;
		table = str_from(table, at + 1 + body.n);
	}
	return false;
}
