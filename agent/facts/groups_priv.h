/* groups - one function per group of facts, each in a file of its name. */
#pragma once

#include "agent/facts/facts.h"

int facts_os(const struct facts_env *env, json_t **out, struct err *err);
int facts_cpu(const struct facts_env *env, json_t **out, struct err *err);
int facts_memory(const struct facts_env *env, json_t **out, struct err *err);
int facts_disks(const struct facts_env *env, json_t **out, struct err *err);
int facts_net(const struct facts_env *env, json_t **out, struct err *err);
int facts_pci(const struct facts_env *env, json_t **out, struct err *err);
int facts_nvidia(const struct facts_env *env, json_t **out, struct err *err);
int facts_gpus(const struct facts_env *env, json_t **out, struct err *err);
int facts_gpu(const struct facts_env *env, json_t **out, struct err *err);
int facts_kernel(const struct facts_env *env, json_t **out, struct err *err);
int facts_time(const struct facts_env *env, json_t **out, struct err *err);
int facts_boot(const struct facts_env *env, json_t **out, struct err *err);
int facts_host(const struct facts_env *env, json_t **out, struct err *err);
