/* secret_prompt - passphrases and values from a descriptor or a terminal, never from argv. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/base/seal.h"
#include "controller/secret/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PASSPHRASE_MIN 12

/* One line of a descriptor, without its end. */
static int read_line(int fd, struct buf *out, struct err *err)
{
	char c = '\0';
	ssize_t n;

	while ((n = read(fd, &c, 1)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read from descriptor %d", fd);
		if (c == '\n' || !buf_ok(out)) /* what never ends is not read to its end */
			break;
		buf_add_char(out, c);
	}
	return buf_ok(out) ? 0 : err_set(err, E_LIMIT, "what was typed is too long");
}

static int no_terminal(const char *what, struct err *err)
{
	err_set(err, E_STATE, "%s is asked for, and there is no terminal", what);
	return err_hint(err,
		"for a passphrase: STOIKA_PASSPHRASE_FD=3 3< FILE; for a value: standard input");
}

int secret_prompt(const char *what, struct buf *out, struct err *err)
{
	AUTO_FD tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	AUTO_STR question = xasprintf("%s: ", what);
	struct termios old, quiet;
	sigset_t stop, before;
	int rc;

	if (tty < 0 || tcgetattr(tty, &old) != 0)
		return no_terminal(what, err);
	/* a Ctrl-C must not leave the terminal without echo */
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_BLOCK, &stop, &before);
	quiet = old;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
	(void)tcsetattr(tty, TCSAFLUSH, &quiet);
	(void)fs_write_all(tty, str_of(question), NULL);
	rc = read_line(tty, out, err);
	(void)tcsetattr(tty, TCSAFLUSH, &old);
	(void)fs_write_all(tty, STR_LIT("\n"), NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc == 0 && memchr(out->p ? out->p : "", 3, out->n))
		return err_set(err, E_CANCELLED, "nothing was changed");
	return rc;
}

static int judge_passphrase(struct str words, struct err *err)
{
	if (words.n >= PASSPHRASE_MIN)
		return 0;
	err_set(err, E_SCHEMA, "the passphrase has less than %d bytes", PASSPHRASE_MIN);
	return err_hint(err, "take a few words");
}

static int prompt_twice(struct buf *out, struct err *err)
{
	AUTO_BUF again = {0};
	int rc = secret_prompt("new passphrase", out, err);

	buf_init(&again, SECRET_VALUE_MAX);
	if (rc == 0)
		rc = secret_prompt("once more", &again, err);
	if (rc == 0 && !str_eq(buf_str(out), buf_str(&again)))
		rc = err_set(err, E_CONFLICT, "the two are not alike; nothing was changed");
	seal_wipe(&again);
	return rc;
}

/* Our own are closed on exec, so none that came from outside is: the database is no passphrase. */
static int judge_descriptor(uint64_t fd, struct err *err)
{
	const int flags = fd < INT_MAX ? fcntl((int)fd, F_GETFD) : -1;

	if (flags >= 0 && !(flags & FD_CLOEXEC))
		return 0;
	err_set(err, E_SYNTAX, "STOIKA_PASSPHRASE_FD is %llu, and no such descriptor was given",
		(unsigned long long)fd);
	return err_hint(err, "STOIKA_PASSPHRASE_FD=3 3< FILE");
}

int secret_passphrase(void *ctx, bool fresh, struct buf *out, struct err *err)
{
	const char *text = getenv("STOIKA_PASSPHRASE_FD");
	uint64_t fd = 0;
	int rc;

	(void)ctx;
	if (text && !str_to_u64(str_of(text), &fd))
		return err_set(err, E_SYNTAX,
			"STOIKA_PASSPHRASE_FD is the number of a descriptor, not '%s'", text);
	rc = text ? judge_descriptor(fd, err) : 0;
	if (rc < 0)
		return rc;
	if (text)
		rc = read_line((int)fd, out, err);
	else
		rc = fresh ? prompt_twice(out, err)
			   : secret_prompt("passphrase of the secrets", out, err);
	return rc == 0 && fresh ? judge_passphrase(buf_str(out), err) : rc;
}
