/* kind_file - kinds of step that keep files. */
#include "agent/recipe/kind.h"

#include <stddef.h>

static const char *const ENTRY_STATES[] = {"present", "absent", NULL};

static const struct kind_param FILE_[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the file on the node"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"source", PARAM_SOURCE, false, NULL, NULL, "a file in the recipe's files/"},
	{"content", PARAM_TEXT, false, NULL, NULL, "the text itself"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0644 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user; preset: as it is, root for a new one"},
	{"group", PARAM_NAME, false, NULL, NULL, "group; likewise"},
	{0},
};
static const char *const FILE_ONE_OF[] = {"source", "content", "state", NULL};
static const char *const FILE_NOT_BOTH[] = {"source", "content", NULL};
static const char *const FILE_SECRET[] = {"content", NULL};

static const struct kind_param TEMPLATE[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the file on the node"},
	{"source", PARAM_SOURCE, true, NULL, NULL, "a file in the recipe's templates/"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0644 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user"},
	{"group", PARAM_NAME, false, NULL, NULL, "group"},
	{0},
};
static const char *const TEMPLATE_SECRET[] = {"source", NULL}; /* what is in it, not its name */

static const struct kind_param DIRECTORY[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the directory; missing parents are made, 0755"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "absent removes the whole tree"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0755 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user"},
	{"group", PARAM_NAME, false, NULL, NULL, "group"},
	{0},
};

static const struct kind_param LINK[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the symbolic link"},
	{"target", PARAM_TEXT, false, NULL, NULL, "where it points; needed unless absent"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{0},
};

static const struct kind_param LINE[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "a text file that others own too"},
	{"line", PARAM_TEXT, true, NULL, NULL, "the whole line, without its newline"},
	{"key", PARAM_TEXT, false, NULL, NULL,
		"lines that begin with this text are this line's; others stay"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"create", PARAM_BOOL, false, NULL, "false", "make the file when it is not there"},
	{0},
};

static const char *const MERGE_FORMATS[] = {"json", "toml", "ini", "apt", NULL};
static const struct kind_param MERGE[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the file that others own too"},
	{"format", PARAM_CHOICE, false, MERGE_FORMATS, NULL,
		"preset: by the name (.json, .toml, .ini, apt.conf)"},
	{"values", PARAM_TREE, false, NULL, NULL, "the keys that must be there, and their values"},
	{"absent", PARAM_TREE, false, NULL, NULL,
		"keys that must not be there: [a.b, 'c.\"d.e\"']"},
	{"lists", PARAM_TREE, false, NULL, NULL,
		"parts of lists: {a.b: {contains: [x]}, c: {without: [y]}}"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present",
		"absent removes the keys that values names"},
	{"create", PARAM_BOOL, false, NULL, "true", "make the file when it is not there"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0644 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user; preset: as it is, root for a new one"},
	{"group", PARAM_NAME, false, NULL, NULL, "group; likewise"},
	{"validate", PARAM_LIST, false, NULL, NULL,
		"a command that judges the new file, '{}' being its path"},
	{0},
};
static const char *const MERGE_ONE_OF[] = {"values", "absent", "lists", NULL};
static const char *const MERGE_SECRET[] = {"values", NULL};

const struct kind KIND_FILE[] = {
	{
		.name = "file",
		.about = "a file with given bytes",
		.check =
			"Compares size, then the SHA-256 of the manifest (source) or the bytes "
			"(content). Without source and content only the attributes count, and a missing "
			"file is made empty. The diff is unified up to 64 KiB of text, else sizes and "
			"hashes. absent: whether a file or a link is there; a directory is refused.",
		.apply =
			"Writes beside the file and renames over it; a symbolic link there is replaced "
			"by the file. The parent must exist.",
		.undo = "The old bytes, mode and owner come back, or the file goes when there was none.",
		.example = "file:\n"
			   "  path: /etc/motd\n"
			   "  content: \"gpu node\\n\"\n"
			   "  mode: \"0644\"",
		.params = FILE_,
		.one_of = FILE_ONE_OF,
		.not_both = FILE_NOT_BOTH,
		.secret = FILE_SECRET,
	},
	{
		.name = "template",
		.about = "a file rendered from a template",
		.check =
			"Renders the text anew and compares it with the file; unknown while the text "
			"hangs on something unknown. An undefined name is an error with its place in "
			"the template.",
		.apply = "As file.",
		.undo = "As file.",
		.example = "template:\n"
			   "  path: /etc/chrony/conf.d/site.conf\n"
			   "  source: site.conf",
		.params = TEMPLATE,
		.secret = TEMPLATE_SECRET,
	},
	{
		.name = "directory",
		.about = "a directory",
		.check =
			"Reads whether it is there, and its attributes. A link or a file in its place "
			"is a conflict.",
		.apply =
			"Makes it and its missing parents (0755), or sets the attributes. absent "
			"removes the whole tree without crossing into another file system; directories "
			"of the system (/etc, /usr/lib ...) are refused.",
		.undo = "Attributes come back; a directory that was made goes when it is empty. A tree "
			"that was removed does not come back, and undo says so.",
		.example = "directory:\n"
			   "  path: /var/lib/models\n"
			   "  mode: \"0755\"",
		.params = DIRECTORY,
	},
	{
		.name = "link",
		.about = "a symbolic link",
		.check =
			"Reads where it points and compares the text. Anything but a link in its place "
			"is a conflict.",
		.apply =
			"Makes the link beside the old one and renames it over, so that there is no "
			"moment without it. Never replaces or removes data.",
		.undo = "The old target comes back, or the link goes when there was none.",
		.example = "link:\n"
			   "  path: /opt/cuda\n"
			   "  target: /usr/local/cuda-12.9",
		.params = LINK,
		.unless_absent = "target",
	},
	{
		.name = "line",
		.about = "one line of a file that others own too",
		.check =
			"Lines that begin with key (without one: that equal line) are the step's own. "
			"It is the same when there is just one and it equals line.",
		.apply =
			"The first of its lines becomes line, further ones go, and without any it is "
			"added at the end. All other bytes, mode and owner stay. line must begin with "
			"key. A missing file is made only with create.",
		.undo = "The lines that were the step's own before come back where they were; others "
			"stay as they are now.",
		.example = "line:\n"
			   "  path: /etc/default/grub.d/iommu.cfg\n"
			   "  key: GRUB_CMDLINE_LINUX=\n"
			   "  line: GRUB_CMDLINE_LINUX=\"iommu=pt\"\n"
			   "  create: true",
		.params = LINE,
	},
	{
		.name = "merge",
		.about = "keys of a JSON, TOML, INI or apt.conf file that others own too",
		.check =
			"Parses the file and compares the keys that values, lists and absent name; a map "
			"is compared key by key, a list or scalar as a whole. A file that cannot be "
			"parsed is an error with its line and column, and stays as it is; so does one "
			"beyond 16 MiB or 200000 values, and one that holds a key twice. Names in "
			"absent and lists are keys with dots between; a key with a dot of its own stands "
			"in double quotes: 'plugins.\"io.containerd.grpc.v1.cri\".sandbox'. Under lists, "
			"contains adds what is missing at the end, without removes what is there, set is "
			"the whole list. An unquoted number or true is one, a quoted one is text. JSON "
			"and TOML are read strictly and as UTF-8; an empty file is an empty map. INI: "
			"sections and keys (values: {section: {key: value}}), comments with ; or # at "
			"the start of a line, a line that ends in a backslash goes on in the next, a key "
			"that comes several times is a list, all values are text. apt.conf: names as "
			"A::B or {A: {B: ...}}, lists as A::B { \"x\"; }; or A::B:: \"x\";, all values "
			"are text.",
		.apply =
			"Changes only those keys in the text of the file: other keys, comments, order, "
			"indentation, line ends (CRLF too) and a byte order mark stay byte for byte. The "
			"new file is written beside the old one, judged by validate when there is one, "
			"and renamed over it; mode and owner stay. When validate refuses, the old file "
			"stays and its last lines are shown. A file reached by a symbolic link is "
			"refused, name the file itself.",
		.undo = "Each of the step's keys gets its earlier value or goes, as long as it is still "
			"what the step made of it; what others changed since stays. A file that the "
			"step made goes when nothing else is in it. A file that nobody changed since is "
			"byte for byte as before.",
		.example = "merge:\n"
			   "  path: /etc/docker/daemon.json\n"
			   "  values:\n"
			   "    runtimes: {nvidia: {path: nvidia-container-runtime, args: []}}\n"
			   "  validate: [dockerd, --validate, --config-file, '{}']",
		.params = MERGE,
		.one_of = MERGE_ONE_OF,
		.secret = MERGE_SECRET,
	},
	{0},
};
