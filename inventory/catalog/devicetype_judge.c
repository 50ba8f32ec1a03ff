/*
 * devicetype_judge - implausible device types, by rules that know no product by name.
 *
 * The catalogue is asked what the product should be when its name is known there; what
 * is left is arithmetic: ports in rows without gaps, watts for so many GPUs, three legs.
 */
#include "inventory/catalog/catalog_check.h"
#include "inventory/catalog/devicetype.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MOST 400

struct judge {
	const struct devicetype *d;
	const struct catalog *known;
	const struct catalog_entry *like; /* the product's entry, NULL */
	struct arena *a;
	struct devicetype_findings *out;
	unsigned gpus;
	const char *gpu; /* id of the least of its name, NULL */
	double gpu_w;
};

__attribute__((format(printf, 5, 0))) static void add(
	struct judge *j, const char *rule, unsigned line, bool open, const char *fmt, va_list ap)
{
	char text[TEXT_MOST];

	(void)vsnprintf(text, sizeof text, fmt, ap);
	*vec_push(j->out) = (struct devicetype_finding){rule, line, arena_strdup(j->a, text), open};
}

__attribute__((format(printf, 4, 5))) static void find(
	struct judge *j, const char *rule, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(j, rule, line, false, fmt, ap);
	va_end(ap);
}

/* What most records of the library leave open: no reason to mistrust one. */
__attribute__((format(printf, 4, 5))) static void leave_open(
	struct judge *j, const char *rule, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(j, rule, line, true, fmt, ap);
	va_end(ap);
}

/* --- GPUs in words --- */

/* The number in the few words before at, "8x AMD Instinct MI300X OAM GPUs"; 0: none. */
static unsigned number_before(const char *from, const char *at)
{
	const char *p = at;

	for (unsigned words = 0; words < 7 && p > from; words++) {
		const char *end;
		uint64_t v;
		size_t n;

		while (p > from && (p[-1] == ' ' || p[-1] == '-' || p[-1] == '\t'))
			p--;
		end = p;
		while (p > from && isalnum((unsigned char)p[-1]))
			p--;
		if (p == end) /* the end of a sentence, or of a clause */
			return 0;
		n = (size_t)(end - p);
		if (n > 1 && (end[-1] == 'x' || end[-1] == 'X'))
			n--;
		if (str_to_u64((struct str){p, n}, &v) && v > 0 && v <= 72)
			return (unsigned)v;
	}
	return 0;
}

static unsigned gpus_in(const char *text)
{
	unsigned most = 0;

	for (const char *p = strcasestr(text, "gpu"); p; p = strcasestr(p + 3, "gpu")) {
		const unsigned n = number_before(text, p);

		if (n > most)
			most = n;
	}
	return most;
}

/* The least GPU whose family ("a100") is a word of the text. */
static void find_gpu(struct judge *j, const char *text)
{
	for (size_t i = 0; j->known && i < j->known->entries.n; i++) {
		const struct catalog_entry *e = j->known->entries.at[i];
		const char *dash = strchr(e->id, '-');
		const size_t n = dash ? (size_t)(dash - e->id) : strlen(e->id);
		const double watts = catalog_num(e, "power_default_w");
		const char *family, *p;

		if (e->kind != CATALOG_GPU || n < 3 || (j->gpu && watts >= j->gpu_w))
			continue;
		family = arena_text(j->a, (struct str){e->id, n});
		p = strpbrk(family, "0123456789") ? strcasestr(text, family) : NULL;
		if (!p || isalnum((unsigned char)p[n]) ||
			(p > text && isalnum((unsigned char)p[-1])))
			continue;
		j->gpu = e->id;
		j->gpu_w = watts;
	}
}

static void find_gpus(struct judge *j)
{
	const char *text = arena_printf(j->a, "%s %s\n%s", j->d->maker, j->d->model, j->d->words);

	j->gpus = devicetype_bays(j->d, "GPU");
	if (j->gpus == 0)
		j->gpus = gpus_in(text);
	if (j->gpus == 0 && j->like)
		j->gpus = catalog_count(j->like, "gpus");
	if (j->gpus)
		find_gpu(j, text);
}

/* --- power --- */

