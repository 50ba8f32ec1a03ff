/* clock - time: monotonic for waiting, wall for records, both in nanoseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CLOCK_MS  INT64_C(1000000)
#define CLOCK_SEC INT64_C(1000000000)

int64_t clock_mono(void);
int64_t clock_wall(void); /* since 1970 */
void clock_sleep(int64_t ns);
/* "2026-11-30T15:33:07Z" into out. */
void clock_format(int64_t wall, char out[static 24]);
/* "1.2 s", "340 ms", "3 min 12 s" for people. */
void clock_format_span(int64_t ns, char out[static 24]);
/* Milliseconds left until a monotonic deadline for poll(2): 0 if past, -1 if deadline is 0. */
int clock_left_ms(int64_t deadline);
