/* fabric_test - what is planned can be plugged: every port once, every split even. */
#include "agent/base/buf.h"
#include "inventory/design/fabric_export.h"
#include "tests/unit/t.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static const struct fabric_ask ASKS[] = {
	{.nodes = 8, .nics = 8, .radix = 64},
	{.nodes = 24, .nics = 8, .radix = 64, .rails = true},
	{.nodes = 24, .nics = 8, .radix = 64, .rails = true, .fill = FABRIC_MINIMAL},
	{.nodes = 31, .nics = 8, .radix = 64, .rails = true, .extra = 4},
	{.nodes = 100, .nics = 8, .radix = 64},
	{.nodes = 140, .nics = 8, .radix = 40, .rails = true},
	{.nodes = 375, .nics = 8, .radix = 64},
	{.nodes = 1000, .nics = 8, .radix = 64, .rails = true},
	{.nodes = 512, .nics = 4, .radix = 64, .oversubscription = 3},
	{.nodes = 500, .nics = 8, .radix = 64, .rails = true, .oversubscription = 2},
	{.nodes = 77, .nics = 1, .radix = 36},
	{.nodes = 1024, .nics = 8, .radix = 128, .rails = true, .planes = 2},
};

/* A port of a switch is used once, and is one that the switch has. */
static void check_ports(const struct fabric *f, const struct cable_plan *p)
{
	const unsigned radix = f->ask.radix, all = f->leaves + f->spines + f->cores;
	const unsigned first[] = {0, f->leaves, f->leaves + f->spines};
	unsigned char *used = calloc((size_t)all * (radix + 1), 1);

	vec_each(&p->rows, const struct cable_row, r) {
		const unsigned ends[2][2] = {
			{r->segment ? first[r->segment - 1] + r->a : 0, r->a_port},
			{first[r->segment] + r->b, r->b_port}};

		for (unsigned e = r->segment == CABLE_NODE_LEAF ? 1 : 0; e < 2; e++) {
			assert_in_range(ends[e][1], 1, radix);
			assert_true(ends[e][0] < all);
			assert_int_equal(used[ends[e][0] * (radix + 1) + ends[e][1]]++, 0);
		}
	}
	free(used);
}

/* Each leaf has as many cables to one spine as to another it reaches; spines to cores alike. */
static void check_even(const struct fabric *f, const struct cable_plan *p)
{
	unsigned rows[CABLE_SEGMENTS] = {0};
	unsigned *seen = calloc(f->leaves + 1, sizeof *seen);

	vec_each(&p->rows, const struct cable_row, r) {
		rows[r->segment]++;
		if (r->segment == CABLE_LEAF_SPINE)
			seen[r->a]++;
	}
	assert_int_equal(rows[CABLE_NODE_LEAF], f->ask.nodes * f->ask.nics);
	assert_int_equal(rows[CABLE_LEAF_SPINE], f->leaf_spine);
	assert_int_equal(rows[CABLE_SPINE_CORE], f->spine_core);
	for (unsigned i = 0; i < f->leaves && f->tiers > 1; i++)
		assert_int_equal(
			seen[i], f->leaf_links * (f->tiers == 2 ? f->spines : f->spines_per_pod));
	free(seen);
}

TEST(every_port_is_used_once)
{
	for (size_t i = 0; i < sizeof ASKS / sizeof ASKS[0]; i++) {
		struct fabric f;
		struct cable_plan p;
		struct err err = {0};

		if (fabric_plan(&ASKS[i], &f, &err) < 0)
			fail_msg("ask %zu: %s", i, err.msg);
		assert_int_equal(cableplan_make(&f, NULL, &p, &err), 0);
		check_ports(&f, &p);
		check_even(&f, &p);
		cableplan_done(&p);
	}
}