static double draw_of(const struct devicetype *d, bool *same)
{
	double sum = 0, first = MODEL_UNSET;

	*same = d->power_ports.n > 1;
	vec_each(&d->power_ports, const struct devicetype_part, p) {
		if (isnan(first))
			first = p->maximum_draw;
		if (isnan(p->maximum_draw) || p->maximum_draw != first)
			*same = false;
		if (!isnan(p->maximum_draw))
			sum += p->maximum_draw;
	}
	return sum;
}

static double known_watts(const struct judge *j)
{
	const double max = j->like ? catalog_num(j->like, "watts_max") : MODEL_UNSET;

	return isnan(max) && j->like ? catalog_num(j->like, "watts_planning") : max;
}

static void judge_draw(struct judge *j)
{
	const struct devicetype_parts *ports = &j->d->power_ports;
	const unsigned line = ports->n ? ports->at[0].line : j->d->line;
	const double watts = known_watts(j), floor = j->gpus * j->gpu_w;
	bool same;
	const double sum = draw_of(j->d, &same);

	if (sum <= 0) {
		if (ports->n || devicetype_bays(j->d, "PSU") || j->d->interfaces.n)
			leave_open(j, "power-missing", line, "no port says what it draws");
		return;
	}
	if (j->like && sum < watts * 0.75)
		find(j, "psu-power", line,
			"all power ports draw %.0f W, the catalogue's '%s' %.0f W", sum,
			j->like->id, watts);
	else if (sum < floor)
		find(j, "psu-power", line, "all power ports draw %.0f W, %u x %s alone %.0f W", sum,
			j->gpus, j->gpu, floor);
	if (same)
		leave_open(j, "draw-per-port", line,
			"each of %zu ports draws %.0f W: that is a PSU's rating, and the sum of %.0f W "
			"counts the spare ones too",
			ports->n, ports->at[0].maximum_draw, sum);
}

static void judge_ports_power(struct judge *j)
{
	vec_each(&j->d->power_ports, const struct devicetype_part, p) {
		const struct devicetype_inlet *inlet = devicetype_inlet(p->type);

		if (p->allocated_draw > p->maximum_draw)
			find(j, "draw-order", p->line, "'" STR_FMT "' allocates %.0f W of %.0f W",
				STR_ARG(p->name), p->allocated_draw, p->maximum_draw);
		/* UL lets inlets carry a quarter to a half more than IEC; 1.5 is beyond both */
		if (inlet && inlet->amps > 0 && inlet->phases == 1 &&
			p->maximum_draw > 1.5 * inlet->amps * inlet->volts)
			find(j, "inlet", p->line, "%.0f W through a %s of %.0f A", p->maximum_draw,
				inlet->name, inlet->amps);
	}
}

static void judge_psus(struct judge *j)
{
	const unsigned bays = devicetype_bays(j->d, "PSU");
	const unsigned known = j->like ? catalog_count(j->like, "psus") : 0;
	const unsigned ports = (unsigned)j->d->power_ports.n;
	const unsigned line = ports ? j->d->power_ports.at[0].line : j->d->line;

	/* the PSUs of a power shelf share its inlets */
	if (bays && ports && bays != ports && j->d->outlets.n == 0)
		find(j, "psu-bays", line, "%u power ports, but %u bays for PSUs", ports, bays);
	if (ports && known && ports != known && bays != known)
		find(j, "psu-count", line, "%u power ports, the catalogue's '%s' has %u PSUs",
			ports, j->like->id, known);
}

/* --- interfaces --- */

/* "P22.1": head "P", major 22, minor 1; "swp7": head "swp", major 7, no minor. */
struct numbered {
	struct str head, between;
	long major, minor; /* minor -1: none */
};

static size_t digits_at_end(struct str s)
{
	size_t n = 0;

	while (n < s.n && n < 6 && isdigit((unsigned char)s.p[s.n - 1 - n]))
		n++;
	return n;
}

static long number_of(struct str s)
{
	long v = 0;

	for (size_t i = 0; i < s.n; i++)
		v = v * 10 + (s.p[i] - '0');
	return v;
}

/* "swp7" is row "swp", 7; major is -1 when no number ends the name. */
static struct numbered split_flat(struct str name)
{
	const size_t n = digits_at_end(name);

