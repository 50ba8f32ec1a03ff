/* apt_error - apt's words, what they mean and what helps. */
#include "agent/base/err.h"
#include "agent/step/apt.h"
#include "agent/step/tool.h"

#include <string.h>

#define SPACE_HINT "free some space, e.g. by 'apt-get clean'"
#define LOCK_HINT  "another package manager holds the lock, see 'ps -ef'"
#define KEY_HINT   "the repository's signing key is missing or was replaced: a 'repo' step keeps it"

/* A phrase in apt's output, what it means and what helps. The first one found counts. */
static const struct {
	const char *phrase;
	enum ec code;
	const char *hint;
} MEANINGS[] = {
	{"No space left on device", E_NOSPACE, SPACE_HINT},
	{"You don't have enough free space", E_NOSPACE, SPACE_HINT},
	{"Could not get lock", E_BUSY, LOCK_HINT},
	{"Unable to lock", E_BUSY, LOCK_HINT},
	{"Conflicting values set for option Signed-By", E_CONFLICT,
		"one source is configured twice with different keys: a 'repo' step for it keeps "
		"one"},
	{"Held packages were changed", E_DENIED, "see 'apt-mark showhold' on the node"},
	{"Unable to locate package", E_NOTFOUND,
		"is its repository configured? see 'apt-cache policy NAME'"},
	{"has no installation candidate", E_NOTFOUND,
		"is its repository configured? see 'apt-cache policy NAME'"},
	{"was not found", E_NOTFOUND, "see 'apt-cache policy NAME' for the versions there are"},
	/* a key that apt lacks, before what follows from it */
	{"F60F4B3D7FA2AF80", E_VERIFY,
		"the CUDA repository key was rotated in April 2022: give the 'repo' step the new "
		"key A4B469963BF863CC"},
	{"NO_PUBKEY A4B469963BF863CC", E_VERIFY,
		"the CUDA repository key was rotated in April 2022: give the 'repo' step the new "
		"key A4B469963BF863CC"},
	{"NO_PUBKEY", E_VERIFY, KEY_HINT},
	{"Missing key", E_VERIFY, KEY_HINT},
	{"is not signed", E_VERIFY, KEY_HINT},
	{"EXPKEYSIG", E_VERIFY, "the repository's signing key has expired: fetch its newer one"},
	{"BADSIG", E_VERIFY, "the mirror's files and signature do not belong together: try later"},
	{"invalid signature", E_VERIFY,
		"the mirror's files and signature do not belong together: try later"},
	{"is expired", E_VERIFY,
		"the mirror is too old (or the node's clock wrong): see Valid-Until and 'date -u'"},
	{"is not valid yet", E_VERIFY, "the node's clock is behind: see 'date -u'"},
	{"Hash Sum mismatch", E_VERIFY,
		"the mirror was in the middle of an update, or a proxy keeps old files: try later"},
	{"unexpected size", E_VERIFY,
		"the mirror was in the middle of an update, or a proxy keeps old files: try later"},
	{"does not have a Release file", E_NOTFOUND, "is the suite of the source spelt right?"},
	{"Could not resolve", E_NET, "check name resolution and the mirrors in /etc/apt"},
	{"Failed to fetch", E_NET, "check the mirrors in /etc/apt and the network"},
	{"unmet dependencies", E_CONFLICT,
		"see 'apt-get -s install NAME' on the node for the chain"},
	{"held broken packages", E_CONFLICT,
		"see 'apt-mark showhold' and 'apt-get -s install NAME'"},
	{"dpkg was interrupted", E_STATE,
		"a step 'package: {repair: true}' finishes what was left half-way"},
};

/* apt's own error lines, else its warnings, else its last lines. */
static void quote_errors(struct str out, struct buf *to)
{
	static const char *const MARKS[] = {"E: ", "dpkg: error", "W: "};

	for (size_t i = 0; to->n == 0 && i < sizeof MARKS / sizeof MARKS[0]; i++) {
		struct str rest = out, line;

		while (str_line(&rest, &line)) {
			/* "dpkg: error" and "E: " are told together, as they come */
			const bool said = str_starts(line, MARKS[i]) ||
					  (i == 0 && str_starts(line, "dpkg: error"));

			if (!said)
				continue;
			if (to->n > 0)
				buf_add_text(to, "; ");
			buf_add_printable(to, str_starts(line, "dpkg") ? line : str_from(line, 3));
		}
	}
	if (to->n == 0)
		tool_tail(out, 4, to);
}

int apt_explain(const char *what, const struct proc_result *res, struct err *err)
{
	const struct str out = buf_str(&res->out);
	AUTO_BUF said;

	buf_init(&said, 320);
	quote_errors(out, &said);
	if (res->end == PROC_TIMED_OUT)
		return err_set(err, E_TIMEOUT, "'apt-get %s' took too long and was stopped: %s",
			what, buf_text(&said));
	for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
		if (str_find_str(out, str_of(MEANINGS[i].phrase)) == STR_NONE)
			continue;
		err_set(err, MEANINGS[i].code, "'apt-get %s' failed: %s", what, buf_text(&said));
		return err_hint(err, "%s", MEANINGS[i].hint);
	}
	err_set(err, E_REMOTE, "'apt-get %s' failed with %s %d: %s", what,
		res->end == PROC_SIGNALED ? "signal" : "status", res->status, buf_text(&said));
	return err_hint(err, "see /var/log/apt/term.log and /var/log/dpkg.log on the node");
}
