// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/json/json_reader.h"
#include "core/base/hash.h"
#include "exporters/json/json.h"
#include "tests/build/build.h"
#include "tests/build/shipped.h"

// What every CPU's catalog is, as on file: its hash, which old recordings name, and a digest of what /api/v1/catalog
// says of it, with all texts, in order. A change of a family (specs/families) shows here which CPUs it changes. After a
// change on purpose, write the file anew with TOPDOWND_GOLDEN_WRITE=1, and say in CHANGELOG.md what changed.

#define FILE_OF_CATALOGS "tests/data/catalogs.json"

static struct known {
    cJSON *on_file, *found;
    unsigned differ;
} * known; // for shipped_for_every_cpu, whose function has no context

static struct snapshot_layout *layout_of(const struct catalog *catalog) {
    int general = catalog_find_group(catalog, "General");
    assert_true(general >= 0);
    const struct plan_selection selection = {.group = (unsigned)general, .weight = 1};
    const struct plan_request request = {
        .catalog = catalog, .general_counters = catalog->general_counters, .selections = &selection, .n_selections = 1};
    return build_layout(build_plan(&request), build_cpus(0, 1, 1));
}

static uint64_t digest_of_page(const struct catalog *catalog) {
    struct snapshot_layout *layout = layout_of(catalog);
    struct view view = {.layout = layout, .pmu = "cpu"};
    struct text text = {0};
    assert_int_equal(json_render_catalog(&(struct shown){.n = 1, .types = {{.view = &view}}}, 0, &text), 0);
    assert_false(text.failed);
    uint64_t digest = hash_bytes(HASH_BEGIN, text.data, text.length);
    text_free(&text);
    snapshot_layout_unref(layout);
    return digest;
}

static void compare(const char *spec, const char *what, uint64_t value, cJSON *found) {
    char text[24];
    const cJSON *entry = cJSON_GetObjectItemCaseSensitive(known->on_file, spec);
    const char *expected = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, what));
    (void)snprintf(text, sizeof text, "%016" PRIx64, value);
    assert_non_null(cJSON_AddStringToObject(found, what, text));
    if (expected && strcmp(expected, text) == 0)
        return;
    print_error("%s: the %s is not as on file\n", spec, what);
    known->differ++;
}

static void check(struct catalog *catalog) {
    cJSON *found = cJSON_AddObjectToObject(known->found, catalog->product.spec);
    assert_non_null(found);
    compare(catalog->product.spec, "hash", catalog_hash(catalog), found);
    compare(catalog->product.spec, "page", digest_of_page(catalog), found);
}

static cJSON *read_file(void) {
    struct errors errors = {0};
    char *text = NULL;
    size_t length = 0;
    if (json_read_file(FILE_OF_CATALOGS, 1 << 20, &errors, &text, &length) < 0)
        return NULL;
    cJSON *on_file = cJSON_ParseWithLength(text, length);
    free(text);
    return on_file;
}

static void write_file(const cJSON *found) {
    char *text = cJSON_Print(found);
    FILE *file = fopen(FILE_OF_CATALOGS, "we");
    assert_true(text && file);
    assert_true(fprintf(file, "%s\n", text) > 0);
    assert_int_equal(fclose(file), 0);
    free(text);
}

static void test_every_cpus_catalog_is_as_on_file(void **state) {
    struct known all = {.on_file = read_file(), .found = cJSON_CreateObject()};
    (void)state;
    known = &all;
    assert_non_null(all.found);
    shipped_for_every_cpu(check);
    if (getenv("TOPDOWND_GOLDEN_WRITE"))
        write_file(all.found);
    else if (all.differ > 0 || cJSON_GetArraySize(all.on_file) != cJSON_GetArraySize(all.found))
        fail_msg("%u values differ, or a CPU is gone: see " FILE_OF_CATALOGS
                 ". If that is meant, TOPDOWND_GOLDEN_WRITE=1 writes it anew",
                 all.differ);
    cJSON_Delete(all.on_file);
    cJSON_Delete(all.found);
    known = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_cpus_catalog_is_as_on_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
