// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "exporters/http/http_page.h"
#include "tests/unit/exporter_host.h"

// What the kernel counts of memory, on the pages: series only for what is there, and a page that follows when that
// changes.

static struct host_memory *two_nodes(void) {
    struct host_memory *memory = host_memory_new();
    assert_non_null(memory);
    memory->n_nodes = 2;
    memory->timestamp_seconds = 1.7e9;
    memory->seconds = 10;
    for (unsigned i = 0; i < 2; i++) {
        memory->nodes[i] = (struct host_memory_node){
            .id = i, .socket = (int)i, .tier = -1, .bytes = 64.0 * (1 << 30), .free_bytes = 1 << 30};
        memory->nodes[i].access = (struct host_memory_access){NAN, NAN, NAN, NAN, false};
        memory->nodes[i].counts[HOST_MEMORY_OWN] = 90;
        memory->nodes[i].counts[HOST_MEMORY_OTHER] = 10;
    }
    memory->totals[HOST_MEMORY_LOCAL] = 4000000000;
    memory->totals_before[HOST_MEMORY_LOCAL] = 4000000000 - 75;
    memory->totals[HOST_MEMORY_REMOTE] = 1000;
    memory->totals_before[HOST_MEMORY_REMOTE] = 1000 - 25;
    memory->totals[HOST_MEMORY_MISSED] = 0;
    return memory;
}

static void add_resctrl(struct host_memory *memory, const double local[2]) {
    memory->resctrl = RESCTRL_COUNTING;
    for (unsigned i = 0; i < 2; i++)
        memory->domains[i] = (struct host_memory_domain){
            .id = 4 * i, .socket = 7 * (int)i, .bytes = {local[i], 1e10, NAN}, .before = {NAN, NAN, NAN}};
    memory->n_domains = 2;
    host_memory_sum_sockets(memory);
}

struct host {
    struct exporter_host exporter;
    struct snapshot *snapshot;
    struct http_templates templates;
};

static void begin(struct host *host) {
    *host = (struct host){.snapshot = NULL};
    host_init(&host->exporter);
    host->snapshot = host_snapshot(&host->exporter);
}

static void end(struct host *host) {
    http_templates_deinit(&host->templates);
    snapshot_unref(host->snapshot);
    host_deinit(&host->exporter);
}

// The page, to be freed.
static char *page_of(struct host *host, enum http_page page, struct host_memory *memory) {
    struct text text = {0};
    struct view *view = view_new(&host->exporter.view);
    assert_non_null(view);
    assert_int_equal(
        http_page_render(
            page, &host->templates,
            &(struct shown){.n = 1, .memory = memory, .types = {{.view = view, .snapshot = host->snapshot}}}, &text),
        0);
    text_append(&text, "", 1);
    view_unref(view);
    return text.data;
}

static void assert_has(const char *page, const char *wanted) {
    if (!strstr(page, wanted))
        fail_msg("there is no %s in\n%s", wanted, page);
}

static void test_without_a_reading_nothing_is_shown(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    char *page = page_of(&host, HTTP_PAGE_METRICS, NULL);
    assert_null(strstr(page, "numa_"));
    assert_null(strstr(page, "resctrl"));
    free(page);
    end(&host);
}

static void test_series_are_those_that_the_host_has(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    struct host_memory *memory = two_nodes();
    char *page = page_of(&host, HTTP_PAGE_METRICS, memory);
    assert_has(page, "topdownd_numa_allocations_total{home=\"local\"} 4000000000\n"
                     "topdownd_numa_allocations_total{home=\"remote\"} 1000\n");
    assert_has(page, "\n# TYPE topdownd_numa_missed_allocations_total counter\n"
                     "topdownd_numa_missed_allocations_total 0\n");
    assert_null(strstr(page, "numa_hint_faults"));
    assert_null(strstr(page, "tier_moved"));
    assert_null(strstr(page, "resctrl"));
    free(page);
    host_memory_unref(memory);
    end(&host);
}

