/*
 * step_container_test - units that run containers, and images from archives; engines and systemctl
 * are scripts of the throw-away root. tests/lab does it with podman itself.
 */
#include "agent/base/hash.h"
#include "agent/step/oci_index.h"
#include "tests/unit/step/programs.h"
#include "tests/unit/step/undo.h"

#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"

static const char SYSTEMCTL[] =
	"#!/bin/sh\n"
	"echo \"$*\" >>/log\n"
	"w=/etc/systemd/system/multi-user.target.wants\n"
	"c=/sys/fs/cgroup/system.slice/app.service/cgroup.events\n"
	"i=/run/systemd/units/invocation:app.service\n"
	"case $1 in\n"
	"show) if [ -e /on ]; then a=active s=running; else a=inactive s=dead; fi\n"
	"  echo LoadState=loaded; echo ActiveState=$a; echo SubState=$s; echo Result=success;;\n"
	"start|restart) : >/on; echo populated 1 >$c; ln -sf x $i;;\n"
	"stop) rm -f /on $c $i;;\n"
	"enable) ln -s /x $w/$2;;\n"
	"disable) rm -f $w/$2;;\n"
	"esac\n"
	"exit 0\n";

/* docker: load makes what /loaded holds the list of names; tag and rmi change it. */
static const char DOCKER[] =
	"#!/bin/sh\n"
	"r=/var/lib/docker/image/overlay2/repositories.json\n"
	"echo \"$*\" >>/log\n"
	"case $1 in\n"
	"load) [ -r \"$3\" ] || exit 3; [ ! -s /loaded ] || cat /loaded >$r ;;\n"
	"tag) printf '{\"Repositories\":{\"x\":{\"%s\":\"%s\"}}}' \"$3\" \"$2\" >$r ;;\n"
	"rmi) printf '{\"Repositories\":{}}' >$r ;;\n"
	"esac\n";

static const char *const IGNORED[] = {"log", NULL};

static void init(struct tree *t)
{
	tree_init(t);
	tree_ignore = IGNORED;
	programs_add(t, "/bin/dash", "/bin/sh");
	programs_add(t, "/bin/rm", "/bin/rm");
	programs_add(t, "/bin/ln", "/bin/ln");
	programs_add(t, "/bin/cat", "/bin/cat");
	programs_script(t, "usr/bin/systemctl", SYSTEMCTL);
	programs_script(t, "usr/bin/docker", DOCKER);
	tree_mkdir(t, "run/systemd/system");
	tree_mkdir(t, "run/systemd/units");
	tree_mkdir(t, "sys/fs/cgroup/system.slice/app.service");
	tree_mkdir(t, "etc/systemd/system/multi-user.target.wants");
	tree_write(t, "var/lib/docker/image/overlay2/repositories.json", "{\"Repositories\":{}}");
	tree_write(t, "log", "");
}

#define APP "\"name\": \"app\", \"image\": \"reg/x@" D1 "\""

