/* cpu - counted from /proc/cpuinfo: one paragraph per thread. */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/base/vec.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <string.h>

#define CPUINFO_MAX (16u << 20)

struct core {
	int64_t socket, core; /* -1: not told, as on ARM */
};

struct cores vec(struct core);

static bool field(struct str line, const char *key, struct str *value)
{
	const size_t colon = str_find(line, ':');

	if (colon == STR_NONE || !str_is(str_trim(str_first(line, colon)), key))
		return false;
	*value = str_trim(str_from(line, colon + 1));
	return true;
}

static void read_line(struct str line, struct cores *threads, struct str *model)
{
	struct core *last = threads->n ? &threads->at[threads->n - 1] : NULL;
	struct str value;

	if (field(line, "processor", &value))
		*vec_push(threads) = (struct core){-1, -1};
	else if (model->n == 0 && field(line, "model name", &value))
		*model = value;
	else if (last && field(line, "physical id", &value))
		(void)str_to_i64(value, &last->socket);
	else if (last && field(line, "core id", &value))
		(void)str_to_i64(value, &last->core);
}

static int by_place(const void *a, const void *b)
{
	const struct core *x = a, *y = b;

	if (x->socket != y->socket)
		return x->socket < y->socket ? -1 : 1;
	return (x->core > y->core) - (x->core < y->core);
}

static void count(json_t *cpu, struct cores *threads)
{
	int64_t sockets = 0, cores = 0;

	vec_sort(threads, by_place);
	for (size_t i = 0; i < threads->n; i++) {
		const struct core *now = &threads->at[i], *before = i ? now - 1 : NULL;

		if (now->socket < 0 || now->core < 0)
			continue;
		sockets += !before || before->socket != now->socket;
		cores += !before || by_place(before, now) != 0;
	}
	if (threads->n > 0)
		json_put_int(cpu, "threads", (int64_t)threads->n);
	if (sockets > 0) {
		json_put_int(cpu, "sockets", sockets);
		json_put_int(cpu, "cores", cores);
	}
}

int facts_cpu(const struct facts_env *env, json_t **out, struct err *err)
{
	struct cores threads = VEC_INIT;
	struct str rest, line, model = {"", 0};
	AUTO_BUF text;
	json_t *cpu;

	buf_init(&text, CPUINFO_MAX);
	if (!source_file(env->root, "/proc/cpuinfo", &text))
		return err_set(err, E_IO, "cannot read '/proc/cpuinfo'");
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		read_line(line, &threads, &model);
	cpu = json_object();
	if (model.n > 0)
		json_put_text(cpu, "model", model);
	count(cpu, &threads);
	vec_done(&threads);
	*out = cpu;
	return 0;
}
