/* kind_storage - kinds of step that keep archives, images, disks and file systems. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const ENTRY_STATES[] = {"present", "absent", NULL};

static const char *const VERIFY[] = {"noted", "always", NULL};
static const struct kind_param DOWNLOAD[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the file on the node"},
	{"url", PARAM_TEXT, false, NULL, NULL, "where it is, http or https"},
	{"urls", PARAM_LIST, false, NULL, NULL, "mirrors, tried in order (after url)"},
	{"sha256", PARAM_TEXT, false, NULL, NULL, "of the bytes, 64 hex digits; or sums"},
	{"sums", PARAM_SOURCE, false, NULL, NULL,
		"a list as of sha256sum in the recipe's files/, with a line for the url's last name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0644 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user; preset: as it is, root for a new one"},
	{"group", PARAM_NAME, false, NULL, NULL, "group; likewise"},
	{"verify", PARAM_CHOICE, false, VERIFY, "noted",
		"noted: an untouched file counts as what it was when it came; always: read it each "
		"time"},
	{"max_size", PARAM_INT, false, NULL, "0", "bytes; 0: 1 TiB"},
	{"proxy", PARAM_TEXT, false, NULL, NULL, "an HTTP proxy's url; preset: none"},
	{"ca", PARAM_PATH, false, NULL, NULL,
		"certificates of the authorities to trust; preset: the system's"},
	{"low_speed", PARAM_INT, false, NULL, "1024", "bytes a second; slower for low_time is cut"},
	{"low_time", PARAM_INT, false, NULL, "30", "seconds"},
	{"retries", PARAM_INT, false, NULL, "3", "further tries of a mirror after a broken line"},
	{0},
};
static const char *const DOWNLOAD_ONE_OF[] = {"url", "urls", "state", NULL};
static const char *const DOWNLOAD_NOT_BOTH[] = {"sha256", "sums", NULL};
static const char *const DOWNLOAD_SECRET[] = {"proxy", NULL};

static const struct kind_param ARCHIVE[] = {
	{"into", PARAM_PATH, true, NULL, NULL, "the folder, which is the step's own"},
	{"source", PARAM_SOURCE, false, NULL, NULL, "a tar in the recipe's files/"},
	{"path", PARAM_PATH, false, NULL, NULL, "a tar on the node; needs sha256"},
	{"sha256", PARAM_TEXT, false, NULL, NULL, "of the archive, 64 hex digits"},
	{"strip", PARAM_INT, false, NULL, "0", "leading parts to cut from each name"},
	{"creates", PARAM_PATH, false, NULL, NULL, "unpacked again when this is missing"},
	{"max_size", PARAM_INT, false, NULL, "0", "bytes it may unpack to; 0: 1 TiB"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};
static const char *const ARCHIVE_ONE_OF[] = {"source", "path", "state", NULL};
static const char *const ARCHIVE_NOT_BOTH[] = {"source", "path", NULL};

const struct kind KIND_STORAGE[] = {
	{
		.name = "download",
		.about = "a file from the network, known by its SHA-256",
		.check =
			"Never asks the network. A file that nobody touched since it came counts as what "
			"it was then (size, times and the note in its attribute "
			"trusted.stoika.sha256); any other is read and hashed. With verify: always "
			"it is read each time.",
		.apply =
			"Fetches into a hidden part file beside, in a process without privileges, hashing "
			"as the bytes come. A part that is there already is continued. Mirrors are "
			"tried in order; one that breaks is tried again with growing pauses, one that has "
			"not the file, or other bytes, is left. At most three redirects, never from "
			"https to http. Only bytes of the right SHA-256 take the name.",
		.undo = "The old file comes back, or the new one goes when there was none. A file over "
			"64 MiB that was replaced waits beside as .NAME.stoika-was until the next change.",
		.example =
			"download:\n"
			"  path: /var/cache/cuda.run\n"
			"  urls: [\"https://mirror.example/cuda.run\", \"https://other.example/cuda.run\"]\n"
			"  sha256: 9f2d5c0f7e0b8a5d4c3b2a190817f6e5d4c3b2a190817f6e5d4c3b2a19081726",
		.params = DOWNLOAD,
		.one_of = DOWNLOAD_ONE_OF,
		.not_both = DOWNLOAD_NOT_BOTH,
		.secret = DOWNLOAD_SECRET,
	},
	{
		.name = "archive",
		.about = "a folder that holds just what an archive holds",
		.check =
			"Reads the stamp in the folder (.stoika-archive): the archive's SHA-256 and what "
			"was cut. The single files are not compared; creates names one that must be there. "
			"A folder with files of others is a conflict.",
		.apply =
			"Unpacks beside, in a confined process, and puts the folder in place whole by one "
			"rename. tar only, plain, gzip or zstd. Refused are names and links that lead out, "
			"devices, control characters; set-uid bits and owners are dropped.",
		.undo = "The earlier folder comes back (it waits beside as .NAME.stoika-was until the next "
			"change), or the new one goes when there was none.",
		.example = "archive:\n"
			   "  into: /opt/nccl-tests\n"
			   "  source: nccl-tests.tar.zst\n"
			   "  strip: 1",
		.params = ARCHIVE,
		.one_of = ARCHIVE_ONE_OF,
		.not_both = ARCHIVE_NOT_BOTH,
	},
	{0},
};