	return (struct numbered){.head = str_first(name, name.n - n),
		.between = STR_LIT(""),
		.major = n ? number_of(str_from(name, name.n - n)) : -1,
		.minor = -1};
}

/* "P22.1" is row "P", 22, then 1; major is -1 for other names. */
static struct numbered split_nested(struct str name)
{
	struct numbered x = split_flat(name), outer;

	if (x.major < 0 || x.head.n < 2 || !strchr("./:", x.head.p[x.head.n - 1]))
		return (struct numbered){.head = name, .major = -1, .minor = 0};
	outer = split_flat(str_first(x.head, x.head.n - 1));
	outer.between = str_from(x.head, x.head.n - 1);
	outer.minor = x.major;
	return outer;
}

static struct numbered split_name(struct str name, bool nested)
{
	return nested ? split_nested(name) : split_flat(name);
}

#define GRID  256 /* numbers of a row that gaps are looked for in */
#define MINOR 8   /* parts of a port; more are ports of their own */

struct grid {
	bool has[GRID][MINOR];
	long low, high, minor_low, minor_high;
	unsigned n;
	bool wide; /* there are more than MINOR parts */
};

static void fill_grid(const struct devicetype *d, struct numbered like, bool nested, struct grid *g)
{
	*g = (struct grid){.low = GRID, .minor_low = MINOR, .high = -1, .minor_high = -1};
	vec_each(&d->interfaces, const struct devicetype_part, p) {
		const struct numbered x = split_name(p->name, nested);
		const long minor = x.minor < 0 ? 0 : x.minor;

		if (x.major < 0 || x.major >= GRID || !str_eq(x.head, like.head))
			continue;
		g->wide = g->wide || minor >= MINOR;
		if (minor >= MINOR)
			continue;
		g->has[x.major][minor] = true;
		g->n++;
		g->low = x.major < g->low ? x.major : g->low;
		g->high = x.major > g->high ? x.major : g->high;
		g->minor_low = minor < g->minor_low ? minor : g->minor_low;
		g->minor_high = minor > g->minor_high ? minor : g->minor_high;
	}
}

static const char *name_in_row(struct judge *j, struct numbered like, long major, long minor)
{
	if (like.minor < 0)
		return arena_printf(j->a, STR_FMT "%ld", STR_ARG(like.head), major);
	return arena_printf(j->a, STR_FMT "%ld" STR_FMT "%ld", STR_ARG(like.head), major,
		STR_ARG(like.between), minor);
}

/* What a name ends in, from its last word on: "0/0/20" of "TenGigE0/0/20", "21" of "Port 21". */
static struct str path_of(struct str name)
{
	size_t n = 0;

	while (n < name.n && (isdigit((unsigned char)name.p[name.n - 1 - n]) ||
				     strchr("./:", name.p[name.n - 1 - n])))
		n++;
	return str_from(name, name.n - n);
}

/*
 * Whether the number has a port of another kind (HundredGigE0/0/20 among TenGigE0/0/..), or
 * one that is told by its parts (Ethernet97/1 among Ethernet96 and Ethernet98).
 */
static bool is_elsewhere(const struct judge *j, const char *name)
{
	const struct str own = str_of(name), path = path_of(own);

	vec_each(&j->d->interfaces, const struct devicetype_part, p) {
		if (path.n && str_eq(path_of(p->name), path))
			return true;
		if (p->name.n > own.n && str_eq(str_first(p->name, own.n), own) &&
			strchr("./:", p->name.p[own.n]))
			return true;
	}
	return false;
}

/* A port that can be split takes the numbers of its parts: 49, 53, 57 leave three out each. */
static bool is_split(const struct grid *g, long major)
{
	long from = major, to = major;

	while (from > g->low && !g->has[from - 1][g->minor_low])
		from--;
	while (to < g->high && !g->has[to + 1][g->minor_low])
		to++;
	return to - from + 1 == 3 || to - from + 1 == 7;
}

#define NESTED_FULL 8 /* slots; with fewer, the last may well be shorter */

