/* package_version - both orders walk over runs of digits and of other characters in turn. */
#include "agent/base/package_version.h"

#include <ctype.h>

static bool is_digit(struct str s)
{
	return s.n > 0 && isdigit((unsigned char)s.p[0]);
}

static struct str skip_zeros(struct str s)
{
	while (s.n > 0 && s.p[0] == '0')
		s = str_from(s, 1);
	return s;
}

/* Cuts the run of digits off; without its leading zeros, a longer one is the greater. */
static struct str cut_digits(struct str *s)
{
	struct str digits;
	size_t n = 0;

	*s = skip_zeros(*s);
	while (n < s->n && isdigit((unsigned char)s->p[n]))
		n++;
	digits = str_first(*s, n);
	*s = str_from(*s, n);
	return digits;
}

static int compare_bytes(struct str a, struct str b)
{
	for (size_t i = 0; i < a.n && i < b.n; i++)
		if (a.p[i] != b.p[i])
			return (unsigned char)a.p[i] - (unsigned char)b.p[i];
	return (a.n > b.n) - (a.n < b.n);
}

static int compare_digits(struct str *a, struct str *b)
{
	const struct str x = cut_digits(a), y = cut_digits(b);

	return x.n != y.n ? (x.n > y.n) - (x.n < y.n) : compare_bytes(x, y);
}

/* Cuts "epoch:" off; no epoch is epoch 0. */
static struct str cut_epoch(struct str *s)
{
	const size_t colon = str_find(*s, ':');
	struct str epoch = {NULL, 0};

	if (colon == STR_NONE)
		return epoch;
	epoch = str_first(*s, colon);
	*s = str_from(*s, colon + 1);
	return epoch;
}

static int compare_epochs(struct str *a, struct str *b)
{
	struct str x = cut_epoch(a), y = cut_epoch(b);

	return compare_digits(&x, &y);
}

/* What follows the last '-'; empty when there is none. */
static struct str cut_revision(struct str *s)
{
	struct str revision = {NULL, 0};

	for (size_t i = s->n; i > 0; i--) {
		if (s->p[i - 1] != '-')
			continue;
		revision = str_from(*s, i);
		*s = str_first(*s, i - 1);
		break;
	}
	return revision;
}

/* dpkg: '~' before the end, the end before letters, letters before all else. */
static int deb_order(struct str s)
{
	if (s.n == 0 || isdigit((unsigned char)s.p[0]))
		return 0;
	if (s.p[0] == '~')
		return -1;
	return isalpha((unsigned char)s.p[0]) ? (unsigned char)s.p[0] : (unsigned char)s.p[0] + 256;
}

static int compare_deb_part(struct str a, struct str b)
{
	int diff;

	while (a.n > 0 || b.n > 0) {
		while ((a.n > 0 && !is_digit(a)) || (b.n > 0 && !is_digit(b))) {
			diff = deb_order(a) - deb_order(b);
			if (diff != 0)
				return diff;
			a = str_from(a, 1);
			b = str_from(b, 1);
		}
		diff = compare_digits(&a, &b);
		if (diff != 0)
			return diff;
	}
	return 0;
}

int version_compare_deb(struct str a, struct str b)
{
	int diff = compare_epochs(&a, &b);
	struct str x, y;

	if (diff != 0)
		return diff;
	x = cut_revision(&a);
	y = cut_revision(&b);
	diff = compare_deb_part(a, b);
	return diff != 0 ? diff : compare_deb_part(x, y);
}

static struct str skip_separators(struct str s)
{
	while (s.n > 0 && !isalnum((unsigned char)s.p[0]) && s.p[0] != '~' && s.p[0] != '^')
		s = str_from(s, 1);
	return s;
}

static struct str cut_letters(struct str *s)
{
	struct str letters;
	size_t n = 0;

	while (n < s->n && isalpha((unsigned char)s->p[n]))
		n++;
	letters = str_first(*s, n);
	*s = str_from(*s, n);
	return letters;
}

/* '~' is before the end, '^' just behind it. True when one of them decides, or is passed. */
static bool rpm_marks(struct str *a, struct str *b, int *diff)
{
	const char x = a->n > 0 ? a->p[0] : '\0', y = b->n > 0 ? b->p[0] : '\0';

	*diff = 0;
	if (x != '~' && y != '~' && x != '^' && y != '^')
		return false;
	if (x == y) {
		*a = str_from(*a, 1);
		*b = str_from(*b, 1);
		return true;
	}
	if (x == '~' || y == '~')
		*diff = x == '~' ? -1 : 1;
	else if (x == '^')
		*diff = y == '\0' ? 1 : -1;
	else
		*diff = x == '\0' ? -1 : 1;
	return true;
}

static int compare_rpm_part(struct str a, struct str b)
{
	int diff;

	for (;;) {
		a = skip_separators(a);
		b = skip_separators(b);
		if (rpm_marks(&a, &b, &diff)) {
			if (diff != 0)
				return diff;
			continue;
		}
		if (a.n == 0 || b.n == 0)
			return (a.n > 0) - (b.n > 0);
		if (is_digit(a) != is_digit(b))
			return is_digit(a) ? 1 : -1;
		diff = is_digit(a) ? compare_digits(&a, &b)
				   : compare_bytes(cut_letters(&a), cut_letters(&b));
		if (diff != 0)
			return diff;
	}
}

int version_compare_rpm(struct str a, struct str b)
{
	int diff = compare_epochs(&a, &b);
	struct str x, y;

	if (diff != 0)
		return diff;
	x = cut_revision(&a);
	y = cut_revision(&b);
	diff = compare_rpm_part(a, b);
	return diff != 0 || x.n == 0 || y.n == 0 ? diff : compare_rpm_part(x, y);
}
