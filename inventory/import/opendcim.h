/*
 * opendcim - tables of openDCIM as CSV (fac_Cabinet, fac_Device ...) to the tree of a site file.
 *
 * BreakerSize is the number of poles, PanelVoltage is between lines, InputAmperage is
 * the breaker. Units of weight are the installation's (fac_Config mUnits, or the
 * mapping file's 'units').
 */
#pragma once

#include "inventory/import/source.h"

struct yaml_node *opendcim_read(struct sources *s, const struct yaml_node *opts, const char *site);