/* A slot that has its first parts and no more. */
static bool is_short(const struct grid *g, long major, long minor)
{
	if (g->high - g->low + 1 >= NESTED_FULL || !g->has[major][g->minor_low])
		return false;
	for (long k = minor; k <= g->minor_high; k++)
		if (g->has[major][k])
			return false;
	return true;
}

static bool is_gap(const struct grid *g, bool nested, long major, long minor)
{
	if (g->has[major][minor])
		return false;
	return nested ? !is_short(g, major, minor) : !is_split(g, major);
}

/* Names that are missing in a row that is nearly full. */
static void judge_row(
	struct judge *j, const struct devicetype_part *first, struct numbered like, bool nested)
{
	struct grid *g = arena_alloc(j->a, sizeof *g);
	const char *missing = NULL;
	unsigned gaps = 0;
	long cells;

	fill_grid(j->d, like, nested, g);
	cells = (g->high - g->low + 1) * (g->minor_high - g->minor_low + 1);
	if (g->wide || g->n < 4 || g->n * 10L < cells * 8)
		return;
	if (!nested && g->high < MINOR && split_nested(first->name).major >= 0)
		return; /* the parts of one port; the nested look sees them */
	for (long i = g->low; i <= g->high; i++)
		for (long k = g->minor_low; k <= g->minor_high; k++) {
			const char *name = name_in_row(j, like, i, k);

			if (!is_gap(g, nested, i, k) || is_elsewhere(j, name) || gaps++ >= 8)
				continue;
			missing = missing ? arena_printf(j->a, "%s, %s", missing, name) : name;
		}
	if (missing)
		find(j, "numbering", first->line, "%ld interfaces of %ld: %s missing",
			cells - (long)gaps, cells, missing);
}

#define ROWS_MOST 64

static void judge_numbers(struct judge *j, bool nested)
{
	const struct devicetype_parts *list = &j->d->interfaces;
	struct str heads[ROWS_MOST];
	unsigned n = 0;

	for (size_t i = 0; i < list->n && n < ROWS_MOST; i++) {
		const struct numbered x = split_name(list->at[i].name, nested);
		bool seen = x.major < 0;

		for (unsigned k = 0; k < n && !seen; k++)
			seen = str_eq(heads[k], x.head);
		if (seen)
			continue;
		heads[n++] = x.head;
		judge_row(j, &list->at[i], x, nested);
	}
}

static void judge_port_count(struct judge *j)
{
	const unsigned line = j->d->interfaces.n ? j->d->interfaces.at[0].line : j->d->line;
	unsigned main = 0, all = 0;

	(void)devicetype_main_port(j->d, &main);
	vec_each(&j->d->interfaces, const struct devicetype_part, p)
		all += devicetype_is_network(p);
	if (j->gpus && all > 24)
		find(j, "gpu-ports", line, "%u network ports on a box of %u GPUs: a switch's", all,
			j->gpus);
	if (!j->like || j->like->kind != CATALOG_SWITCH)
		return;
	if (main != catalog_count(j->like, "ports"))
		find(j, "port-count", line, "%u main ports, the catalogue's '%s' has %u", main,
			j->like->id, catalog_count(j->like, "ports"));
	else if (all != main + catalog_count(j->like, "extra_ports"))
		find(j, "port-count", line,
			"%u ports beside the main %u, the catalogue's '%s' has %u %s", all - main,
			main, j->like->id, catalog_count(j->like, "extra_ports"),
			catalog_text(j->like, "extra_port_type")
				? catalog_text(j->like, "extra_port_type")
				: "more");
}

static void judge_twins(struct judge *j, const struct devicetype_parts *list, const char *what)
{
	for (size_t i = 1; i < list->n; i++)
		for (size_t k = i < 512 ? 0 : i - 512; k < i; k++)
			if (str_eq(list->at[i].name, list->at[k].name)) {
				find(j, "duplicate", list->at[i].line,
					"two %s are called '" STR_FMT "'", what,
					STR_ARG(list->at[i].name));
				return;
			}
}

/* --- PDUs, bodies --- */

