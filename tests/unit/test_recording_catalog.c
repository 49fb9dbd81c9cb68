// SPDX-License-Identifier: Apache-2.0
//
// A catalog in a recording is the catalog that was put there, in all that anybody reads of it.
#include "tests/unit/core_check.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <unistd.h>

#include "config/spec/spec_json.h"
#include "config/vendor/perf_json.h"
#include "core/recording/recording_bytes.h"
#include "core/recording/recording_catalog.h"
#include "core/spec/catalog_same.h"

static struct recording_record only_record(const struct recording_buffer *buffer) {
    struct recording_record record;
    size_t at = 0;
    assert_int_equal(recording_next(buffer->bytes, buffer->n, &at, &record), 1);
    assert_int_equal(at, buffer->n);
    assert_int_equal(record.kind, RECORDING_CATALOG);
    return record;
}

static struct environment environment_of(const struct catalog *catalog) {
    struct environment environment;
    environment_init(&environment);
    environment.facts = catalog->environment;
    return environment;
}

static bool same_formula(const struct formula *a, const struct formula *b, const struct catalog *catalog) {
    double values[CATALOG_METRICS_MAX], counts[CATALOG_EVENTS_MAX];
    uint64_t random = 7;
    for (size_t m = 0; m < catalog->n_metrics; m++)
        values[m] = 0.001 * (double)random_below(&random, 1000);
    for (size_t e = 0; e < catalog->n_events; e++)
        counts[e] = (double)random_below(&random, 1000000);
    double x = formula_evaluate(a, counts, values), y = formula_evaluate(b, counts, values);
    return a->is_ratio == b->is_ratio && (isnan(x) ? isnan(y) : x == y);
}

// Takes ownership of the catalog.
static void check(const char *name, struct catalog *catalog) {
    struct recording_buffer bytes = {0};
    struct environment environment = environment_of(catalog);
    struct catalog *again;
    assert_int_equal(recording_put_catalog(&bytes, catalog), 0);
    struct recording_record record = only_record(&bytes);
    int r = recording_get_catalog(&record, &environment, &again);
    if (r < 0)
        fail_msg("%s: %d", name, r);
    if (!catalog_same(catalog, again) || catalog_hash(catalog) != catalog_hash(again))
        fail_msg("%s is another catalog when it is read again", name);
    assert_true(catalog->product.chosen == again->product.chosen);
    for (size_t i = 0; i < catalog->names.n_aliases; i++)
        assert_int_equal(catalog_find_event(catalog, catalog->names.aliases[i]),
                         catalog_find_event(again, catalog->names.aliases[i]));
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (!same_formula(catalog->metrics[m].formula, again->metrics[m].formula, catalog))
            fail_msg("%s: the formula of %s is another one", name, catalog->metrics[m].name);
    recording_buffer_deinit(&bytes);
    catalog_free(again);
    catalog_free(catalog);
}

static size_t check_specs(const char *pattern) {
    glob_t files;
    size_t n = 0;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct errors errors = {0};
        struct catalog_builder *builder;
        const char *path = files.gl_pathv[i];
        if (strstr(path, "cpus.json") || strstr(path, "kinds.json"))
            continue;
        for (int dropped = 0; dropped < 2; dropped++) { // with the topdown counters, and without
            assert_int_equal(spec_json_read(path, NULL, &errors, &builder), 0);
            if (dropped)
                catalog_builder_drop_topdown(builder);
            check(path, catalog_builder_finish(builder));
        }
        n++;
    }
    globfree(&files);
    return n;
}

static void test_every_shipped_spec_is_itself_again(void **state) {
    (void)state;
    assert_true(check_specs("specs/*.json") > 50);
    assert_true(check_specs("specs/uncore/*.json") > 30);
}

static void test_catalogs_of_linux_files_are_themselves_again(void **state) {
    (void)state;
    static const char *const cpus[][3] = {{"x86/sapphirerapids", "GenuineIntel-6-8F-4", "uncore_cha"},
                                          {"x86/sapphirerapids", "GenuineIntel-6-8F-4", NULL},
                                          {"x86/amdzen4", "AuthenticAMD-25-11-1", "amd_umc"},
                                          {"x86/amdzen4", "AuthenticAMD-25-11-1", NULL},
                                          {"x86/nehalemep", "GenuineIntel-6-1A-5", NULL}};
    for (size_t i = 0; i < N_OF(cpus); i++) {
        char path[256];
        struct errors errors = {0};
        struct environment environment;
        struct catalog_builder *builder;
        const struct perf_json_boxes boxes = {.pmu = cpus[i][2], .identifier = "", .per_package = 12};
        environment_init(&environment);
        environment.facts.literals[LITERAL_NUM_PACKAGES] = 2;
        environment.facts.literals[LITERAL_NUM_CORES] = 112;
        environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
        (void)snprintf(path, sizeof path, "../shared/telemetry/linux/arch/%s", cpus[i][0]);
        const struct perf_json_request request = {.path = path,
                                                  .cpuid = cpus[i][1],
                                                  .trees = "specs/perf/trees.json",
                                                  .environment = &environment,
                                                  .boxes = cpus[i][2] ? &boxes : NULL,
                                                  .all_events = i % 2 == 1};
        if (access(path, R_OK) < 0)
            skip();
        assert_int_equal(perf_json_read(&request, &errors, &builder), 0);
        check(path, catalog_builder_finish(builder));
    }
}

