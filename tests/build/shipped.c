// SPDX-License-Identifier: Apache-2.0
#include "tests/build/shipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"

struct catalog *shipped_load(const char *path) {
    struct errors errors = {0};
    struct catalog_builder *builder;
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 1;
    environment.facts.literals[LITERAL_SLOTS] = 6;
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    if (spec_json_read(path, &environment, &errors, &builder) != 0 ||
        spec_json_add("specs/software.json", &errors, builder) != 0)
        fail_msg("%s", errors.items[0].text);
    return catalog_builder_finish(builder);
}

cJSON *shipped_json(const char *path) {
    struct errors errors = {0};
    char *text;
    if (spec_json_print(path, &errors, &text) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    cJSON *json = cJSON_Parse(text);
    free(text);
    assert_non_null(json);
    return json;
}

void shipped_for_every_cpu(void (*check)(struct catalog *catalog)) {
    glob_t files;
    size_t n = 0;
    assert_int_equal(glob("specs/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        if (strstr(files.gl_pathv[i], "cpus.json") || strstr(files.gl_pathv[i], "software.json"))
            continue;
        struct catalog *catalog = shipped_load(files.gl_pathv[i]);
        check(catalog);
        catalog_free(catalog);
        n++;
    }
    assert_true(n > 45);
    globfree(&files);
}