static void judge_legs(struct judge *j)
{
	const struct devicetype_parts *outlets = &j->d->outlets;
	const struct devicetype_inlet *inlet =
		j->d->power_ports.n ? devicetype_inlet(j->d->power_ports.at[0].type) : NULL;
	const double phases = j->like ? catalog_num(j->like, "phases") : MODEL_UNSET;
	const double amps = j->like ? catalog_num(j->like, "amps") : MODEL_UNSET;
	const bool three = (inlet && inlet->phases == 3) || phases == 3;
	const char leg = outlets->n ? outlets->at[0].leg : 0;
	size_t same = 0;

	vec_each(outlets, const struct devicetype_part, p)
		same += p->leg == leg;
	if (three && outlets->n > 1 && same == outlets->n && leg)
		find(j, "one-leg", outlets->at[0].line,
			"a three-phase PDU with all of its %zu outlets on leg %c", outlets->n, leg);
	else if (three && outlets->n > 1 && same == outlets->n)
		leave_open(j, "one-leg", outlets->at[0].line,
			"a three-phase PDU, and none of its %zu outlets says its leg", outlets->n);
	if (inlet && inlet->amps > 0 && fabs(inlet->amps - amps) > 0.05 * amps)
		find(j, "inlet", j->d->power_ports.at[0].line,
			"a %s inlet of %.0f A, the catalogue's '%s' has %.0f A", inlet->name,
			inlet->amps, j->like->id, amps);
}

#define KG_PER_U_GPU 11

static void judge_weight(struct judge *j)
{
	const double kg = j->d->weight_kg, u = j->d->height_u;
	const double known = j->like ? catalog_num(j->like, "weight_kg") : MODEL_UNSET;

	if (isnan(kg))
		return;
	for (size_t i = 0; j->known && i < j->known->entries.n; i++) {
		const struct catalog_entry *e = j->known->entries.at[i];
		const double bare = catalog_num(e, "weight_bare_kg");

		if (fabs(bare - kg) < 0.06 && catalog_num(e, "height_u") == u) {
			find(j, "weight-bare", j->d->weight_line,
				"%.10g kg is the empty chassis of '%s'", kg, e->id);
			return;
		}
	}
	if (u > 0 && j->gpus >= 8 && kg / u < KG_PER_U_GPU)
		find(j, "weight-bare", j->d->weight_line,
			"%.10g kg in %.10g U with %u GPUs: an empty chassis", kg, u, j->gpus);
	else if (fabs(kg - known) > 0.1 * known)
		find(j, "weight", j->d->weight_line, "%.10g kg, the catalogue's '%s' has %.10g kg",
			kg, j->like->id, known);
}

static void judge_height(struct judge *j)
{
	const double known = j->like ? catalog_num(j->like, "height_u") : MODEL_UNSET;

	if (isnan(j->d->height_u))
		leave_open(j, "height", j->d->line, "no 'u_height'");
	else if (fabs(j->d->height_u - known) > 0)
		find(j, "height", j->d->line, "%.10g U, the catalogue's '%s' has %.10g U",
			j->d->height_u, j->like->id, known);
}

bool devicetype_is_suspicious(const struct devicetype_findings *findings)
{
	vec_each(findings, const struct devicetype_finding, f)
		if (!f->open)
			return true;
	return false;
}

void devicetype_judge(const struct devicetype *d, const struct catalog *known, struct arena *a,
	struct devicetype_findings *out)
{
	struct judge j = {.d = d, .known = known, .a = a, .out = out};
	const enum catalog_kind kinds[] = {
		CATALOG_SERVER, CATALOG_SWITCH, CATALOG_PDU, CATALOG_STORAGE};
	const char *name = arena_printf(a, "%s %s", d->maker, d->model);

	for (size_t i = 0; known && !j.like && i < sizeof kinds / sizeof *kinds; i++)
		j.like = catalog_match(known, kinds[i], name);
	find_gpus(&j);
	if (d->outlets.n == 0 && !d->unpowered)
		judge_draw(&j);
	judge_ports_power(&j);
	judge_psus(&j);
	judge_numbers(&j, true);
	judge_numbers(&j, false);
	judge_port_count(&j);
	judge_legs(&j);
	judge_weight(&j);
	judge_height(&j);
	judge_twins(&j, &d->interfaces, "interfaces");
	judge_twins(&j, &d->power_ports, "power ports");
	judge_twins(&j, &d->outlets, "outlets");
}
