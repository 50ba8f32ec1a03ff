/* tree - each entry is judged and written; reading and hashing go on beside it (decode.h). */
#include "agent/unpack/tree.h"

#include "agent/base/err.h"
#include "agent/base/mem.h"
#include "agent/unpack/decode.h"
#include "agent/unpack/unpack_priv.h"
#include "agent/unpack/writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	struct archive *a;
	struct decode *decode;
	struct writer *writer;
	const struct tree_policy *policy;
	uint64_t bytes_max;
	unsigned entries, entries_max;
	struct tree_result *result;
};

static la_ssize_t next_block(struct archive *a, void *ctx, const void **out)
{
	struct tree *t = ctx;
	size_t n;

	(void)a;
	*out = decode_next(t->decode, &n);
	return (la_ssize_t)n;
}

/* "./a/b/" without what the policy cuts; NULL when nothing is left of it. */
static const char *stripped(const char *name, unsigned strip)
{
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	if (strcmp(name, ".") == 0)
		return NULL;
	for (; strip > 0; strip--) {
		name = strchr(name, '/');
		if (!name)
			return NULL;
		name++;
	}
	return *name ? name : NULL;
}

static const char *judge_kind(const struct tree *t, struct archive_entry *e)
{
	const mode_t type = archive_entry_filetype(e);

	if (archive_entry_hardlink(e) || type == AE_IFREG || type == AE_IFDIR || type == AE_IFLNK)
		return archive_entry_sparse_count(e) ? "is sparse" : NULL;
	if (t->policy->image &&
		(type == AE_IFCHR || type == AE_IFBLK || type == AE_IFIFO || type == AE_IFSOCK))
		return NULL;
	return "is a special file, only files, folders and links are allowed";
}

static int copy_bytes(struct tree *t, const struct item *i, uint64_t size, struct err *err)
{
	uint64_t done = 0;
	int rc = 0;

	while (rc == 0 && done < size) {
		const void *p = NULL;
		size_t n = 0;
		la_int64_t at = 0;
		const int got = archive_read_data_block(t->a, &p, &n, &at);

		if (got == ARCHIVE_EOF)
			return archive_refuse(i->name, "is shorter than its header says", err);
		if (got != ARCHIVE_OK)
			return archive_fail(t->a, err);
		if (at < 0 || (uint64_t)at != done || n > size - done)
			return archive_refuse(i->name, "is not as long as its header says", err);
		done += n;
		rc = writer_add(t->writer, (struct str){p, n}, err);
	}
	t->result->bytes += done;
	return rc;
}

static int put_file(struct tree *t, struct archive_entry *e, const struct item *i, struct err *err)
{
	const uint64_t size = archive_entry_size(e) < 0 ? 0 : (uint64_t)archive_entry_size(e);
	int rc;

	if (size > t->bytes_max - t->result->bytes)
		return err_set(err, E_LIMIT,
			"the archive unpacks to more than %llu bytes, the limit of this step",
			(unsigned long long)t->bytes_max);
	rc = writer_file(t->writer, i, err);
	if (rc == 0)
		rc = copy_bytes(t, i, size, err);
	t->result->files++;
	return rc < 0 ? rc : writer_close(t->writer, i, err);
}

static int put_symlink(
	struct tree *t, struct archive_entry *e, const struct item *i, struct err *err)
{
	const char *target = archive_entry_symlink(e);

	if (!target || !*target || strlen(target) >= PATH_MAX)
		return archive_refuse(i->name, "is a link that points nowhere", err);
	if (!t->policy->image && !archive_link_stays(i->name, target))
		return archive_refuse(i->name, "is a link that leads out of the archive", err);
	t->result->links++;
	return writer_link(t->writer, i, target, err);
}

static int put_hard(struct tree *t, const char *name, const char *target, struct err *err)
{
	const char *inside = stripped(target, t->policy->strip);

	if (target[0] == '/' || !inside || archive_judge_name(inside))
		return archive_refuse(name, "is a hard link out of the archive", err);
	t->result->links++;
	return writer_hard(t->writer, name, inside, err);
}

static struct item describe(const struct tree *t, struct archive_entry *e, const char *name)
{
	const mode_t mode = archive_entry_perm(e);
	const bool image = t->policy->image;