TEST(container_is_started_and_taken_back)
{
	static const char ARGS[] =
		"{" APP ", \"ports\": [\"127.0.0.1:80:8080\"], \"volumes\": [\"/srv:/srv:ro\"], "
		"\"env\": {\"B\": \"50%\", \"A\": \"say \\\"$x\\\"\"}, \"gpus\": [\"all\"], \"read_only\": true, "
		"\"args\": [\"--port\", \"8080\"]}";
	struct tree t;

	init(&t);
	tree_undoes(&t, "container", ARGS);
	tree_converge(&t, "container", ARGS);
	assert_string_equal(tree_read(&t, "etc/systemd/system/app.service"),
		"# written by Stoika's step 'container', which overwrites it\n"
		"[Unit]\n"
		"Description=container app\n"
		"Wants=network-online.target\n"
		"After=network-online.target docker.service\n"
		"Requires=docker.service\n"
		"\n"
		"[Service]\n"
		"Restart=always\n"
		"RestartSec=5\n"
		"TimeoutStartSec=900\n"
		"ExecStartPre=-/usr/bin/docker rm --force app\n"
		"ExecStart=\"/usr/bin/docker\" \\\n"
		"\t\"run\" \\\n\t\"--rm\" \\\n\t\"--name\" \\\n\t\"app\" \\\n"
		"\t\"--read-only\" \\\n"
		"\t\"--env\" \\\n\t\"A=say \\\"$$x\\\"\" \\\n"
		"\t\"--env\" \\\n\t\"B=50%%\" \\\n"
		"\t\"--gpus\" \\\n\t\"all\" \\\n"
		"\t\"--publish\" \\\n\t\"127.0.0.1:80:8080\" \\\n"
		"\t\"--volume\" \\\n\t\"/srv:/srv:ro\" \\\n"
		"\t\"reg/x@" D1 "\" \\\n"
		"\t\"--port\" \\\n\t\"8080\"\n"
		"ExecStop=-/usr/bin/docker stop app\n"
		"\n"
		"[Install]\n"
		"WantedBy=multi-user.target\n");
	/* another argument: taken back to the first, which runs again */
	tree_undoes(&t, "container", "{" APP ", \"network\": \"host\"}");
	assert_non_null(strstr(tree_read(&t, "log"), "restart app.service"));
	tree_converge(&t, "container", "{" APP ", \"network\": \"host\", \"state\": \"stopped\"}");
	assert_false(tree_has(&t, "on"));
	tree_converge(&t, "container", "{\"name\": \"app\", \"state\": \"absent\"}");
	assert_false(tree_has(&t, "etc/systemd/system/app.service"));
	tree_done(&t);
}

TEST(container_keeps_secrets_to_root)
{
	static const char ARGS[] = "{" APP ", \"secret_env\": {\"TOKEN\": \"canary-4711\"}}";
	struct tree t;

	init(&t);
	tree_undoes(&t, "container", ARGS);
	assert_int_equal(tree_check(&t, "container", ARGS), STEP_DIFFERS);
	assert_false(tree_said(&t, "canary"));
	tree_converge(&t, "container", ARGS);
	assert_string_equal(
		tree_read(&t, "etc/stoika-agent/containers/app.env"), "TOKEN=canary-4711\n");
	assert_int_equal(tree_mode(&t, "etc/stoika-agent/containers/app.env"), 0600);
	assert_null(strstr(tree_read(&t, "etc/systemd/system/app.service"), "canary"));
	assert_null(strstr(tree_read(&t, "log"), "canary"));
	assert_non_null(strstr(tree_read(&t, "etc/systemd/system/app.service"), "--env-file"));
	tree_refused(
		&t, "container", "{" APP ", \"secret_env\": {\"T\": \"canary\\u0007\"}}", E_SCHEMA);
	assert_null(strstr(t.err.msg, "canary"));
	tree_done(&t);
}

TEST(container_refuses_wrong_arguments)
{
	static const struct {
		const char *args;
		enum ec code;
		const char *says;
	} cases[] = {
		{"{\"name\": \"app\", \"image\": \"reg/x:latest\"}", E_SCHEMA, "is not pinned"},
		{"{\"name\": \"app\", \"image\": \"reg/x@sha256:12\"}", E_SCHEMA, "is not pinned"},
		{"{\"name\": \"app\", \"image\": \"a b@" D1 "\"}", E_SCHEMA,
			"is no name of an image"},
		{"{\"name\": \"-x\", \"image\": \"x@" D1 "\"}", E_SCHEMA,
			"is no name of a container"},
		{"{" APP ", \"engine\": \"podman\"}", E_NOTFOUND, "this node has no podman"},
		{"{" APP ", \"ports\": [\"80\"]}", E_SCHEMA, "is no port to publish"},
		{"{" APP ", \"ports\": [\"80:99999\"]}", E_SCHEMA, "is no port to publish"},
		{"{" APP ", \"volumes\": [\"relative/x:/x\"]}", E_SCHEMA, "is no volume"},
		{"{" APP ", \"args\": [\"a\\nb\"]}", E_SCHEMA, "control character"},
		{"{" APP ", \"env\": {\"A=B\": \"x\"}}", E_SCHEMA, "is no name of a variable"},
	};
	struct tree t;

	init(&t);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tree_refused(&t, "container", cases[i].args, cases[i].code);
		if (!strstr(t.err.msg, cases[i].says))
			fail_msg("%s, expected '%s'", t.err.msg, cases[i].says);
	}
	assert_int_equal(fs_remove(t.env.root, "run/systemd/system", true, NULL), 0);
	tree_refused(&t, "container", "{" APP "}", E_UNSUPPORTED);
	tree_done(&t);
}

