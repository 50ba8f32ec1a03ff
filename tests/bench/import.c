/* import - time and memory of a site file: read, written again, put into a database twice, one rack
 * read. bench-import FILE [DB] */
#include "inventory/import/import.h"

#include "agent/base/buf.h"
#include "inventory/audit/reach.h"
#include "inventory/store/store.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long rss_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

static int fail(const struct err *err)
{
	fprintf(stderr, "bench-import: %s\n", err->msg);
	return 1;
}

static int put_once(struct store *s, const struct model *m, const char *what)
{
	struct arena *a = arena_new();
	const double t = now();
	struct reach *reach;
	struct err err;
	size_t n;
	int rc = store_begin(s, &err);

	if (rc == 0)
		rc = store_put_model(s, m, &err);
	if (rc == 0)
		rc = reach_make(a, m, &reach, &n, &err);
	if (rc == 0)
		rc = store_put_reach(s, m->site, reach, n, &err);
	if (rc == 0)
		rc = store_commit(s, &err);
	arena_free(a);
	if (rc < 0)
		return fail(&err);
	printf("database, %s %.3f s CPU, peak %ld MiB\n", what, now() - t, rss_mib());
	return 0;
}

static bool may_trip(void *ctx, const struct model *m, const struct reach *r)
{
	struct policy p;

	(void)ctx;
	return policy_make(m, NULL, &p, NULL) < 0 || reach_trips(m, &p, r, BASIS_MAX);
}

static int load_rack(struct store *s, const char *name)
{
	struct store_part_asked asked = {
		.racks = &name, .n = 1, .basis = BASIS_MAX, .trips = may_trip};
	const double t = now();
	struct model *m = NULL;
	struct err err;

	if (store_load_part(s, &asked, &m, &err) < 0)
		return fail(&err);
	printf("rack '%s' of the database %.3f s CPU: %zu racks, %zu devices loaded\n", name,
		now() - t, m ? m->racks.n : asked.site_racks, m ? m->devices.n : 0);
	model_free(m);
	return 0;
}

/* Fresh, then once more over itself, then one rack of it. */
static int put(const char *path, const struct model *m)
{
	struct store *s;
	struct err err;
	int rc;

	if (store_open(path, STORE_CREATE, &s, &err) < 0)
		return fail(&err);
	rc = put_once(s, m, "fresh");
	if (rc == 0)
		rc = put_once(s, m, "again");
	if (rc == 0 && m->racks.n)
		rc = load_rack(s, m->racks.at[m->racks.n / 2].name);
	store_close(s);
	return rc;
}

int main(int argc, char **argv)
{
	struct err_list e = {0};
	struct model *m = NULL;
	struct buf out;
	double t = now(), took;
	int rc = 0;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: bench-import FILE [DB]\n");
		return 2;
	}
	if (import_site(argv[1], &m, &e) < 0) {
		fprintf(stderr, "bench-import: %s:%u: %s (%u errors)\n", argv[1], e.list.at[0].line,
			e.list.at[0].msg, e.total);
		printf("refused in %.3f s CPU, peak %ld MiB\n", now() - t, rss_mib());
		err_list_done(&e);
		return 1;
	}
	took = now() - t;
	printf("import %.3f s CPU, peak %ld MiB: %zu racks, %zu devices, %zu ports, %zu cords\n",
		took, rss_mib(), m->racks.n, m->devices.n, m->ports.n, m->cords.n);
	t = now();
	buf_init(&out, EXPORT_MAX);
	export_site(m, &out);
	printf("export %.3f s CPU, %zu bytes%s\n", now() - t, out.n, buf_ok(&out) ? "" : " (cut)");
	buf_done(&out);
	if (argc == 3)
		rc = put(argv[2], m);
	model_free(m);
	return rc;
}
