/* service - what the kind asks of whatever starts and stops services on a node. */
#pragma once

#include "agent/step/step.h"

#include <limits.h>

#define SERVICE_NAME_MAX 128

enum service_answer {
	SERVICE_NO,
	SERVICE_YES,
	SERVICE_ANY /* of a wish: as it is */
};

struct service_wish {
	char name[SERVICE_NAME_MAX]; /* the unit's or the script's name */
	enum service_answer running, enabled;
	const char *verb; /* "restart" or "reload": done each time; NULL otherwise */
};

struct service_state {
	bool known; /* it is installed */
	bool running;
	bool enabled;
	char detail[96]; /* for messages: "failed (exit-code)" */
};

struct service_ops {
	/* Is it this one that runs the node's services? */
	bool (*is_here)(const struct step_env *env, const char *name);
	/* Reads the state; may stop at the first evidence that all is as wished. */
	int (*look)(const struct step_env *env, const struct service_wish *w,
		struct service_state *out, struct err *err);
	/* Makes it so, and waits until the state has settled. */
	int (*act)(const struct step_env *env, const struct service_wish *w, struct err *err);
};

extern const struct service_ops SERVICE_SYSTEMD, SERVICE_SYSV;

/* What the kinds unit, timer and mount ask of systemd. */
bool systemd_is_here(const struct step_env *env);
void systemd_unit_name(const char *name, char out[static SERVICE_NAME_MAX]); /* with its suffix */
/* Where the unit's file lies; vendor: not the administrator's own in /etc. */
bool systemd_find_unit(
	const struct step_env *env, const char *unit, bool vendor, char path[static PATH_MAX]);
/* daemon-reload; nothing where systemd does not run. */
int systemd_reload(const struct step_env *env, struct err *err);
