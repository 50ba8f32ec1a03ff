/*
 * link_session - one libssh session, moved on by readiness of its socket.
 *
 * Every call into libssh is non-blocking: it polls its one descriptor once with
 * time-out 0, handles what is there, and says AGAIN. Data comes by the channel's
 * callbacks, so nothing stays in libssh's buffers after a step. The callbacks run
 * inside libssh: what they (or the owner's ops) want of the link is only noted
 * there and done after the step.
 */
#include "agent/base/clock.h"
#include "controller/ssh/link_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <libssh/server.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEX_DEFAULT "curve25519-sha256,ecdh-sha2-nistp256"
/* AES-GCM first: 1.5 times cheaper than ChaCha20 with AES instructions (perf.md, 5). */
#define CIPHERS "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com"

/*
 * One write to libssh, which keeps two buffers of its size (a power of two) per session:
 * large ones cost less time, small ones less memory when hundreds are fed at once.
 */
#define SLICE       32000
#define SLICE_SMALL 8000
#define CROWD       128

/* Steps over one session before the others get their turn. */
#define ROUNDS_MAX 8
/* libssh reads 4096 bytes at a time: after this many more may be there. */
#define READ_LIKELY 2048

/* Data may come with the very packet that says the command runs. */
void link_session_tell_open(struct link *l)
{
	if (l->told_open)
		return;
	l->told_open = true;
	if (l->ops->opened)
		l->ops->opened(l->ctx, l);
}

/* Nothing more is told of a link that was aborted, though libssh may hold packets of it. */
void link_session_tell_data(struct link *l, bool is_stderr, struct str bytes)
{
	l->heard = true;
	link_session_tell_open(l);
	if (l->ops->data && !l->err)
		l->ops->data(l->ctx, l, is_stderr, bytes);
}

static int on_data(ssh_session session, ssh_channel channel, void *data, uint32_t len,
	int is_stderr, void *userdata)
{
	struct link *l = userdata;
	const struct str bytes = {data, len};

	(void)session, (void)channel;
	l->got += len;
	link_session_tell_data(l, is_stderr != 0, bytes);
	return (int)len;
}

static void on_exit_status(ssh_session session, ssh_channel channel, int status, void *userdata)
{
	struct link *l = userdata;

	(void)session, (void)channel;
	l->end.how = LINK_EXITED;
	l->end.status = status;
}

static void on_exit_signal(ssh_session session, ssh_channel channel, const char *signal, int core,
	const char *errmsg, const char *lang, void *userdata)
{
	struct link *l = userdata;

	(void)session, (void)channel, (void)core, (void)errmsg, (void)lang;
	l->end.how = LINK_SIGNALED;
	snprintf(l->end.signal, sizeof l->end.signal, "%s", signal ? signal : "");
}

static void on_close(ssh_session session, ssh_channel channel, void *userdata)
{
	struct link *l = userdata;

	(void)session, (void)channel;
	l->remote_closed = true;
}

/* The algorithms to accept for a pinned "type base64"; the caller's. */
static char *host_key_algorithms(const char *pinned)
{
	const size_t n = strcspn(pinned, " ");

	if (n == 7 && strncmp(pinned, "ssh-rsa", n) == 0)
		return xstrdup("rsa-sha2-512,rsa-sha2-256");
	return xstrndup(pinned, n);
}

/*
 * Whatever libssh would otherwise look up per session (home, configuration,
 * known_hosts) is given, so that it opens no file.
 */
static int set_options(struct link *l)
{
	static const char nowhere[] = "/dev/null";
	const struct link_set_opts *o = &l->set->opts;
	AUTO_STR algorithms = host_key_algorithms(l->target.host_key);
	const struct {
		enum ssh_options_e name;
		const void *value;
	} options[] = {
		{SSH_OPTIONS_PROCESS_CONFIG, &(bool){false}},
		{SSH_OPTIONS_LOG_VERBOSITY, &(int){SSH_LOG_NOLOG}},
		{SSH_OPTIONS_SSH_DIR, nowhere},
		{SSH_OPTIONS_KNOWNHOSTS, nowhere},
		{SSH_OPTIONS_GLOBAL_KNOWNHOSTS, nowhere},
		{SSH_OPTIONS_HOST, l->target.address},
		{SSH_OPTIONS_USER, l->target.user},
		{SSH_OPTIONS_FD, &l->fd},
		{SSH_OPTIONS_TIMEOUT, &(long){10}},
		{SSH_OPTIONS_HOSTKEYS, algorithms},
		{SSH_OPTIONS_KEY_EXCHANGE, o->kex ? o->kex : KEX_DEFAULT},
		{SSH_OPTIONS_CIPHERS_C_S, CIPHERS},
		{SSH_OPTIONS_CIPHERS_S_C, CIPHERS},
		{SSH_OPTIONS_COMPRESSION_C_S, "none"},
		{SSH_OPTIONS_COMPRESSION_S_C, "none"},
	};

	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (ssh_options_set(l->session, options[i].name, options[i].value) < 0)
			return err_set(link_err(l), E_INTERNAL,
				"libssh refuses option %d for '%s': %s", (int)options[i].name,
				l->target.name, ssh_get_error(l->session));
	return 0;
}

