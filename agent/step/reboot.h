/*
 * reboot - how a node is told to restart, once the run's journal can go on after it.
 *
 * The kind 'reboot' only asks (report.reboot); whoever runs the steps writes
 * that down, sees to it that the run goes on after the boot, and then calls
 * reboot_start. A boot id other than the one written down proves the restart.
 */
#pragma once

#include "agent/step/step.h"

#define REBOOT_TIMEOUT_S 900 /* preset of the kind's 'timeout' */

/*
 * Asks systemd (else the init of System V) to restart the node and returns at once; the node goes
 * down a moment later. Kept from starting by a test: a throw-away root has its own systemctl.
 */
int reboot_start(const struct step_env *env, struct err *err);
