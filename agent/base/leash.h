/*
 * leash - a process between us and a program, so that nothing the program starts outlives it.
 *
 * It adopts whatever the program leaves behind (as a subreaper, so leaving the
 * group or the session does not help), waits for the program, ends all the rest,
 * and then ends as the program did. TERM is passed on; who does not end within
 * LEASH_PATIENCE_MS is killed. When we are killed, that is a TERM too.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define LEASH_PATIENCE_MS 2000

/*
 * In a forked process, before it forks the program: adopts, and blocks the signals it waits for.
 * parent: who forked it; false: that one is gone already.
 */
bool leash_prepare(pid_t parent);
/* In the program's own process, before exec: it goes when its leash is killed. */
void leash_wear(void);
/* In the process in between; returns never. Only calls that are safe after a fork. */
__attribute__((noreturn)) void leash_hold(pid_t program);
