/* import - time and memory of a site file: read, written again, put into a fresh database.
 * bench-import FILE [DB] */
#include "inventory/import/import.h"

#include "agent/base/buf.h"
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

static int put(const char *path, const struct model *m)
{
	const double t = now();
	struct store *s;
	struct err err;

	if (store_open(path, STORE_CREATE, &s, &err) < 0 || store_begin(s, &err) < 0 ||
		store_put_model(s, m, &err) < 0 || store_commit(s, &err) < 0) {
		fprintf(stderr, "bench-import: %s\n", err.msg);
		return 1;
	}
	printf("database %.3f s CPU, peak %ld MiB\n", now() - t, rss_mib());
	store_close(s);
	return 0;
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
