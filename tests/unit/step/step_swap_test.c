/*
 * swap - mkswap, swapon and swapoff are scripts that keep the throw-away root's /proc/swaps; mkswap
 * writes the signature where a kernel with pages of 4 KiB looks for it.
 */
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

static const char *const IGNORED[] = {"log", "new", "block", NULL};

static void init(struct tree *t)
{
	char block[4097];
	char path[512];
	FILE *f;

	tree_init(t);
	tree_ignore = IGNORED;
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_add(t, "/bin/dd", "/bin/dd");
	programs_script(t, "usr/sbin/mkswap",
		"#!/bin/sh\necho \"mkswap $*\" >>/log\n"
		"dd if=/block of=$2 conv=notrunc\n");
	programs_script(t, "usr/sbin/swapon",
		"#!/bin/sh\necho \"swapon $*\" >>/log\n[ ! -e /denied ] || { echo 'swapon "
		"failed: Operation not permitted' >&2; exit 255; }\n"
		"for p; do :; done; echo \"$p file 1 0 -2\" >>/proc/swaps\n");
	programs_script(t, "usr/sbin/swapoff",
		"#!/bin/sh\necho \"swapoff $*\" >>/log\n"
		"while read -r l; do case $l in \"$1 \"*) ;; *) echo \"$l\";; esac; done "
		"</proc/swaps >/new\nwhile read -r l; do echo \"$l\"; done </new >/proc/swaps\n");
	memset(block, 0, sizeof block);
	memcpy(block + 4086, "SWAPSPACE2", 10);
	tree_path(t, "block", path);
	f = fopen(path, "w");
	assert_int_equal(fwrite(block, 1, 4096, f), 4096);
	fclose(f);
	tree_write(t, "log", "");
	tree_write(t, "new", "");
	tree_write(t, "etc/fstab", "UUID=1 / ext4 defaults 0 1\n");
	tree_write(t, "proc/swaps", "Filename Type Size Used Priority\n");
}

#define FILE_2M "{\"path\": \"/swapfile\", \"size\": \"2M\"}"

TEST(swap_file_is_made_and_on)
{
	struct stat st;
	struct tree t;

	init(&t);
	tree_converge(&t, "swap", FILE_2M);
	assert_int_equal(fs_stat(t.env.root, "swapfile", false, &st, NULL), 0);
	assert_int_equal(st.st_size, 2 << 20);
	assert_true(st.st_blocks * 512 >= 2 << 20); /* no holes */
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_string_equal(tree_read(&t, "etc/fstab"),
		"UUID=1 / ext4 defaults 0 1\n/swapfile\tnone\tswap\tsw\t0 0\n");
	/* another size: off, made anew, on */
	tree_write(&t, "log", "");
	tree_converge(&t, "swap", "{\"path\": \"/swapfile\", \"size\": \"3M\", \"priority\": 5}");
	assert_string_equal(tree_read(&t, "log"),
		"mkswap --force /.stoika-tmp.swapfile\nswapoff /swapfile\nswapon -p 5 "
		"/swapfile\n");
	tree_converge(&t, "swap", "{\"path\": \"/swapfile\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "swapfile"));
	assert_string_equal(tree_read(&t, "etc/fstab"), "UUID=1 / ext4 defaults 0 1\n");
	tree_done(&t);
}

TEST(swap_is_undone)
{
	struct tree t;

	init(&t);
	tree_undoes(&t, "swap", FILE_2M);
	tree_converge(&t, "swap", FILE_2M);
	tree_undoes(&t, "swap", "{\"path\": \"/swapfile\", \"size\": \"3M\"}");
	tree_undoes(&t, "swap", "{\"path\": \"/swapfile\", \"state\": \"absent\"}");
	tree_done(&t);
}

TEST(swap_interrupted_before_mkswap_goes_on)
{
	struct tree t;
	char path[512];

	init(&t);
	tree_write(&t, "swapfile", "");
	tree_path(&t, "swapfile", path);
	assert_int_equal(truncate(path, 2 << 20), 0);
	assert_int_equal(tree_check(&t, "swap", FILE_2M), STEP_DIFFERS);
	assert_string_equal(t.rep.why, "is no swap space yet");
	tree_converge(&t, "swap", FILE_2M);
	tree_done(&t);
}

TEST(swap_that_the_kernel_refuses)
{
	struct tree t;

	init(&t);
	tree_write(&t, "denied", "");
	assert_true(tree_apply(&t, "swap", FILE_2M) < 0);
	assert_non_null(strstr(t.err.msg, "not permitted"));
	assert_non_null(strstr(t.err.hint, "container"));
	assert_string_equal(tree_read(&t, "etc/fstab"), "UUID=1 / ext4 defaults 0 1\n");
	tree_done(&t);
}

TEST(swap_without_space_says_how_much)
{
	struct tree t;

	init(&t);
	assert_int_equal(tree_apply(&t, "swap", "{\"path\": \"/swapfile\", \"size\": \"900T\"}"),
		-E_NOSPACE);
	assert_non_null(strstr(t.err.msg, "MiB are free"));
	assert_false(tree_has(&t, "swapfile"));
	tree_done(&t);
}

TEST(swap_refuses_bad_arguments)
{
	static const char *const BAD[] = {"{\"path\": \"/swapfile\"}", "{\"path\": \"x\"}",
		"{\"path\": \"/s\", \"size\": \"\"}", "{\"path\": \"/s\", \"size\": \"8X\"}",
		"{\"path\": \"/s\", \"size\": \"4K\"}", "{\"path\": \"/s\", \"size\": \"9999T\"}",
		"{\"path\": \"/s\", \"size\": \"1G\", \"priority\": 40000}"};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
		tree_refused(&t, "swap", BAD[i], E_SCHEMA);
	tree_refused(&t, "swap", "{\"path\": \"/dev/sdb\", \"size\": \"1G\"}", E_CONFLICT);
	tree_refused(&t, "swap", "{\"path\": \"/dev/sdb\"}", E_NOTFOUND);
	t.env.dry = true;
	assert_int_equal(tree_check(&t, "swap", "{\"path\": \"/dev/sdb\"}"), STEP_UNKNOWN);
	t.env.dry = false;
	/* somebody's file is neither overwritten nor removed */
	tree_write(&t, "swapfile", "precious");
	tree_refused(&t, "swap", FILE_2M, E_CONFLICT);
	tree_refused(&t, "swap", "{\"path\": \"/swapfile\", \"state\": \"absent\"}", E_CONFLICT);
	assert_int_equal(tree_apply(&t, "swap", FILE_2M), -E_CONFLICT);
	assert_string_equal(tree_read(&t, "swapfile"), "precious");
	tree_mkdir(&t, "dir");
	tree_refused(&t, "swap", "{\"path\": \"/dir\", \"size\": \"1G\"}", E_CONFLICT);
	tree_done(&t);
}

T_MAIN
