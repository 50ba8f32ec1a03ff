/* devicetype_write - one device type as a record of ours; only what it says, nothing made up. */
#include "inventory/catalog/devicetype.h"

#include <ctype.h>
#include <string.h>

#define ID_MOST   64
#define NAME_MOST 256

/* A text in double quotes, on one line. */
static void quote(struct buf *out, const char *text)
{
	buf_add_char(out, '"');
	for (const char *p = text; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_add_char(out, '\\');
		buf_add_char(out, (unsigned char)*p < ' ' ? ' ' : *p);
	}
	buf_add_char(out, '"');
}

static void write_text(struct buf *out, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, "    %s: ", key);
	quote(out, text);
	buf_add_char(out, '\n');
}

static void write_num(struct buf *out, const char *key, double v)
{
	if (!isnan(v))
		buf_addf(out, "    %s: %.10g\n", key, v);
}

/* A slug as an id: what no id may have becomes '-'. */
static void write_id(struct buf *out, const char *slug)
{
	char id[ID_MOST + 1];
	size_t n = 0;

	for (const char *p = slug; *p && n < ID_MOST; p++) {
		const bool good = isalnum((unsigned char)*p) || (n > 0 && strchr("._-", *p));

		if (good || n > 0)
			id[n++] = good ? (char)tolower((unsigned char)*p) : '-';
	}
	id[n] = '\0';
	buf_add_text(out, "  - id: ");
	quote(out, n ? id : "unnamed");
	buf_add_char(out, '\n');
}

/* What stands in a key of ours; the rest becomes '_'. */
static char plain(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-+ ", c)) ? c : '_';
}

static bool same_plain(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (plain(a.p[i]) != plain(b.p[i]))
			return false;
	return true;
}

/* Counts of a list by a name of each part, as a map. */
static void write_counts(struct buf *out, const char *key, const struct devicetype_parts *list,
	struct str (*name_of)(const struct devicetype_part *))
{
	unsigned n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct str name = name_of(&list->at[i]);
		bool seen = name.n == 0 || name.n > NAME_MOST;
		unsigned same = 0;

		for (size_t k = 0; k < i && !seen; k++)
			seen = same_plain(name_of(&list->at[k]), name);
		for (size_t k = i; k < list->n && !seen; k++)
			same += same_plain(name_of(&list->at[k]), name);
		if (seen)
			continue;
		if (n++ == 0)
			buf_addf(out, "    %s: {\"", key);
		else
			buf_add_text(out, ", \"");
		for (size_t k = 0; k < name.n; k++)
			buf_add_char(out, plain(name.p[k]));
		buf_addf(out, "\": %u", same);
	}
	if (n)
		buf_add_text(out, "}\n");
}

static struct str type_of(const struct devicetype_part *p)
{
	return p->type;
}

static struct str leg_of(const struct devicetype_part *p)
{
	return (struct str){&p->leg, p->leg ? 1 : 0};
}

static void write_body(const struct devicetype *d, struct buf *out)
{
	write_num(out, "height_u", d->height_u);
	if (isnan(d->height_u) && devicetype_kind(d) != CATALOG_PDU)
		buf_add_text(out, "    height_u: null\n");
	buf_addf(out, "    full_depth: %s\n", d->full_depth ? "true" : "false");
	if (d->weight_kg > 0)
		buf_addf(out, "    weight_kg: %.6g\n", d->weight_kg);
}

/* The value all ports state, NaN when they differ or one states none. */
static double same_draw(const struct devicetype *d)
{
	double v = d->power_ports.n ? d->power_ports.at[0].maximum_draw : MODEL_UNSET;

	vec_each(&d->power_ports, const struct devicetype_part, p)
		if (isnan(p->maximum_draw) || p->maximum_draw != v)
			v = MODEL_UNSET;
	return v > 0 ? v : MODEL_UNSET;
}

/* With one port its draw is the machine's; with several it is what a PSU can give. */
static void write_power(const struct devicetype *d, struct buf *out)
{
	const struct devicetype_inlet *inlet =
		d->power_ports.n ? devicetype_inlet(d->power_ports.at[0].type) : NULL;
	const unsigned bays = devicetype_bays(d, "PSU");
	const double draw = same_draw(d);
	double allocated = 0;

	vec_each(&d->power_ports, const struct devicetype_part, p)
		if (p->allocated_draw > 0)
			allocated += p->allocated_draw;
	if (d->power_ports.n <= 64 && (d->power_ports.n || bays))
		buf_addf(
			out, "    psus: %zu\n", d->power_ports.n ? d->power_ports.n : (size_t)bays);
	if (d->power_ports.n == 1)
		buf_add_text(out, "    psus_needed: 1\n");
	write_num(out, d->power_ports.n == 1 ? "watts_max" : "psu_watts", draw);
	if (allocated > 0)
		write_num(out, "watts_planning", allocated);
	if (inlet) {
		write_text(out, "inlet", inlet->name);
		if (inlet->amps > 0)
			write_num(out, "inlet_amps", inlet->amps);
	}
	write_text(out, "airflow", d->airflow);
}

