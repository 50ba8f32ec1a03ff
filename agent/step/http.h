/* http - asks a service on a given address whether it answers; nothing more than GET, HTTP/1.0. */
#pragma once

#include "agent/base/str.h"

struct buf;
struct err;

#define HTTP_TIMEOUT_S 3
#define HTTP_BODY_MAX  (1u << 20)

/*
 * url is "http://ADDRESS[:PORT][/PATH]"; the address is numeric (or "localhost"),
 * so that no resolver can hang it. *status is the answer's, 0 when there was none:
 * nobody listens, or not within the deadline. E_SCHEMA for an url of another form.
 */
int http_get(const char *url, unsigned *status, struct buf *body, struct err *err);
/* True when a TCP connection to 127.0.0.1 succeeds within timeout nanoseconds. */
bool http_port_open(unsigned port, int64_t timeout);
/* 0 when a TCP connection to the numeric address succeeds, else an errno: EINVAL for what is no
 * address, ETIMEDOUT when nothing answers. */
int http_connect(const char *address, unsigned port, int64_t timeout);