static enum link_step fail_session(struct link *l)
{
	link_fail_session(l);
	return STEP_FAILED;
}

/* Compared as bytes against the pinned one; libssh has checked that the server owns it. */
static bool host_key_fits(struct link *l, ssh_key key)
{
	const char *pinned = l->target.host_key;
	const char *blob = pinned + strcspn(pinned, " ");
	char *base64 = NULL;
	bool same = false;

	blob += strspn(blob, " ");
	if (ssh_pki_export_pubkey_base64(key, &base64) == SSH_OK) {
		const size_t n = strlen(base64);

		same = n > 0 && n == strcspn(blob, " \t\r\n") && strncmp(base64, blob, n) == 0;
	}
	ssh_string_free_char(base64);
	return same;
}

static enum link_step check_host_key(struct link *l)
{
	ssh_key key = NULL;
	bool fits;

	if (ssh_get_server_publickey(l->session, &key) != SSH_OK)
		return fail_session(l);
	fits = host_key_fits(l, key);
	if (!fits)
		link_fail_host_key(l, key);
	ssh_key_free(key);
	if (!fits)
		return STEP_FAILED;
	l->state = LINK_AUTH;
	return STEP_ON;
}

static enum link_step step_kex(struct link *l)
{
	const int rc = ssh_connect(l->session);

	if (rc == SSH_AGAIN)
		return STEP_WAIT;
	return rc == SSH_OK ? check_host_key(l) : fail_session(l);
}

static enum link_step step_auth(struct link *l)
{
	const int rc = ssh_userauth_publickey(l->session, NULL, link_key_private(l->set->opts.key));

	if (rc == SSH_AUTH_AGAIN)
		return STEP_WAIT;
	if (rc != SSH_AUTH_SUCCESS) {
		link_fail_auth(l, rc);
		return STEP_FAILED;
	}
	l->channel = ssh_channel_new(l->session);
	if (!l->channel)
		return fail_session(l);
	l->calls = (struct ssh_channel_callbacks_struct){
		.userdata = l,
		.channel_data_function = on_data,
		.channel_exit_status_function = on_exit_status,
		.channel_exit_signal_function = on_exit_signal,
		.channel_close_function = on_close,
	};
	ssh_callbacks_init(&l->calls);
	if (ssh_set_channel_callbacks(l->channel, &l->calls) != SSH_OK)
		return fail_session(l);
	l->state = LINK_CHANNEL;
	return STEP_ON;
}

static enum link_step step_channel(struct link *l)
{
	const int rc = ssh_channel_open_session(l->channel);

	if (rc == SSH_AGAIN)
		return STEP_WAIT;
	if (rc != SSH_OK)
		return fail_session(l);
	l->state = LINK_EXEC;
	return STEP_ON;
}

static enum link_step step_exec(struct link *l)
{
	const int rc = ssh_channel_request_exec(l->channel, l->target.command);

	if (rc == SSH_AGAIN)
		return STEP_WAIT;
	if (rc != SSH_OK)
		return fail_session(l);
	l->state = LINK_RUNNING;
	link_session_tell_open(l);
	return STEP_ON;
}

/* True while libssh holds bytes that the socket did not take. */
static bool is_blocked(const struct link *l)
{
	if (!l->session)
		return l->first != NULL;
	return (ssh_get_status(l->session) & SSH_WRITE_PENDING) != 0;
}

static bool can_write(const struct link *l)
{
	return l->first && !l->remote_closed && !is_blocked(l) &&
	       ssh_channel_window_size(l->channel) > 0;
}

bool link_session_wants_write(const struct link *l)
{
	return is_blocked(l) || (l->state == LINK_RUNNING && can_write(l));
}

