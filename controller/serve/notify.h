/*
 * notify - tells the service manager how we are: sd_notify's protocol, a datagram to
 * $NOTIFY_SOCKET.
 *
 * Without that variable all of it does nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "READY=1", "STATUS=...", several with a newline between; false when nobody listens. */
bool notify_send(const char *state);
/* Half of what the manager's watchdog allows, in ns; 0 when it watches nobody. */
int64_t notify_watchdog(void);
