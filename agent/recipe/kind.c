#include "agent/recipe/kind.h"

#include <string.h>

static const struct kind *const GROUPS[] = {
	KIND_FILE,
	KIND_PACKAGE,
	KIND_SYSTEM,
	KIND_STORAGE,
	KIND_FLOW,
};

const struct kind *kind_at(unsigned n)
{
	for (size_t g = 0; g < sizeof GROUPS / sizeof GROUPS[0]; g++)
		for (const struct kind *k = GROUPS[g]; k->name; k++)
			if (n-- == 0)
				return k;
	return NULL;
}

const struct kind *kind_find(const char *name)
{
	const struct kind *k;

	for (unsigned i = 0; (k = kind_at(i)); i++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

const struct kind_param *kind_param_find(const struct kind *k, const char *name)
{
	for (const struct kind_param *p = k->params; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}
