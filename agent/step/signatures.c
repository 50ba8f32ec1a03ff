#include "agent/step/signatures.h"

#include "agent/base/buf.h"
#include "agent/base/err.h"

#include <stdio.h>
#include <string.h>

#define JSON_MAX       (1u << 20)
#define SIGNATURES_MAX 256u

static int open_list(struct str json, json_t **root, json_t **list, struct err *err)
{
	int rc;

	/* wipefs says nothing at all about a device without signatures */
	*root = NULL;
	*list = NULL;
	if (str_trim(json).n == 0)
		return 0;
	rc = json_parse(json, JSON_MAX, "wipefs", root, err);
	if (rc < 0)
		return rc;
	*list = json_get(*root, "signatures");
	if (!json_is_array(*list) || json_array_size(*list) > SIGNATURES_MAX)
		return err_set(err, E_SCHEMA, "wipefs names no list of signatures");
	return 0;
}

static void put_word(struct buf *out, const char *word, const char *text, const char *quote)
{
	if (!text || !*text)
		return;
	buf_addf(out, " %s %s", word, quote);
	buf_add_printable(out, str_first(str_of(text), 80));
	buf_add_text(out, quote);
}

int signatures_read(
	struct str json, const char *indent, struct buf *out, unsigned *n, struct err *err)
{
	json_t *list, *item;
	AUTO_JSON root = NULL;
	size_t i;
	int rc = open_list(json, &root, &list, err);

	*n = 0;
	if (rc < 0)
		return rc;
	json_array_foreach(list, i, item)
	{
		const char *type = json_get_str(item, "type", NULL);

		if (!type)
			return err_set(err, E_SCHEMA, "wipefs names a signature without a type");
		buf_add_text(out, indent);
		buf_add_printable(out, str_first(str_of(type), 31));
		put_word(out, "label", json_get_str(item, "label", NULL), "'");
		put_word(out, "uuid", json_get_str(item, "uuid", NULL), "");
		buf_add_char(out, '\n');
		++*n;
	}
	return 0;
}

bool signatures_find(struct str json, const char *type, struct signature *out)
{
	json_t *list, *item;
	AUTO_JSON root = NULL;
	size_t i;

	memset(out, 0, sizeof *out);
	if (open_list(json, &root, &list, NULL) < 0)
		return false;
	json_array_foreach(list, i, item) if (strcmp(json_get_str(item, "type", ""), type) == 0)
	{
		snprintf(out->type, sizeof out->type, "%.31s", type);
		snprintf(out->label, sizeof out->label, "%.63s", json_get_str(item, "label", ""));
		snprintf(out->uuid, sizeof out->uuid, "%.63s", json_get_str(item, "uuid", ""));
		return true;
	}
	return false;
}

static uint32_t le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_uuid(const unsigned char *p, char out[static 64])
{
	size_t n = 0;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[n++] = '-';
		n += (size_t)snprintf(out + n, 64 - n, "%02x", p[i]);
	}
}

static void put_label(const unsigned char *p, size_t max, char out[static 64])
{
	size_t n = 0;

	while (n < max && n < 63 && p[n])
		n++;
	snprintf(out, 64, "%.*s", (int)n, (const char *)p);
	while (n > 0 && out[n - 1] == ' ')
		out[--n] = '\0';
}

static void read_ext(const unsigned char *s, struct signature *out)
{
	const uint32_t journal = le32(s + 0x5c) & 0x4, incompat = le32(s + 0x60),
		       compatible = le32(s + 0x64);
	/* extents, 64 bit, flexible groups; or anything newer than large files */
	const bool four = (incompat & (0x40 | 0x80 | 0x200)) || (compatible & ~0x7u);

	snprintf(out->type, sizeof out->type, "%s", four ? "ext4" : journal ? "ext3" : "ext2");
	put_uuid(s + 0x68, out->uuid);
	put_label(s + 0x78, 16, out->label);
}

static void read_fat(const unsigned char *p, size_t serial, struct signature *out)
{
	const uint32_t v = le32(p + serial);

	snprintf(out->type, sizeof out->type, "vfat");
	snprintf(out->uuid, sizeof out->uuid, "%04x-%04x", v >> 16, v & 0xffff);
	put_label(p + serial + 4, 11, out->label);
	if (strcmp(out->label, "NO NAME") == 0)
		out->label[0] = '\0';
}

bool signature_of(struct str head, struct signature *out)
{
	const unsigned char *p = (const unsigned char *)head.p;

	memset(out, 0, sizeof *out);
	if (head.n >= 2048 && p[0x438] == 0x53 && p[0x439] == 0xef) {
		read_ext(p + 0x400, out);
	} else if (head.n >= 512 && memcmp(p, "XFSB", 4) == 0) {
		snprintf(out->type, sizeof out->type, "xfs");
		put_uuid(p + 32, out->uuid);
		put_label(p + 108, 12, out->label);
	} else if (head.n >= 0x10400 && memcmp(p + 0x10040, "_BHRfS_M", 8) == 0) {
		snprintf(out->type, sizeof out->type, "btrfs");
		put_uuid(p + 0x10020, out->uuid);
		put_label(p + 0x1012b, 256, out->label);
	} else if (head.n >= 4096 && memcmp(p + 4086, "SWAPSPACE2", 10) == 0) {
		snprintf(out->type, sizeof out->type, "swap");
		put_uuid(p + 0x40c, out->uuid);
		put_label(p + 0x41c, 16, out->label);
	} else if (head.n >= 512 && memcmp(p + 82, "FAT32   ", 8) == 0) {
		read_fat(p, 67, out);
	} else if (head.n >= 512 && memcmp(p + 54, "FAT1", 4) == 0) {
		read_fat(p, 39, out);
	} else {
		return false;
	}
	return true;
}
