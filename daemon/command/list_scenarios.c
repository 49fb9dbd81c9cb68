// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/list_scenarios.h"

#include <stdlib.h>

#include "config/scenario/scenario_json.h"
#include "daemon/source/data.h"

const struct table_column list_scenario_columns[LIST_SCENARIO_COLUMNS] = {
    {"name", "NAME", TABLE_TEXT},
    {"specs", "SPECS", TABLE_TEXTS},
    {"sockets", "SOCKETS", TABLE_NUMBER},
    {"cpus", "CPUS", TABLE_NUMBER},
    {"description", "DESCRIPTION", TABLE_TEXT},
};

static int list_scenario(const char *data, const char *name, struct errors *errors, struct table *table) {
    char path[DATA_PATH_MAX + 512];
    struct scenario *scenario = NULL;
    const char *specs[SCENARIO_CORE_TYPES_MAX];
    size_t n = 0;
    int r = data_find_scenario(data, name, errors, path, sizeof path);
    if (r == 0)
        r = scenario_json_load(path, errors, &scenario);
    if (r < 0)
        return r;
    for (const struct scenario *type = scenario; type; type = type->next)
        specs[n++] = type->spec;
    table_text(table, name);
    table_texts(table, specs, n);
    table_format(table, "%u", scenario->sockets);
    table_format(table, "%zu", scenario_n_cpus(scenario));
    table_text(table, scenario->description);
    scenario_free(scenario);
    return 0;
}

int list_scenarios(const char *data, struct errors *errors, struct table *table) {
    char *names[DATA_SCENARIOS_MAX];
    int n = data_list_scenarios(data, errors, names), r = n < 0 ? n : 0;
    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = list_scenario(data, names[i], errors, table);
        free(names[i]);
    }
    return r;
}