	return (struct item){
		.name = name,
		.mode = image ? mode & 07777 : mode & 0777,
		.uid = image ? (uint32_t)archive_entry_uid(e) : 0,
		.gid = image ? (uint32_t)archive_entry_gid(e) : 0,
		.mtime = archive_entry_mtime(e),
		.mtime_ns = (uint32_t)archive_entry_mtime_nsec(e) % 1000000000u,
	};
}

static int put_entry(struct tree *t, struct archive_entry *e, struct item *i, struct err *err)
{
	if (archive_entry_hardlink(e))
		return put_hard(t, i->name, archive_entry_hardlink(e), err);
	if (archive_entry_filetype(e) == AE_IFREG)
		return put_file(t, e, i, err);
	if (archive_entry_filetype(e) == AE_IFLNK)
		return put_symlink(t, e, i, err);
	if (archive_entry_filetype(e) == AE_IFDIR) {
		t->result->folders++;
		return writer_folder(t->writer, i, err);
	}
	i->mode |= (uint32_t)archive_entry_filetype(e);
	i->device = (uint64_t)archive_entry_rdev(e);
	return writer_device(t->writer, i, err);
}

static int take_entry(struct tree *t, struct archive_entry *e, struct err *err)
{
	const char *whole = archive_entry_pathname(e), *name, *why;
	char plain[PATH_MAX];
	struct item i;

	if (!whole)
		whole = archive_entry_pathname_utf8(e);
	if (!whole || whole[0] == '/')
		return archive_refuse(
			whole ? whole : "", whole ? "is an absolute path" : "has no name", err);
	if (++t->entries > t->entries_max)
		return err_set(
			err, E_LIMIT, "the archive holds more than %u entries", t->entries_max);
	name = stripped(whole, t->policy->strip);
	if (!name)
		return 0;
	why = archive_judge_name(name);
	if (!why)
		why = judge_kind(t, e);
	if (why)
		return archive_refuse(whole, why, err);
	snprintf(plain, sizeof plain, "%s", name);
	if (str_ends(str_of(plain), "/"))
		plain[strlen(plain) - 1] = '\0';
	i = describe(t, e, plain);
	return put_entry(t, e, &i, err);
}

static int take_all(struct tree *t, struct err *err)
{
	for (;;) {
		struct archive_entry *e;
		const int got = archive_read_next_header(t->a, &e);
		int rc;

		if (got == ARCHIVE_EOF)
			return 0;
		/* a warning is about a name's charset */
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			return archive_fail(t->a, err);
		rc = take_entry(t, e, err);
		if (rc < 0)
			return rc;
	}
}

static int run(struct tree *t, struct err *err)
{
	int rc = archive_read_open(t->a, t, NULL, next_block, NULL) == ARCHIVE_OK
			 ? take_all(t, err)
			 : archive_fail(t->a, err);

	return rc < 0 ? rc : writer_finish(t->writer, err);
}

int tree_all(
	int in, int dirfd, const struct tree_policy *p, struct tree_result *out, struct err *err)
{
	struct tree t = {.policy = p, .a = archive_reader(), .result = out};
	struct err cause = {0};
	int rc, cut;

	memset(out, 0, sizeof *out);
	if (!t.a)
		return err_set(err, E_INTERNAL, "no memory to read an archive");
	t.bytes_max = p->bytes ? p->bytes : TREE_BYTES_MAX;
	t.entries_max = p->entries ? p->entries : TREE_ENTRIES_MAX;
	t.decode = decode_start(in, err);
	if (!t.decode) {
		archive_read_free(t.a);
		return -E_INTERNAL;
	}
	t.writer = writer_new(dirfd, p->image);
	rc = run(&t, err);
	archive_read_free(t.a);
	writer_free(t.writer);
	/* a stream that cannot be decompressed looks like a short archive: that is the cause */
	cut = decode_finish(t.decode, rc < 0, out->sha256, &cause);
	if (cut < 0 && err)
		*err = cause;
	if (cut < 0)
		return cut;
	if (rc == 0 && syncfs(dirfd) < 0)
		rc = err_sys(err, errno, "cannot write the files through to the disk");
	return rc;
}