TEST(container_by_podman_and_ctr)
{
	struct tree t;

	init(&t);
	programs_script(&t, "usr/bin/podman", "#!/bin/sh\n");
	programs_script(&t, "usr/bin/ctr", "#!/bin/sh\n");
	tree_converge(&t, "container",
		"{" APP ", \"engine\": \"podman\", \"gpus\": [\"nvidia.com/gpu=0\"]}");
	assert_non_null(strstr(tree_read(&t, "etc/systemd/system/app.service"), "\"--replace\""));
	assert_non_null(
		strstr(tree_read(&t, "etc/systemd/system/app.service"), "\"nvidia.com/gpu=0\""));
	/* an image that was loaded without a registry has no other name that is pinned */
	assert_int_equal(tree_check(&t, "container", "{\"name\": \"app\", \"image\": \"" D1 "\"}"),
		STEP_DIFFERS);
	/* podman says which image runs */
	tree_write(&t, "var/lib/containers/storage/overlay-containers/containers.json",
		"[{\"names\": [\"app\"], \"image\": \"22\", \"metadata\": \"{\\\"image-name\\\":\\\"x@sha256:22\\\"}\"}]");
	assert_int_equal(
		tree_check(&t, "container",
			"{" APP ", \"engine\": \"podman\", \"gpus\": [\"nvidia.com/gpu=0\"]}"),
		STEP_DIFFERS);
	assert_true(tree_said(&t, "runs another image"));
	tree_converge(&t, "container",
		"{" APP
		", \"engine\": \"containerd\", \"network\": \"host\", \"volumes\": [\"/a:/b:ro\"]}");
	assert_non_null(strstr(tree_read(&t, "etc/systemd/system/app.service"),
		"type=bind,src=/a,dst=/b,options=rbind:ro"));
	tree_refused(&t, "container", "{" APP ", \"engine\": \"containerd\", \"ports\": [\"1:1\"]}",
		E_UNSUPPORTED);
	tree_done(&t);
}

/* --- images --- */

/* NAME NUL SIZE NUL BYTES, as unpack_peek gives them. */
static void put_entry(struct buf *out, const char *name, const char *bytes)
{
	buf_add(out, name, strlen(name) + 1);
	buf_addf(out, "%08zu", strlen(bytes));
	buf_add_char(out, '\0');
	buf_add_text(out, bytes);
}

static void put_blob(struct buf *out, const char *bytes, char digest[static 72])
{
	char name[128], hex[HASH_HEX];

	hash_hex(str_of(bytes), hex);
	snprintf(digest, 72, "sha256:%s", hex);
	snprintf(name, sizeof name, "blobs/sha256/%s", hex);
	put_entry(out, name, bytes);
}

/* An OCI layout with one image behind an index of platforms. */
static void make_layout(struct buf *out, bool nested, char config[static 72], char top[static 72])
{
	char manifest[72], text[2048];

	put_blob(out, "{\"os\":\"linux\"}", config);
	snprintf(text, sizeof text, "{\"config\":{\"digest\":\"%s\"},\"layers\":[]}", config);
	put_blob(out, text, manifest);
	memcpy(top, manifest, 72);
	if (nested) {
		snprintf(text, sizeof text,
			"{\"manifests\":[{\"digest\":\"" D1
			"\",\"platform\":{\"architecture\":\"arm64\"}},"
			"{\"digest\":\"%s\",\"platform\":{\"architecture\":\"amd64\",\"os\":\"linux\"}}]}",
			manifest);
		put_blob(out, text, top);
	}
	snprintf(text, sizeof text,
		"{\"manifests\":[{\"digest\":\"%s\",\"annotations\":{\"io.containerd.image.name\":\"reg/x:1\"}}]}",
		top);
	put_entry(out, "./index.json", text);
}

