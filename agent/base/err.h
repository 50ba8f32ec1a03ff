/*
 * err - what went wrong, where, whose fault, and what to do about it.
 *
 * A fallible function returns 0 or a negative code of enum ec and takes a
 * struct err as its last parameter. The struct lives on the caller's stack, is
 * fixed in size and owns nothing. It is written only on failure. Library code
 * fills it and never prints; the program's edge calls err_print once.
 *
 *	if (fd < 0)
 *		return err_sys(err, errno, "cannot open '%s'", path);
 */
#pragma once

#include <stdbool.h>

struct buf;

enum ec {
	E_SYNTAX = 1, /* cannot be parsed */
	E_SCHEMA,     /* parsed, but not what was expected there */
	E_LIMIT,      /* a cap of ours was reached */
	E_NOTFOUND,
	E_EXISTS,
	E_CONFLICT, /* two statements that cannot both hold */
	E_BUSY,     /* somebody else holds it */
	E_DENIED,   /* permission, policy */
	E_AUTH,     /* the other side refused our key */
	E_HOSTKEY,  /* the other side is not who we pinned */
	E_NET,      /* cannot be reached, link lost */
	E_TIMEOUT,
	E_REMOTE, /* the other side answered with a failure */
	E_VERIFY, /* hash, signature, serial or expiry do not match */
	E_IO,
	E_NOSPACE,
	E_UNSUPPORTED,
	E_CANCELLED,
	E_STATE,    /* not possible in the state it is in */
	E_INTERNAL, /* our bug, or a library's out-of-memory */
	E_MAX
};

enum err_fault {
	FAULT_USER,
	FAULT_ENVIRONMENT,
	FAULT_US
};

struct err {
	enum ec code;
	int sys; /* errno, or 0 */
	enum err_fault fault;
	unsigned line, col; /* 1-based; 0 = no place */
	char file[160];     /* "" = no place */
	char excerpt[160];  /* the source line at fault, "" = none */
	char msg[400];      /* lower case, no full stop, objects in 'quotes' */
	char hint[240];     /* what helps, best a command; "" = none */
};

/* Each sets *err (which may be NULL) and returns -code, so that "return err_set(...)" works. */
int err_set(struct err *err, enum ec code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends ": strerror"; a full disk gets its hint; maps ENOENT, EEXIST, EACCES, ENOSPC/EDQUOT,
 * ETIMEDOUT ... to our codes. */
int err_sys(struct err *err, int sys, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Like err_set, for something read from a file; line and col are 1-based. */
int err_at(struct err *err, enum ec code, const char *file, unsigned line, unsigned col,
	const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Adds a hint to an error that is set; returns -err->code for chaining. */
int err_hint(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "context: " before the message; place, hint and code stay. Returns -err->code. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies the source line for the caret; control characters become '?'. */
void err_excerpt(struct err *err, const char *line, unsigned long n);

/*
 * "file:line:col: error: msg", the source line with a caret under col, and
 * "hint: ..."; each line ends in \n. Control characters in msg are escaped.
 */
void err_format(const struct err *err, struct buf *out);
/* err_format to stderr. */
void err_print(const struct err *err);

/* "syntax", "schema" ... - stable names for JSON and for the manual's anchors. */
const char *ec_name(enum ec code);
/* The nearest of the NULL-terminated names by edit distance <= 2 (or <= len/3), else NULL. Of two
   that are as near the one with word's first letter. */
const char *err_nearest(const char *word, const char *const *names);