static void write_ports(const struct devicetype *d, struct buf *out)
{
	if (d->interfaces.n)
		buf_addf(out, "    interfaces: %zu\n", d->interfaces.n);
	write_counts(out, "interface_types", &d->interfaces, type_of);
	if (d->power_ports.n && d->power_ports.n <= 1000)
		buf_addf(out, "    power_ports: %zu\n", d->power_ports.n);
	if (devicetype_bays(d, "PSU") && devicetype_bays(d, "PSU") <= 1000)
		buf_addf(out, "    psu_bays: %u\n", devicetype_bays(d, "PSU"));
	if (devicetype_bays(d, "GPU") && devicetype_bays(d, "GPU") <= 1000)
		buf_addf(out, "    gpu_bays: %u\n", devicetype_bays(d, "GPU"));
}

static void write_switch(const struct devicetype *d, struct buf *out)
{
	unsigned n = 0;
	const struct str type = devicetype_main_port(d, &n);
	const double gbps = devicetype_gbps(type);

	buf_addf(out, "    fabric: %s\n",
		str_starts(type, "infiniband") ? "infiniband" : "ethernet");
	buf_addf(out, "    ports: %u\n", n);
	if (gbps > 0)
		write_num(out, "port_gbps", gbps);
}

static void write_pdu(const struct devicetype *d, struct buf *out)
{
	const struct devicetype_inlet *inlet =
		d->power_ports.n ? devicetype_inlet(d->power_ports.at[0].type) : NULL;
	unsigned c13 = 0, c19 = 0;

	if (d->power_ports.n)
		write_text(out, "input", inlet ? inlet->name : d->power_ports.at[0].type.p);
	if (inlet && inlet->phases)
		buf_addf(out, "    phases: %u\n", inlet->phases);
	if (inlet && inlet->amps > 0)
		write_num(out, "amps", inlet->amps);
	vec_each(&d->outlets, const struct devicetype_part, p) {
		c13 += str_is(p->type, "iec-60320-c13");
		c19 += str_is(p->type, "iec-60320-c19");
	}
	if (d->outlets.n <= 500)
		buf_addf(out, "    outlets_c13: %u\n    outlets_c19: %u\n    outlets_other: %zu\n",
			c13, c19, d->outlets.n - c13 - c19);
	write_counts(out, "outlets_by_leg", &d->outlets, leg_of);
}

static void write_suspicion(const struct devicetype_findings *findings, struct buf *out)
{
	AUTO_BUF text = {0};

	buf_init(&text, 3500);
	vec_each(findings, const struct devicetype_finding, f)
		if (!f->open)
			buf_addf(&text, "%s%s: %s", text.n ? "; " : "", f->rule, f->text);
	write_text(out, "suspicious", buf_text(&text));
}

void devicetype_write_head(struct buf *out)
{
	buf_add_text(out,
		"# Taken from community device types: every figure is of low confidence until it is "
		"checked.\n\nformat: 1\nsources:\n  community_device_types:\n    title: "
		"\"community device types in the format of NetBox's devicetype-library\"\n");
}

void devicetype_write(
	const struct devicetype *d, const struct devicetype_findings *findings, struct buf *out)
{
	const enum catalog_kind kind = devicetype_kind(d);
	AUTO_BUF name = {0};

	buf_init(&name, 1024);
	buf_addf(&name, "%s %s", d->maker, d->model);
	write_id(out, d->slug);
	write_text(out, "name", buf_text(&name));
	write_text(out, "maker", d->maker);
	write_text(out, "part_number", d->part_number);
	write_suspicion(findings, out);
	write_body(d, out);
	if (kind == CATALOG_SWITCH)
		write_switch(d, out);
	if (kind == CATALOG_PDU)
		write_pdu(d, out);
	else
		write_power(d, out);
	write_ports(d, out);
	buf_add_text(out, "    source: [community_device_types]\n    confidence: low\n");
}
