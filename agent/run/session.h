/*
 * session - what "stoika-agent serve" does over the two ends of an SSH channel.
 *
 * Greeting first, then one signed order, then frames until the final (or
 * refused) one. Nothing is done on the word of the link alone: the order is
 * signed over the nonce that this process has just made up. Before the first
 * change the executor leaves the session, so that a lost link, a network
 * change or the end of sshd does not stop it; see relay.c. An order that says
 * "stay" leaves the link open for the next one, or for the same once more.
 */
#pragma once

#include "agent/run/run.h"

struct session_opts {
	const char *root;  /* "/" on a real node */
	const char *state; /* made if it is not there */
	const char *key;   /* file with the controller's public key */
	const char *self;  /* path of this program */
	int in, out;
};

/*
 * Goes on with the run that never ended, without any controller: what the unit does after a boot.
 * 1 when there is none; else 0 and what it came to. A run that needs a secret waits on
 * (out->waits).
 */
int session_resume(const struct session_opts *o, struct run_outcome *out, struct err *err);

/* 0 when a final or refused frame was written (or another process writes it). */
int session_serve(const struct session_opts *o, struct err *err);
