/* need - the messages. */
#include "inventory/design/need.h"

#include <math.h>

int need_above(const char *what, double v, struct err *err)
{
	if (isfinite(v) && v > 0)
		return 0;
	if (isnan(v))
		return err_set(err, E_SCHEMA, "'%s' is missing", what);
	return err_set(err, E_SCHEMA, "'%s' is %.10g, must be above 0", what, v);
}

int need_not_below(const char *what, double v, struct err *err)
{
	if (isfinite(v) && v >= 0)
		return 0;
	if (isnan(v))
		return err_set(err, E_SCHEMA, "'%s' is missing", what);
	return err_set(err, E_SCHEMA, "'%s' is %.10g, must not be negative", what, v);
}

int need_whole(const char *what, double v, double least, double most, struct err *err)
{
	if (isnan(v))
		return err_set(err, E_SCHEMA, "'%s' is missing", what);
	if (!isfinite(v) || floor(v) != v || v < least || v > most)
		return err_set(err, E_SCHEMA,
			"'%s' is %.10g, must be a whole number from %.0f to %.0f", what, v, least,
			most);
	return 0;
}

int need_share(const char *what, double v, struct err *err)
{
	if (isfinite(v) && v > 0 && v <= 1)
		return 0;
	if (isnan(v))
		return err_set(err, E_SCHEMA, "'%s' is missing", what);
	return err_set(err, E_SCHEMA, "'%s' is %.10g, must be above 0 and at most 1", what, v);
}
