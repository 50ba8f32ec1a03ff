#include "agent/recipe/kind.h"

#include <string.h>

static const char *const PACKAGE_STATES[] = {"present", "latest", "absent", NULL};
static const char *const ENTRY_STATES[] = {"present", "absent", NULL};
static const char *const SERVICE_STATES[] = {
	"running", "stopped", "restarted", "reloaded", "unchanged", NULL};

static const struct kind_param PACKAGE[] = {
	{"names", PARAM_LIST, true, NULL, NULL, "package names, each may carry '=version'"},
	{"state", PARAM_CHOICE, false, PACKAGE_STATES, "present", "present, latest or absent"},
	{0},
};

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

static const struct kind_param TEMPLATE[] = {
	{"path", PARAM_PATH, true, NULL, NULL, "the file on the node"},
	{"source", PARAM_SOURCE, true, NULL, NULL, "a file in the recipe's templates/"},
	{"mode", PARAM_MODE, false, NULL, NULL, "preset: as it is, 0644 for a new one"},
	{"owner", PARAM_NAME, false, NULL, NULL, "user"},
	{"group", PARAM_NAME, false, NULL, NULL, "group"},
	{0},
};

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

static const struct kind_param SERVICE[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "the unit, '.service' may be left out"},
	{"state", PARAM_CHOICE, false, SERVICE_STATES, "running",
		"running, stopped, unchanged; restarted and reloaded for handlers"},
	{"enabled", PARAM_BOOL, false, NULL, NULL, "starts at boot; preset: as it is"},
	{0},
};

static const struct kind_param USER[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "login name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"uid", PARAM_INT, false, NULL, NULL, "number; preset: the system chooses"},
	{"group", PARAM_NAME, false, NULL, NULL, "primary group"},
	{"groups", PARAM_LIST, false, NULL, NULL, "further groups it must be in"},
	{"home", PARAM_PATH, false, NULL, NULL, "home directory"},
	{"create_home", PARAM_BOOL, false, NULL, "false", "make the home directory"},
	{"shell", PARAM_PATH, false, NULL, NULL, "login shell"},
	{"system", PARAM_BOOL, false, NULL, "false", "a system account"},
	{"about", PARAM_TEXT, false, NULL, NULL, "the GECOS field"},
	{0},
};

static const struct kind_param GROUP[] = {
	{"name", PARAM_NAME, true, NULL, NULL, "group name"},
	{"state", PARAM_CHOICE, false, ENTRY_STATES, "present", "present or absent"},
	{"gid", PARAM_INT, false, NULL, NULL, "number"},
	{"system", PARAM_BOOL, false, NULL, "false", "a system group"},
	{0},
};

static const struct kind_param SYSCTL[] = {
	{"values", PARAM_MAP, true, NULL, NULL, "name: value"},
	{"path", PARAM_PATH, false, NULL, "/etc/sysctl.d/90-stoika.conf",
		"drop-in that keeps them; its other lines stay"},
	{"live", PARAM_BOOL, false, NULL, "true", "also set them in the running kernel"},
	{0},
};

static const struct kind_param COMMAND[] = {
	{"run", PARAM_LIST, false, NULL, NULL, "program and arguments, no shell"},
	{"shell", PARAM_TEXT, false, NULL, NULL, "a line for /bin/sh -eu"},
	{"creates", PARAM_PATH, false, NULL, NULL, "not run when this path exists"},
	{"unless", PARAM_EXPR, false, NULL, NULL, "not run when this expression is true"},
	{"cwd", PARAM_PATH, false, NULL, "/", "where it runs"},
	{"timeout", PARAM_INT, false, NULL, "300", "seconds"},
	{0},
};
static const char *const COMMAND_ONE_OF[] = {"run", "shell", NULL};

const struct kind KINDS[] = {
	{"package", "packages of the distribution", PACKAGE, NULL, true, NULL, NULL},
	{"file", "a file with given bytes", FILE_, FILE_ONE_OF, false, FILE_NOT_BOTH, NULL},
	{"template", "a file rendered from a template", TEMPLATE, NULL, false, NULL, NULL},
	{"directory", "a directory", DIRECTORY, NULL, false, NULL, NULL},
	{"link", "a symbolic link", LINK, NULL, false, NULL, "target"},
	{"line", "one line of a file that others own too", LINE, NULL, false, NULL, NULL},
	{"service", "a service's state and whether it starts at boot", SERVICE, NULL, false, NULL,
		NULL},
	{"user", "a user account", USER, NULL, false, NULL, NULL},
	{"group", "a group", GROUP, NULL, false, NULL, NULL},
	{"sysctl", "kernel parameters, kept and live", SYSCTL, NULL, false, NULL, NULL},
	{"command", "a program, run only when its guard says so", COMMAND, COMMAND_ONE_OF, false,
		COMMAND_ONE_OF, NULL},
	{0},
};

const struct kind *kind_find(const char *name)
{
	for (const struct kind *k = KINDS; k->name; k++)
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
