#include "agent/run/secret.h"

#include "agent/base/err.h"
#include "agent/base/str.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define VALUE_MAX (256u << 10)

static void wipe_and_free(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

void secret_guard(void)
{
	(void)prctl(PR_SET_DUMPABLE, 0);
}

void secret_wipe_json(void)
{
	json_set_alloc_funcs(malloc, wipe_and_free);
}

int secret_take(struct order *o, const json_t *message, struct err *err)
{
	json_t *values = json_get(message, "values");

	for (unsigned i = 0; i < o->n_secrets; i++) {
		const json_t *v = json_get(values, o->secrets[i]);

		if (!json_is_string(v) || json_string_length(v) > VALUE_MAX)
			return err_set(
				err, E_SCHEMA, "no value came for secret '%s'", o->secrets[i]);
	}
	json_decref(o->secret_values);
	o->secret_values = json_incref(values);
	return 0;
}