static void test_the_page_follows_what_appears_and_what_goes(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    struct host_memory *before = two_nodes(), *after = two_nodes();
    add_resctrl(after, (const double[]){5e10, 6e10});
    after->totals[HOST_MEMORY_PROMOTED] = 4096;
    char *page = page_of(&host, HTTP_PAGE_METRICS, before);
    assert_null(strstr(page, "resctrl"));
    free(page);
    page = page_of(&host, HTTP_PAGE_METRICS, after);
    assert_has(page, "topdownd_resctrl_memory_bytes_total{socket=\"0\",home=\"local\"} 50000000000\n"
                     "topdownd_resctrl_memory_bytes_total{socket=\"0\",home=\"remote\"} 10000000000\n"
                     "topdownd_resctrl_memory_bytes_total{socket=\"7\",home=\"local\"} 60000000000\n");
    assert_null(strstr(page, "home=\"all\""));
    assert_has(page, "topdownd_memory_tier_moved_bytes_total{direction=\"promoted\"} 4096\n");
    free(page);
    page = page_of(&host, HTTP_PAGE_METRICS, NULL);
    assert_null(strstr(page, "numa_"));
    free(page);
    host_memory_unref(before);
    host_memory_unref(after);
    end(&host);
}

// What each group moved in all caches, and why an interval has no rate.
static void test_json_has_groups_by_name_and_gaps(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    struct host_memory *memory = two_nodes();
    add_resctrl(memory, (const double[]){5e10, 6e10});
    memory->domains[0].gap = RESCTRL_GAP_GROUPS;
    memory->implausible = 2;
    memory->groups = calloc(2, sizeof *memory->groups);
    memory->parts = calloc(3, sizeof *memory->parts);
    assert_true(memory->groups && memory->parts);
    memory->n_groups = 2;
    memory->groups[1] = (struct host_memory_group){"web/mon_groups/a", true};
    const struct host_memory_bytes unknown = {NAN, NAN, NAN};
    memory->parts[memory->n_parts++] = (struct host_memory_part){0, 0, {5, 3, NAN}, unknown, RESCTRL_GAP_NONE, true};
    memory->parts[memory->n_parts++] = (struct host_memory_part){0, 1, {7, 2, NAN}, unknown, RESCTRL_GAP_NONE, true};
    memory->parts[memory->n_parts++] = (struct host_memory_part){1, 0, unknown, unknown, RESCTRL_GAP_NONE, false};
    char *page = page_of(&host, HTTP_PAGE_MEMORY, memory);
    char *text = page; // without blanks
    for (const char *c = page; *c != '\0'; c++)
        if (*c != ' ' && *c != '\t' && *c != '\n')
            *text++ = *c;
    *text = '\0';
    assert_has(page, "\"gap\":\"groups_changed\"");
    assert_has(page, "\"gap\":null");
    assert_has(page, "{\"group\":\"\",\"monitoring\":false,\"local_bytes_total\":12,\"remote_bytes_total\":5,"
                     "\"all_bytes_total\":null,\"readable\":true}");
    assert_has(page, "{\"group\":\"web/mon_groups/a\",\"monitoring\":true,\"local_bytes_total\":null,"
                     "\"remote_bytes_total\":null,\"all_bytes_total\":null,\"readable\":false}");
    assert_has(page, "\"implausible_total\":2");
    free(page);
    host_memory_unref(memory);
    end(&host);
}

static void test_a_stale_snapshot_keeps_the_reading(void **state) {
    (void)state;
    struct host host;
    begin(&host);
    host.snapshot->memory = two_nodes();
    struct snapshot *stale = snapshot_stale(host.snapshot);
    assert_ptr_equal(stale->memory, host.snapshot->memory);
    snapshot_unref(stale);
    end(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_reading_nothing_is_shown),
        cmocka_unit_test(test_series_are_those_that_the_host_has),
        cmocka_unit_test(test_the_page_follows_what_appears_and_what_goes),
        cmocka_unit_test(test_json_has_groups_by_name_and_gaps),
        cmocka_unit_test(test_a_stale_snapshot_keeps_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