static void test_the_catalog_of_arms_mesh_is_itself_again(void **state) {
    (void)state;
    static const char path[] = "../shared/telemetry/arm/cmn/cmn_700_r0p0_pmu.json";
    struct errors errors = {0};
    struct catalog_builder *builder;
    if (access(path, R_OK) < 0)
        skip();
    assert_int_equal(spec_json_read_mesh(path, NULL, &errors, &builder), 0);
    check(path, catalog_builder_finish(builder));
}

// ---- records that are not ours ----

static struct catalog *toy(void) {
    struct catalog_builder *builder;
    struct fault fault;
    const char *const metrics[] = {"rate"}, *const groups[] = {"General"};
    const struct catalog_event_text text = {
        .name = "reads", .title = "Reads\nof \"it\"", .terms = "event=0x4", .takes = 1};
    const struct catalog_metric_text rate = {
        .name = "rate", .formula = "64 * reads / duration_time", .units = "bytes per second"};
    assert_int_equal(catalog_builder_new("toy", "Vendor", "Toy", "toy", "toy_pmu", &builder), 0);
    assert_int_equal(catalog_builder_add_format(builder, "event", "config:0-7", &fault), 0);
    assert_true(catalog_builder_add_event_text(builder, &text, &fault) > 0);
    assert_int_equal(catalog_builder_add_metric(builder, &rate, &fault), 0);
    assert_int_equal(catalog_builder_add_group(builder, "General", "", "", metrics, 1, &fault), 0);
    assert_int_equal(catalog_builder_set_defaults(builder, groups, 1, &fault), 0);
    catalog_builder_set_chosen(builder);
    return catalog_builder_finish(builder);
}

static int get(const uint8_t *bytes, size_t n) {
    struct environment environment;
    struct catalog *untouched = NULL, *out = NULL;
    const struct recording_record record = {.kind = RECORDING_CATALOG, .bytes = bytes, .n = n};
    environment_init(&environment);
    int r = recording_get_catalog(&record, &environment, &out);
    assert_true(r == 0 || out == untouched);
    catalog_free(out);
    return r;
}

static void test_texts_may_have_lines_and_what_is_chosen_stays_so(void **state) {
    (void)state;
    check("toy", toy());
}

static void test_a_record_that_is_cut_or_too_long_is_refused(void **state) {
    (void)state;
    struct catalog *catalog = toy();
    struct recording_buffer bytes = {0};
    assert_int_equal(recording_put_catalog(&bytes, catalog), 0);
    struct recording_record record = only_record(&bytes);
    uint8_t *copy = malloc(record.n + 1);
    assert_non_null(copy);
    memcpy(copy, record.bytes, record.n);
    copy[record.n] = 0;
    for (size_t n = 0; n < record.n; n++)
        assert_int_equal(get(copy, n), -EBADMSG);
    assert_int_equal(get(copy, record.n), 0);
    assert_int_equal(get(copy, record.n + 1), -EBADMSG);
    free(copy);
    recording_buffer_deinit(&bytes);
    catalog_free(catalog);
}

// Every value of every byte either makes a catalog or is refused: a sanitizer sees what goes wrong.
static void test_no_byte_makes_it_unsafe(void **state) {
    (void)state;
    struct catalog *catalog = toy();
    struct recording_buffer bytes = {0};
    size_t refused = 0, read = 0;
    assert_int_equal(recording_put_catalog(&bytes, catalog), 0);
    struct recording_record record = only_record(&bytes);
    uint8_t *copy = malloc(record.n);
    assert_non_null(copy);
    memcpy(copy, record.bytes, record.n);
    for (size_t i = 0; i < record.n; i++) {
        for (unsigned value = 0; value < 256; value++) {
            copy[i] = (uint8_t)value;
            int r = get(copy, record.n);
            assert_true(r == 0 || r == -EBADMSG);
            refused += r < 0;
            read += r == 0;
        }
        copy[i] = record.bytes[i];
    }
    assert_true(refused > read / 10 && read > record.n);
    free(copy);
    recording_buffer_deinit(&bytes);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shipped_spec_is_itself_again),
        cmocka_unit_test(test_catalogs_of_linux_files_are_themselves_again),
        cmocka_unit_test(test_the_catalog_of_arms_mesh_is_itself_again),
        cmocka_unit_test(test_texts_may_have_lines_and_what_is_chosen_stays_so),
        cmocka_unit_test(test_a_record_that_is_cut_or_too_long_is_refused),
        cmocka_unit_test(test_no_byte_makes_it_unsafe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
