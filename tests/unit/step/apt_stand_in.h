/*
 * apt_stand_in - apt-get, apt-mark, apt-cache and dpkg as scripts in a throw-away root.
 *
 * They write their arguments to /log, keep the status file as dpkg would, and take their answers
 * from /say-*: say-plan is printed by a simulation instead of what the words say.
 */
#pragma once

#include "tests/unit/step/programs.h"

/* In a word: name, version ("2" when not given), gone (a '-' at the end). */
#define STAND_IN_WORDS                                              \
	"while [ \"$1\" != -- ]; do shift; done; shift\n"           \
	"for p; do gone=; case $p in *-) gone=1; p=${p%-};; esac\n" \
	"  n=${p%%=*}; v=${p#*=}; [ \"$v\" != \"$p\" ] || v=2\n"

/* Writes the status file without package $n. */
#define STAND_IN_WITHOUT                                                                     \
	"without() { skip=; while IFS= read -r l; do case $l in \"Package: $1\") skip=1;;\n" \
	"  Package:*) skip=;; esac; [ -n \"$skip\" ] || printf '%s\\n' \"$l\"\n"             \
	"  done </var/lib/dpkg/status >/new; back; }\n"                                      \
	"back() { while IFS= read -r l; do printf '%s\\n' \"$l\"; done </new "               \
	">/var/lib/dpkg/status; }\n"                                                         \
	"have() { old=; p=; while IFS= read -r l; do case $l in Package:*) p=${l#*: };;\n"   \
	"  Version:*) [ \"$p\" != \"$1\" ] || old=${l#*: };; esac; done "                    \
	"</var/lib/dpkg/status; }\n"

static const char STAND_IN_APT_GET[] =
	"#!/bin/sh\n"
	"echo \"apt-get $*\" >>/log\n" STAND_IN_WITHOUT "case \"$*\" in\n"
	"*' update'*) : >/var/lib/apt/lists/x_Packages; [ ! -e /say-no-net ] || "
	"{ echo 'E: Failed to fetch http://mirror/x  Could not resolve mirror'; exit 100; }; exit 0;;\n"
	"esac\n"
	"[ ! -e /say-unknown ] || { read n </say-unknown; if [ \"$n\" != 0 ]; then\n"
	"  echo 0 >/say-unknown; echo 'E: Unable to locate package curl'; exit 100; fi; }\n"
	"case $1 in -s)\n"
	"  [ ! -e /say-refused ] || { while IFS= read -r l; do printf '%s\\n' \"$l\"; "
	"done </say-refused; exit 100; }\n"
	"  [ ! -e /say-plan ] || { while IFS= read -r l; do printf '%s\\n' \"$l\"; done </say-plan; "
	"exit 0; }\n" STAND_IN_WORDS "  have \"$n\"\n"
	"  if [ -n \"$gone\" ]; then echo \"Remv $n [$old]\"; "
	"elif [ -n \"$old\" ]; then echo \"Inst $n [$old] ($v stable [all])\"; "
	"else echo \"Inst $n ($v stable [all])\"; fi; done; exit 0;;\n"
	"esac\n"
	"case \"$*\" in *--download-only*)\n"
	"  [ ! -e /say-gone ] || { read n </say-gone; if [ \"$n\" != 0 ]; then echo 0 >/say-gone; "
	"echo 'E: Failed to fetch http://mirror/x  404  Not Found'; exit 100; fi; }; exit 0;;\n"
	"esac\n"
	"[ ! -e /say-broken ] || { echo 'Reading package lists...'; "
	"echo 'dpkg: error processing package curl (--configure):'; "
	"echo 'E: Sub-process /usr/bin/dpkg returned an error code (1)'; exit 100; }\n"
	"[ ! -e /say-full ] || { echo 'dpkg: error processing archive x.deb (--unpack):'; "
	"echo ' cannot copy: No space left on device'; "
	"printf 'Package: curl\\nStatus: install ok unpacked\\nArchitecture: all\\nVersion: 2\\n\\n' "
	">>/var/lib/dpkg/status; exit 100; }\n"
	"[ ! -e /say-lie ] || exit 0\n" STAND_IN_WORDS "  without \"$n\"\n"
	"  [ -n \"$gone\" ] || printf 'Package: %s\\nStatus: install ok installed\\n"
	"Architecture: all\\nVersion: %s\\n\\n' \"$n\" \"$v\" >>/var/lib/dpkg/status; done\n";

static const char STAND_IN_APT_MARK[] =
	"#!/bin/sh\n"
	"echo \"apt-mark $*\" >>/log\n" STAND_IN_WITHOUT "v=$1; shift 2; names=\" $* \"\n"
	"while IFS= read -r l; do case $l in Package:*) p=${l#*: };; Status:*)\n"
	"  case \"$names\" in *\" $p \"*) [ $v = hold ] && l='Status: hold ok installed' || "
	"l='Status: install ok installed';; esac;; esac\n"
	"  printf '%s\\n' \"$l\"; done </var/lib/dpkg/status >/new\n"
	"back\n";

static const char STAND_IN_APT_CACHE[] =
	"#!/bin/sh\n"
	"[ \"$1\" != policy ] || { [ ! -e /say-policy ] || while IFS= read -r l; do "
	"printf '%s\\n' \"$l\"; done </say-policy; exit 0; }\n"
	"[ ! -e /say-show ] || while IFS= read -r l; do printf '%s\\n' \"$l\"; done </say-show\n";

static const char STAND_IN_DPKG[] =
	"#!/bin/sh\n"
	"echo \"dpkg $*\" >>/log\n"
	"[ ! -e /say-stuck ] || { echo 'dkms: build failed for kernel 6.8'; exit 1; }\n"
	"while IFS= read -r l; do case $l in Status:*) l='Status: install ok installed';; esac\n"
	"  printf '%s\\n' \"$l\"; done </var/lib/dpkg/status >/new\n"
	"while IFS= read -r l; do printf '%s\\n' \"$l\"; done </new >/var/lib/dpkg/status\n"
	": >/var/lib/dpkg/updates/x\n";

static inline void stand_in_init(struct tree *t, const char *status)
{
	tree_init(t);
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_script(t, "usr/bin/apt-get", STAND_IN_APT_GET);
	programs_script(t, "usr/bin/apt-mark", STAND_IN_APT_MARK);
	programs_script(t, "usr/bin/apt-cache", STAND_IN_APT_CACHE);
	programs_script(t, "usr/bin/dpkg", STAND_IN_DPKG);
	tree_write(t, "var/lib/dpkg/status", status);
	tree_write(t, "var/lib/apt/lists/a_Packages", "");
	tree_mkdir(t, "var/lib/dpkg/updates");
	tree_mkdir(t, "dev");
}

static inline void stand_in_remove(struct tree *t, const char *name)
{
	assert_int_equal(fs_remove(t->env.root, name, false, NULL), 0);
}
