// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_SCENARIOS_H
#define TOPDOWND_DAEMON_COMMAND_LIST_SCENARIOS_H

// The list of the simulated hosts that ship with topdownd.

#include "core/base/error.h"
#include "exporters/text/table.h"

enum { LIST_SCENARIO_COLUMNS = 5 };
extern const struct table_column list_scenario_columns[LIST_SCENARIO_COLUMNS];

// One row for each scenario of the data folder. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int list_scenarios(const char *data, struct errors *errors, struct table *table);

#endif
