/*
 * log - one line of key=value per event on stderr, with journald's <n> prefix when not a terminal.
 *
 * Values are escaped, so no control character reaches a terminal. Only the
 * programs' edges log above debug; libraries return errors.
 */
#pragma once

enum log_level {
	LOG_ERR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

void log_set_level(enum log_level level); /* default LOG_WARN */
void log_set_tag(
	const char *key, const char *value); /* on every line from now on, e.g. run, node */
/* key, value pairs of C strings, ended by NULL. */
void log_event(enum log_level level, const char *event, ...) __attribute__((sentinel));
#define log_err(...)   log_event(LOG_ERR, __VA_ARGS__, (char *)0)
#define log_warn(...)  log_event(LOG_WARN, __VA_ARGS__, (char *)0)
#define log_info(...)  log_event(LOG_INFO, __VA_ARGS__, (char *)0)
#define log_debug(...) log_event(LOG_DEBUG, __VA_ARGS__, (char *)0)