TEST(oci_layout_is_read)
{
	for (int nested = 0; nested < 2; nested++) {
		char config[72], top[72];
		struct oci_index x;
		struct err err = {0};
		AUTO_BUF text;

		buf_init(&text, 65536);
		make_layout(&text, nested, config, top);
		if (oci_index_read(buf_str(&text), "amd64", &x, &err) < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(x.n, 1);
		assert_string_equal(x.images[0].id.config, config);
		assert_string_equal(x.images[0].id.manifest, top);
		assert_non_null(oci_index_find(&x, "reg/x:1"));
		assert_null(oci_index_find(&x, "reg/y:1"));
		if (nested)
			assert_int_equal(
				oci_index_read(buf_str(&text), "riscv64", &x, &err), -E_SCHEMA);
	}
}

TEST(saved_images_are_read)
{
	struct oci_index x;
	struct err err = {0};
	AUTO_BUF text;

	buf_init(&text, 65536);
	put_entry(&text, "manifest.json",
		"[{\"Config\":\"1111111111111111111111111111111111111111111111111111111111111111.json\","
		"\"RepoTags\":[\"x:1\",\"x:2\"]}]");
	assert_int_equal(oci_index_read(buf_str(&text), "amd64", &x, &err), 0);
	assert_int_equal(x.n, 2);
	assert_string_equal(oci_index_find(&x, "x:2")->id.config, D1);
}

TEST(broken_images_are_refused)
{
	static const struct {
		const char *name, *bytes;
		enum ec code;
	} cases[] = {
		{"other", "{}", E_SCHEMA},
		{"index.json", "[", E_SYNTAX},
		{"index.json", "{}", E_SCHEMA},
		{"index.json", "{\"manifests\":[{\"digest\":\"x\"}]}", E_SCHEMA},
		{"index.json", "{\"manifests\":[{\"digest\":\"" D1 "\"}]}", E_VERIFY},
		{"manifest.json", "{}", E_SCHEMA},
		{"manifest.json", "[{\"Config\":\"../x\"}]", E_SCHEMA},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct oci_index x;
		struct err err = {0};
		AUTO_BUF text;

		buf_init(&text, 65536);
		put_entry(&text, cases[i].name, cases[i].bytes);
		if (oci_index_read(buf_str(&text), "amd64", &x, &err) != -(int)cases[i].code)
			fail_msg("%zu: %s", i, err.msg);
		assert_true(err.msg[0]);
	}
	/* a blob with the right name and other bytes */
	struct oci_index x;
	struct err err = {0};
	AUTO_BUF text;

	buf_init(&text, 65536);
	put_entry(&text,
		"blobs/sha256/1111111111111111111111111111111111111111111111111111111111111111",
		"{}");
	put_entry(&text, "index.json", "{\"manifests\":[{\"digest\":\"" D1 "\"}]}");
	assert_int_equal(oci_index_read(buf_str(&text), "amd64", &x, &err), -E_VERIFY);
	assert_non_null(strstr(err.msg, "other bytes"));
}

static void tar_up(struct tree *t)
{
	char from[512], to[512];
	const char *const argv[] = {"tar", "-C", from, "-cf", to, "manifest.json", NULL};
	const struct proc p = {.argv = argv};
	struct proc_result res;

	tree_path(t, "src", from);
	tree_path(t, "x.tar", to);
	assert_int_equal(proc_run(&p, &res, NULL), 0);
	assert_true(proc_ok(&res));
	proc_result_done(&res);
}

TEST(oci_image_is_loaded_and_taken_back)
{
	static const char ARGS[] = "{\"name\": \"reg/x:1\", \"path\": \"/x.tar\"}";
	static const char *const IGNORE[] = {
		"log", "var/lib/docker/image/overlay2/repositories.json", NULL};
	struct tree t;

	init(&t);
	tree_ignore = IGNORE;
	tree_write(&t, "src/manifest.json",
		"[{\"Config\":\"1111111111111111111111111111111111111111111111111111111111111111.json\","
		"\"RepoTags\":[\"reg/x:1\"]}]");
	tar_up(&t);
	tree_write(&t, "loaded", "{\"Repositories\":{\"reg/x\":{\"reg/x:1\":\"" D1 "\"}}}");
	tree_undoes(&t, "oci_image", ARGS);
	assert_string_equal(tree_read(&t, "log"), "load --input /x.tar\nrmi reg/x:1\n");
	tree_converge(&t, "oci_image", ARGS);
	tree_converge(&t, "oci_image", "{\"name\": \"reg/x:1\", \"state\": \"absent\"}");
	/* an archive that does not say the name: it is given after loading */
	tree_write(&t, "loaded", "");
	tree_converge(&t, "oci_image", ARGS);
	/* with the digest the archive need not be there */
	assert_int_equal(fs_remove(t.env.root, "x.tar", false, NULL), 0);
	assert_int_equal(
		tree_check(&t, "oci_image",
			"{\"name\": \"reg/x:1\", \"path\": \"/x.tar\", \"digest\": \"" D1 "\"}"),
		STEP_SAME);
	tree_refused(&t, "oci_image", ARGS, E_NOTFOUND);
	tree_refused(&t, "oci_image", "{\"name\": \"reg/x\", \"path\": \"/x.tar\"}", E_SCHEMA);
	tree_refused(&t, "oci_image", "{\"name\": \"reg/x:1\"}", E_SCHEMA);
	tree_refused(&t, "oci_image", "{\"name\": \"x:1\", \"path\": \"/x\", \"digest\": \"1\"}",
		E_SCHEMA);
	tree_done(&t);
}

/* --- with podman itself, where this machine has it --- */

static bool podman(const char *const *argv)
{
	const struct proc p = {.argv = argv, .timeout = 120 * INT64_C(1000000000)};
	struct proc_result res;
	bool good;

	if (proc_run(&p, &res, NULL) < 0)
		return false;
	good = proc_ok(&res);
	proc_result_done(&res);
	return good;
}

/* An image of one empty layer as an archive; false: podman cannot work here. */
static bool make_image(const char *format, const char *file)
{
	const char *const tar[] = {
		"tar", "-cf", "/tmp/stoika-test-layer.tar", "-T", "/dev/null", NULL};
	const char *const import[] = {
		"podman", "import", "/tmp/stoika-test-layer.tar", "localhost/stoika-test:1", NULL};
	const char *const save[] = {
		"podman", "save", "--format", format, "-o", file, "localhost/stoika-test:1", NULL};
	const char *const drop[] = {"podman", "rmi", "localhost/stoika-test:1", NULL};
	bool good = podman(tar) && podman(import);

	unlink(file);
	good = good && podman(save) && podman(drop);
	unlink("/tmp/stoika-test-layer.tar");
	return good;
}

TEST(oci_image_by_podman_itself)
{
	static const char *const FORMATS[] = {"oci-archive", "docker-archive"};

	for (int i = 0; i < 2; i++) {
		char file[128], args[512];
		struct tree t;
		json_t *before;

		init(&t);
		snprintf(file, sizeof file, "%s/image%d.tar", t_dir(), i);
		if (!make_image(FORMATS[i], file)) {
			tree_done(&t);
			skip();
		}
		/* the machine's own root: podman's store is there */
		close(t.env.root);
		t.env.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		t.env.root_path = "/";
		snprintf(args, sizeof args,
			"{\"name\": \"localhost/stoika-test:1\", \"path\": \"%s\", \"engine\": \"podman\"}",
			file);
		before = tree_before(&t, "oci_image", args, true);
		tree_converge(&t, "oci_image", args);
		assert_int_equal(tree_undo(&t, "oci_image", args, before, NULL), 0);
		assert_int_equal(tree_check(&t, "oci_image", args), STEP_DIFFERS);
		json_decref(before);
		tree_done(&t);
	}
}

T_MAIN