void link_session_drop_chunk(struct link *l)
{
	struct link_chunk *c = l->first;

	l->first = c->next;
	if (!l->first)
		l->last = NULL;
	free(c);
}

void link_drop_chunks(struct link *l)
{
	while (l->first)
		link_session_drop_chunk(l);
	l->queued = 0;
}

/* One slice of the queue; false when nothing more can go now. */
static bool write_slice(struct link *l)
{
	struct link_chunk *c = l->first;
	const uint32_t window = ssh_channel_window_size(l->channel);
	const size_t slice = l->set->open.n > CROWD ? SLICE_SMALL : SLICE;
	size_t n = c->rest.n < slice ? c->rest.n : slice;
	int wrote;

	if (n > window)
		n = window;
	if (c->rest.n > 0 && n == 0)
		return false;
	wrote = n > 0 ? ssh_channel_write(l->channel, c->rest.p, (uint32_t)n) : 0;
	if (wrote < 0 || (wrote == 0 && n > 0))
		return false; /* a broken session is seen by its status */
	if (c->owned)
		l->queued -= (size_t)wrote;
	c->rest = str_from(c->rest, (size_t)wrote);
	l->moved = clock_mono();
	if (c->rest.n == 0)
		link_session_drop_chunk(l);
	return true;
}

void link_session_settle(struct link *l, bool blocked, void (*send_eof)(struct link *l))
{
	if (l->eof_wanted && !l->eof_sent) {
		l->eof_sent = true;
		send_eof(l);
	}
	if (l->write_due && !blocked) {
		l->write_due = false;
		if (l->ops->drained)
			l->ops->drained(l->ctx, l);
	}
}

static void send_eof(struct link *l)
{
	(void)ssh_channel_send_eof(l->channel);
}

/* Feeds libssh only while the socket takes everything, so that it holds one slice at most. */
static void write_queue(struct link *l)
{
	for (unsigned i = 0; i < ROUNDS_MAX && l->first && !l->remote_closed; i++)
		if (is_blocked(l) || !write_slice(l))
			return;
	if (!l->first && !l->remote_closed)
		link_session_settle(l, is_blocked(l), send_eof);
}

static enum link_step step_running(struct link *l)
{
	unsigned rounds = 0;

	do {
		l->got = 0;
		/* the one public call that reads and handles whatever came, also after EOF */
		(void)ssh_execute_message_callbacks(l->session);
		if (l->remote_closed)
			return STEP_END;
		write_queue(l);
	} while (++rounds < ROUNDS_MAX && (l->got >= READ_LIKELY || can_write(l)));
	if (l->remote_closed)
		return STEP_END;
	if (ssh_get_status(l->session) & (SSH_CLOSED | SSH_CLOSED_ERROR))
		return fail_session(l);
	return STEP_WAIT;
}

enum link_step link_session_step(struct link *l)
{
	static enum link_step (*const steps[])(struct link *) = {
		[LINK_KEX] = step_kex,
		[LINK_AUTH] = step_auth,
		[LINK_CHANNEL] = step_channel,
		[LINK_EXEC] = step_exec,
		[LINK_RUNNING] = step_running,
	};
	enum link_step step;

	if (l->set->opts.transport)
		return link_raw_step(l);
	do
		step = steps[l->state](l);
	while (step == STEP_ON);
	return step;
}

enum link_step link_session_open(struct link *l)
{
	enum link_step step;

	l->session = ssh_new();
	if (!l->session) {
		err_set(link_err(l), E_INTERNAL, "libssh is out of memory");
		return STEP_FAILED;
	}
	if (set_options(l) < 0)
		return STEP_FAILED;
	ssh_set_blocking(l->session, 0);
	l->state = LINK_KEX;
	step = link_session_step(l);
	/* libssh makes a connected socket blocking: one slow reader would stop all sessions */
	if (step == STEP_WAIT && fcntl(l->fd, F_SETFL, O_NONBLOCK) != 0) {
		err_sys(link_err(l), errno, "cannot set up the socket of '%s'", l->target.name);
		return STEP_FAILED;
	}
	return step;
}

void link_session_close(struct link *l)
{
	/* From ssh_connect on libssh closes the descriptor, and only it knows whether it did. */
	if (l->session && l->state >= LINK_KEX)
		ssh_free(l->session);
	else {
		if (l->fd >= 0)
			close(l->fd);
		ssh_free(l->session);
	}
	l->session = NULL;
	l->channel = NULL;
	l->fd = -1;
}
