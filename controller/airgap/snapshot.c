/* snapshot - by apt-ftparchive and gpg, each writing to us and not to a file. */
#include "controller/airgap/snapshot.h"

#include "agent/base/clock.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)256 << 20)
#define LIMIT    (1800 * CLOCK_SEC)
#define KEY_NAME "Stoika bundle"

/* All that it prints; more than proc keeps is refused. */
static int run(const char *const *argv, const char *cwd, struct str input, struct buf *out,
	struct err *err)
{
	const struct proc p = {.argv = argv, .cwd = cwd, .input = input, .timeout = LIMIT};
	struct proc_result res = {0};
	int rc = proc_run(&p, &res, err);

	if (rc == 0 && !proc_ok(&res))
		rc = proc_fail(&p, &res, err);
	if (rc == 0 && res.truncated)
		rc = err_set(err, E_LIMIT, "'%s' printed more than is kept", argv[0]);
	if (rc == 0)
		buf_add_str(out, buf_str(&res.out));
	proc_result_done(&res);
	return rc;
}

static int gpg(struct arena *a, const char *home, const char *const *words, struct str input,
	struct buf *out, struct err *err)
{
	const char *argv[24] = {"gpg", "--homedir", home, "--batch", "--yes", "--quiet",
		"--pinentry-mode", "loopback", "--passphrase", ""};
	unsigned n = 10;

	(void)a;
	while (*words && n < 23)
		argv[n++] = *words++;
	return run(argv, "/", input, out, err);
}

/* The agent that gpg leaves behind goes with it. */
static void end_agent(const char *home)
{
	const char *const argv[] = {"gpgconf", "--homedir", home, "--kill", "gpg-agent", NULL};
	AUTO_BUF out = {0};

	buf_init(&out, 4096);
	(void)run(argv, "/", STR_LIT(""), &out, NULL);
}

static bool find_fingerprint(struct str text, char out[static SNAPSHOT_FINGERPRINT])
{
	struct str line, word;

	while (str_line(&text, &line)) {
		if (!str_starts(line, "fpr:"))
			continue;
		while (str_next(&line, ':', &word))
			if (word.n == SNAPSHOT_FINGERPRINT - 1) {
				memcpy(out, word.p, word.n);
				out[word.n] = '\0';
				return true;
			}
	}
	return false;
}

int snapshot_key(struct arena *a, const char *home, char fingerprint[static SNAPSHOT_FINGERPRINT],
	struct str *armored, struct err *err)
{
	static const char *const LIST[] = {"--list-secret-keys", "--with-colons", NULL};
	static const char *const MAKE[] = {
		"--quick-generate-key", KEY_NAME, "ed25519", "sign", "never", NULL};
	static const char *const EXPORT[] = {"--export", "--armor", KEY_NAME, NULL};
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, 1u << 20);
	if (mkdir(home, 0700) != 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make '%s'", home);
	rc = gpg(a, home, LIST, STR_LIT(""), &text, err);
	if (rc == 0 && !find_fingerprint(buf_str(&text), fingerprint)) {
		rc = gpg(a, home, MAKE, STR_LIT(""), &text, err);
		buf_clear(&text);
		if (rc == 0)
			rc = gpg(a, home, LIST, STR_LIT(""), &text, err);
		if (rc == 0 && !find_fingerprint(buf_str(&text), fingerprint))
			rc = err_set(err, E_REMOTE, "gpg made no key in '%s'", home);
	}
	buf_clear(&text);
	if (rc == 0)
		rc = gpg(a, home, EXPORT, STR_LIT(""), &text, err);
	if (rc == 0)
		*armored = arena_str(a, buf_str(&text));
	end_agent(home);
	return rc;
}

static int put(int top, const char *path, struct str text, struct err *err)
{
	return fs_replace(top, path, text, 0644, FS_KEEP_ID, FS_KEEP_ID, err);
}

static int write_index(
	struct arena *a, int top, const char *dir, const char *index, struct err *err)
{
	const char *const argv[] = {"apt-ftparchive", "packages", "pool", NULL};
	AUTO_BUF text = {0};
	int rc;

	buf_init(&text, TEXT_MAX);
	rc = fs_mkdirs(top, index, 0755, err);
	if (rc == 0)
		rc = run(argv, dir, STR_LIT(""), &text, err);
	return rc < 0 ? rc : put(top, arena_printf(a, "%s/Packages", index), buf_str(&text), err);
}

static int write_release(struct arena *a, const char *home, int top, const char *dir,
	const char *base, const char *suite, const char *component, struct err *err)
{
	static const char *const SIGN[] = {"--clearsign", NULL};
	const char *const argv[] = {"apt-ftparchive", "-o",
		"APT::FTPArchive::Release::Origin=Stoika", "-o",
		arena_printf(a, "APT::FTPArchive::Release::Suite=%s", suite), "-o",
		arena_printf(a, "APT::FTPArchive::Release::Codename=%s", suite), "-o",
		arena_printf(a, "APT::FTPArchive::Release::Components=%s", component), "-o",
		"APT::FTPArchive::Release::Architectures=amd64", "release", base, NULL};
	AUTO_BUF text = {0}, signed_text = {0};
	int rc = 0;

	buf_init(&text, 1u << 20);
	buf_init(&signed_text, 1u << 20);
	/* an older one would be listed in the new one */
	(void)fs_remove(top, arena_printf(a, "%s/InRelease", base), false, NULL);
	(void)fs_remove(top, arena_printf(a, "%s/Release", base), false, NULL);
	rc = run(argv, dir, STR_LIT(""), &text, err);
	if (rc == 0)
		rc = put(top, arena_printf(a, "%s/Release", base), buf_str(&text), err);
	if (rc == 0)
		rc = gpg(a, home, SIGN, buf_str(&text), &signed_text, err);
	end_agent(home);
	return rc < 0 ? rc
		      : put(top, arena_printf(a, "%s/InRelease", base), buf_str(&signed_text), err);
}

int snapshot_write(struct arena *a, const char *home, const char *dir, const char *suite,
	const char *component, struct err *err)
{
	const bool flat = str_ends(str_of(suite), "/");
	const char *base = flat ? "." : arena_printf(a, "dists/%s", suite);
	const char *index = flat ? "." : arena_printf(a, "%s/%s/binary-amd64", base, component);
	AUTO_FD top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (top < 0)
		return err_sys(err, errno, "cannot open '%s'", dir);
	rc = write_index(a, top, dir, index, err);
	return rc < 0 ? rc
		      : write_release(a, home, top, dir, base, flat ? "stable" : suite,
				flat ? "main" : component, err);
}
