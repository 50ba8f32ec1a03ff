#include "agent/facts/module_version.h"

#include "agent/base/buf.h"
#include "agent/base/fs.h"
#include "agent/base/mem.h"
#include "agent/facts/source.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEP_MAX    (8u << 20)
#define MODULE_MAX (1u << 30)

struct str module_info_find(struct str text, const char *key)
{
	const size_t n = strlen(key);

	while (text.n > n) {
		size_t end = 0;

		while (end < text.n && text.p[end] != '\0' && text.p[end] != '\n')
			end++;
		if (end > n && text.p[n] == '=' && memcmp(text.p, key, n) == 0)
			return str_from(str_first(text, end), n + 1);
		text = str_from(text, end + 1);
	}
	return (struct str){NULL, 0};
}

static bool part(struct str file, uint64_t at, uint64_t n, struct str *out)
{
	if (at > file.n || n > file.n - at)
		return false;
	*out = (struct str){file.p + at, (size_t)n};
	return true;
}

/* Copied out, since nothing says that the file's parts are aligned. */
static bool section(struct str file, const Elf64_Ehdr *head, unsigned i, Elf64_Shdr *out)
{
	struct str bytes;

	if (head->e_shentsize < sizeof *out || i >= head->e_shnum ||
		!part(file, head->e_shoff, (uint64_t)head->e_shentsize * head->e_shnum, &bytes))
		return false;
	memcpy(out, bytes.p + (size_t)i * head->e_shentsize, sizeof *out);
	return true;
}

bool module_info_section(struct str file, struct str *out)
{
	static const char NAME[] = ".modinfo";
	struct str names, name;
	Elf64_Shdr s;
	Elf64_Ehdr head;

	if (file.n < sizeof head)
		return false;
	memcpy(&head, file.p, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
		!section(file, &head, head.e_shstrndx, &s) ||
		!part(file, s.sh_offset, s.sh_size, &names))
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++)
		if (section(file, &head, i, &s) && part(names, s.sh_name, sizeof NAME, &name) &&
			memcmp(name.p, NAME, sizeof NAME) == 0)
			return part(file, s.sh_offset, s.sh_size, out);
	return false;
}

static bool read_version(int root, const char *path, char out[static MODULE_VERSION_MAX])
{
	AUTO_FD fd = fs_open(root, path, O_RDONLY | O_NONBLOCK, 0, true, NULL);
	struct str file, info, version;
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
		(uint64_t)st.st_size > MODULE_MAX)
		return false;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	file = (struct str){at, (size_t)st.st_size};
	version = module_info_find(module_info_section(file, &info) ? info : file, "version");
	snprintf(out, MODULE_VERSION_MAX, STR_FMT, STR_ARG(str_trim(version)));
	munmap(at, file.n);
	return out[0] != '\0';
}

/* "updates/dkms/nvidia.ko.zst: kernel/..." -> the path before the colon. */
static bool find_in_dep(int root, const char *release, const char *name, char out[static PATH_MAX])
{
	char path[PATH_MAX], file[96];
	struct str rest, line;
	AUTO_BUF dep;

	buf_init(&dep, DEP_MAX);
	snprintf(path, sizeof path, "/lib/modules/%.128s/modules.dep", release);
	snprintf(file, sizeof file, "/%.64s.ko", name);
	if (!source_file(root, path, &dep))
		return false;
	rest = buf_str(&dep);
	while (str_line(&rest, &line)) {
		const struct str module = str_first(line, str_find(line, ':'));
		const size_t at = str_find_str(module, str_of(file));

		if (at == STR_NONE || str_find(str_from(module, at + 1), '/') != STR_NONE)
			continue;
		snprintf(out, PATH_MAX, "/lib/modules/%.128s/" STR_FMT, release, STR_ARG(module));
		return true;
	}
	return false;
}

static bool find_in_folders(
	int root, const char *release, const char *name, char out[static PATH_MAX])
{
	static const char *const FOLDERS[] = {
		"updates/dkms", "updates", "extra", "weak-updates", "kernel/drivers/video", NULL};
	static const char *const ENDS[] = {"", ".zst", ".xz", ".gz", NULL};

	for (const char *const *f = FOLDERS; *f; f++)
		for (const char *const *e = ENDS; *e; e++) {
			snprintf(out, PATH_MAX, "/lib/modules/%.128s/%s/%.64s.ko%s", release, *f,
				name, *e);
			if (source_exists(root, out))
				return true;
		}
	return false;
}

enum module_found module_version(
	int root, const char *release, const char *name, char out[static MODULE_VERSION_MAX])
{
	char path[PATH_MAX];

	out[0] = '\0';
	if (!find_in_dep(root, release, name, path) && !find_in_folders(root, release, name, path))
		return MODULE_NONE;
	return read_version(root, path, out) ? MODULE_READ : MODULE_PACKED;
}
