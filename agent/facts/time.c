/*
 * time - whether the clock is led by a source of time, and how far it is off as far as the kernel
 * knows (adjtimex), which is what is left to be corrected. Only of this process's own root: the
 * clock is the machine's.
 */
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <string.h>
#include <sys/timex.h>

static const struct {
	const char *path, *source;
} SOURCES[] = {
	{"/run/chrony/chronyd.pid", "chrony"},
	{"/run/chronyd.pid", "chrony"},
	{"/run/ntpd.pid", "ntpd"},
	{"/run/ntpsec/ntpd.pid", "ntpd"},
	{"/run/openntpd.pid", "openntpd"},
	{"/run/systemd/timesync/synchronized", "systemd-timesyncd"},
};

static void put_clock(json_t *time)
{
	struct timex t = {0};
	const int state = adjtimex(&t);
	const bool synchronized = state != TIME_ERROR && !(t.status & STA_UNSYNC);
	const double unit = t.status & STA_NANO ? 1e6 : 1e3;

	if (state < 0)
		return;
	json_put_bool(time, "synchronized", synchronized);
	/* Of a clock that nobody leads the kernel knows no offset, and its 0 would be a lie. */
	if (!synchronized)
		return;
	json_object_set_new(time, "offset_ms", json_real((double)t.offset / unit));
	json_object_set_new(time, "max_error_ms", json_real((double)t.maxerror / 1e3));
}

int facts_time(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *time = json_object();

	(void)err;
	for (size_t i = 0; i < sizeof SOURCES / sizeof SOURCES[0]; i++)
		if (!json_get(time, "source") && source_exists(env->root, SOURCES[i].path))
			json_put_str(time, "source", SOURCES[i].source);
	if (source_is_own_root(env->root))
		put_clock(time);
	*out = time;
	return 0;
}