TEST(what_cannot_be_is_refused)
{
	static const struct {
		struct fabric_ask ask;
		const char *says;
	} bad[] = {
		{{.nodes = 0, .nics = 8, .radix = 64}, "needs nodes"},
		{{.nodes = 8, .nics = 8, .radix = 0}, "even number"},
		{{.nodes = 8, .nics = 8, .radix = 33}, "even number"},
		{{.nodes = 8, .nics = 8, .radix = 64, .tiers = 4}, "1 to 3 tiers"},
		{{.nodes = 512, .nics = 8, .radix = 64, .tiers = 2}, "at most 2048"},
		{{.nodes = 8, .nics = 8, .radix = 64, .oversubscription = 0.5}, "oversubscription"},
		{{.nodes = 64, .nics = 8, .radix = 64, .rails = true, .nodes_per_unit = 40},
			"ports of a leaf"},
		{{.nodes = 4000000000u, .nics = 8, .radix = 64}, "at most 1048576"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct fabric f;
		struct err err = {0};

		assert_true(fabric_plan(&bad[i].ask, &f, &err) < 0);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("'%s' does not say '%s'", err.msg, bad[i].says);
	}
}

TEST(sixteen_thousand_gpus_take_a_moment)
{
	const struct fabric_ask ask = {.nodes = 2048, .nics = 8, .radix = 64, .rails = true};
	struct fabric f;
	struct cable_plan p;
	struct err err;
	struct rusage use;
	struct buf text;
	const clock_t begin = clock();
	double seconds;

	buf_init(&text, 64u << 20);
	assert_int_equal(fabric_plan(&ask, &f, &err), 0);
	assert_int_equal(cableplan_make(&f, NULL, &p, &err), 0);
	cableplan_write_yaml(&p, &text);
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	getrusage(RUSAGE_SELF, &use);
	printf("%zu cables, %.0f m, %zu bytes, %.3f s, %ld KiB\n", p.rows.n, p.metres, text.n,
		seconds, use.ru_maxrss);
	assert_int_equal(p.rows.n, 3 * 16384);
	assert_true(buf_ok(&text));
	assert_true(seconds < 1);
	assert_true(use.ru_maxrss < 300 * 1024);
	buf_done(&text);
	cableplan_done(&p);
}

TEST(lengths_are_what_is_sold)
{
	assert_float_equal(cable_length_sold(0.2), 0.5, 1e-9);
	assert_float_equal(cable_length_sold(5), 5, 1e-9);
	assert_float_equal(cable_length_sold(5.1), 7, 1e-9);
	assert_float_equal(cable_length_sold(151), 200, 1e-9);
	assert_int_equal(cable_kind_of(3), CABLE_DAC);
	assert_int_equal(cable_kind_of(5), CABLE_ACC);
	assert_int_equal(cable_kind_of(50), CABLE_MULTIMODE);
	assert_int_equal(cable_kind_of(70), CABLE_SINGLEMODE);
}

static uint64_t guid_of(void *user, const char *name)
{
	(void)user;
	return strcmp(name, "spine-02") == 0 ? 0 : 0x1000 + (unsigned)name[strlen(name) - 1];
}

TEST(consumers_get_their_files)
{
	const struct fabric_ask ask = {.nodes = 70, .nics = 8, .radix = 64, .rails = true};
	const struct fabric_ask three = {.nodes = 2048, .nics = 8, .radix = 64, .rails = true};
	struct fabric f;
	struct err err;
	AUTO_BUF out;

	buf_init(&out, 1u << 20);
	assert_int_equal(fabric_plan(&ask, &f, &err), 0);
	fabric_write_slurm_conf(&f, &out);
	assert_non_null(strstr(buf_text(&out), "SwitchName=unit001 Nodes=gpu[0001-0032]\n"));
	assert_non_null(strstr(buf_text(&out), "SwitchName=unit003 Nodes=gpu[0065-0070]\n"));
	assert_non_null(strstr(buf_text(&out), "SwitchName=fabric Switches=unit[001-003]\n"));
	buf_clear(&out);
	assert_int_equal(fabric_write_root_guids(&f, guid_of, NULL, &out), 1);
	assert_null(strstr(buf_text(&out), "leaf"));
	buf_clear(&out);
	assert_int_equal(fabric_write_name_map(&f, guid_of, NULL, &out), 1);
	assert_non_null(strstr(buf_text(&out), "0x0000000000001037 \"leaf-01-7\"\n"));
	buf_clear(&out);
	fabric_write_nccl(&f, true, &out);
	assert_non_null(strstr(buf_text(&out), "NCCL_CROSS_NIC=0\n"));
	assert_int_equal(fabric_plan(&three, &f, &err), 0);
	buf_clear(&out);
	fabric_write_slurm_yaml(&f, &out);
	assert_non_null(strstr(buf_text(&out), "      - switch: group002\n        children: "
					       "unit[033-064]\n"));
	assert_non_null(strstr(buf_text(&out), "      - switch: fabric\n        children: "
					       "group[001-002]\n"));
}

/* --- Slurm's own parser, where it is installed --- */

#define SLURMCTLD "/usr/sbin/slurmctld"

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof path, "%s/%s", t_dir(), name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void write_slurm_conf(unsigned nodes)
{
	char text[1024];

	snprintf(text, sizeof text,
		"ClusterName=t\nSlurmctldHost=localhost\nSlurmUser=root\nAuthType=auth/none\n"
		"CredType=cred/none\nStateSaveLocation=%s\nSlurmctldPidFile=%s/pid\n"
		"SlurmctldPort=28817\nSlurmdPort=28818\nTopologyPlugin=topology/tree\n"
		"SelectType=select/cons_tres\nSlurmctldDebug=debug\n"
		"NodeName=gpu[0001-%04u] CPUs=8\nPartitionName=p Nodes=ALL Default=YES\n",
		t_dir(), t_dir(), nodes);
	put_file("slurm.conf", text);
}

/* What slurmctld said until word or 'fatal' came, ten seconds at most; it is ended then. */
static char *slurm_says(const char *word)
{
	static char said[1 << 20];
	char conf[128], log[128];
	pid_t child;

	snprintf(conf, sizeof conf, "%s/slurm.conf", t_dir());
	snprintf(log, sizeof log, "%s/log", t_dir());
	child = fork();
	if (child == 0) {
		const int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
		execl(SLURMCTLD, "slurmctld", "-D", "-f", conf, (char *)NULL);
		_exit(127);
	}
	for (unsigned i = 0; i < 100; i++) {
		const int fd = open(log, O_RDONLY | O_CLOEXEC);
		const ssize_t n = fd < 0 ? 0 : read(fd, said, sizeof said - 1);

		said[n > 0 ? n : 0] = '\0';
		if (fd >= 0)
			close(fd);
		if (strstr(said, word) || strstr(said, "fatal"))
			break;
		usleep(100000);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return said;
}

TEST(slurm_reads_the_topology)
{
	const struct fabric_ask ask = {.nodes = 2048, .nics = 8, .radix = 64, .rails = true};
	struct fabric f;
	struct err err;
	AUTO_BUF out;
	const char *said;

	buf_init(&out, 1u << 20);
	if (access(SLURMCTLD, X_OK) < 0 || getuid() != 0)
		skip();
	assert_int_equal(fabric_plan(&ask, &f, &err), 0);
	fabric_write_slurm_conf(&f, &out);
	put_file("topology.conf", buf_text(&out));
	write_slurm_conf(ask.nodes);
	said = slurm_says("Switch level:2 name:fabric nodes:gpu[0001-2048]");
	if (!strstr(said, "Switch level:2 name:fabric nodes:gpu[0001-2048]"))
		fail_msg("%s", said);
	assert_non_null(strstr(said, "Switch level:0 name:unit064 nodes:gpu[2017-2048]"));
	assert_null(strstr(said, "fatal"));
}

T_MAIN
