/* known_hosts - one pass over the file; the best line so far is kept as a view. */
#include "controller/ssh/known_hosts.h"

#include "agent/base/err.h"
#include "agent/base/hash.h"
#include "agent/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_TEXT_MAX 300 /* "[name]:port" */

static const char *const TYPES[] = {"ssh-rsa", "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp384",
	"ecdsa-sha2-nistp256", "ssh-ed25519"};

/* 0: not one of ours; better kinds are higher. */
static unsigned type_rank(struct str type)
{
	for (unsigned i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
		if (str_is(type, TYPES[i]))
			return i + 1;
	return 0;
}

/* Cuts one blank-separated word off *line. */
static struct str next_word(struct str *line)
{
	size_t n = 0;
	struct str word;

	*line = str_trim(*line);
	while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t')
		n++;
	word = str_first(*line, n);
	*line = str_from(*line, n);
	return word;
}

/* "|1|salt|hash": HMAC-SHA1 of the host's text under the salt. */
static bool hashed_matches(struct str entry, const char *host)
{
	const struct str rest = str_from(entry, 3);
	const size_t bar = str_find(rest, '|');

	return bar != STR_NONE &&
	       hash_sha1_mac_is(str_first(rest, bar), str_of(host), str_from(rest, bar + 1));
}

/* A comma list of patterns; one with '!' that fits excludes the host. */
static bool list_matches(struct str list, const char *host)
{
	bool found = false;
	struct str part;

	while (str_next(&list, ',', &part)) {
		const bool negated = part.n > 0 && part.p[0] == '!';
		AUTO_STR pattern = xstrndup(part.p + negated, part.n - negated);

		/* '[' is a plain character there, not a set */
		if (pattern[0] == '[' ? strcmp(pattern, host) != 0
				      : fnmatch(pattern, host, FNM_NOESCAPE) != 0)
			continue;
		if (negated)
			return false;
		found = true;
	}
	return found;
}

static bool hosts_match(struct str hosts, const char *host)
{
	return str_starts(hosts, "|1|") ? hashed_matches(hosts, host) : list_matches(hosts, host);
}

static void host_text(const char *host, unsigned port, char out[static HOST_TEXT_MAX])
{
	if (port == 22)
		snprintf(out, HOST_TEXT_MAX, "%s", host);
	else
		snprintf(out, HOST_TEXT_MAX, "[%s]:%u", host, port);
}

struct found {
	unsigned rank;
	struct str type, blob;
};

static void find(struct str text, const char *host, struct found *best)
{
	struct str line;

	while (str_line(&text, &line)) {
		struct str rest = str_trim(line);
		struct str hosts, type, blob;
		unsigned rank;

		if (rest.n == 0 || rest.p[0] == '#' || rest.p[0] == '@')
			continue;
		hosts = next_word(&rest);
		type = next_word(&rest);
		blob = next_word(&rest);
		rank = type_rank(type);
		if (blob.n == 0 || rank <= best->rank || !hosts_match(hosts, host))
			continue;
		*best = (struct found){rank, type, blob};
	}
}

static int read_file(const char *path, struct buf *out, struct err *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return err_sys(err, errno, "cannot read '%s'", path);
	do {
		char *room = buf_room(out, 64u << 10);

		if (!room)
			return err_set(err, E_LIMIT, "'%s' is larger than %u bytes", path,
				KNOWN_HOSTS_MAX);
		n = read(fd, room, 64u << 10);
		if (n < 0 && errno != EINTR)
			return err_sys(err, errno, "cannot read '%s'", path);
		if (n > 0)
			buf_grew(out, (size_t)n);
	} while (n != 0);
	return 0;
}

int known_hosts_find(const char *file, const char *address, unsigned port, const char *name,
	struct buf *out, struct err *err)
{
	char host[HOST_TEXT_MAX];
	struct found best = {0};
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, KNOWN_HOSTS_MAX);
	rc = read_file(file, &text, err);
	if (rc < 0)
		return rc;
	host_text(name, port, host);
	find(buf_str(&text), host, &best);
	if (best.rank == 0) {
		host_text(address, port, host);
		find(buf_str(&text), host, &best);
	}
	if (best.rank == 0) {
		err_set(err, E_NOTFOUND, "no key of '%s' (%s) in '%s'", name, host, file);
		return err_hint(err,
			"ssh-keyscan -p %u %s >> %s, and compare it with the node's "
			"console",
			port, address, file);
	}
	buf_addf(out, STR_FMT " " STR_FMT, STR_ARG(best.type), STR_ARG(best.blob));
	return 0;
}
