/*
 * power - whether circuits carry the worst step of those who are out, by the audit's own model.
 *
 * A node that is out may draw its maximum at any moment (boot, burn-in, a test
 * after the change); the others draw what the basis says. What a node then draws
 * more goes up its cords in the shares in which its load does, and is weighed
 * against what each element may carry all day (audit_limit, in normal operation:
 * losses are the audit's to judge). Elements over their limit already are never
 * made worse.
 */
#pragma once

#include "controller/rollout/rollout.h"
#include "inventory/audit/audit.h"

struct rollout_circuits;

/*
 * devices: each node's row in a->model, MODEL_NONE for none (it then weighs nothing). The audit
 * must have been run on the basis that those who stay are taken by; it is borrowed.
 */
struct rollout_circuits *rollout_circuits_new(
	const struct audit *a, const size_t *devices, size_t n);
void rollout_circuits_free(struct rollout_circuits *c);
/* For rollout_new. */
struct rollout_power rollout_circuits_limit(struct rollout_circuits *c);
