// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/compare/difference.h"
#include "exporter_host.h"

// Two stretches of time are compared by what the kernel counted of memory, too.

static const uint64_t SECOND_NS = 1000000000;

// A reading ten seconds after another one, in which one allocation of so many went to another node.
static struct host_memory *reading(double one_of, double bytes) {
    struct host_memory *memory = host_memory_new();
    assert_non_null(memory);
    memory->seconds = 10;
    memory->totals[HOST_MEMORY_REMOTE] = 1100;
    memory->totals_before[HOST_MEMORY_REMOTE] = 1000;
    memory->totals[HOST_MEMORY_LOCAL] = 5000 + 100 * (one_of - 1);
    memory->totals_before[HOST_MEMORY_LOCAL] = 5000;
    memory->n_nodes = 2;
    memory->n_domains = 1;
    memory->domains[0] = (struct host_memory_domain){.bytes = {NAN, NAN, bytes}, .before = {NAN, NAN, 0}};
    host_memory_sum_sockets(memory);
    return memory;
}

// `readings` of them, one in ten seconds, from 3 s after the beginning on; each is shown by five snapshots.
static struct stretch *play(struct exporter_host *host, size_t readings, double one_of, enum stretch_scope finest) {
    struct stretch *stretch = stretch_new(finest);
    struct snapshot *snapshot = snapshot_new(host->layout);
    assert_non_null(stretch);
    snapshot->end_ns = 100 * SECOND_NS;
    assert_int_equal(stretch_take(stretch, 0, snapshot), 0);
    for (size_t i = 0; i < 5 * readings; i++) {
        snapshot->end_ns += (i == 0 ? 3 : 2) * SECOND_NS;
        if (i % 5 == 0) {
            host_memory_unref(snapshot->memory);
            snapshot->memory = reading(one_of + 0.2 * (double)(i / 5 % 2), 1e9);
        }
        assert_int_equal(stretch_take(stretch, 0, snapshot), 0);
    }
    snapshot_unref(snapshot);
    stretch_end(stretch, DIFFERENCE_BATCHES);
    return stretch;
}

static const struct difference *find(const struct difference *all, size_t n, const char *name,
                                     enum stretch_scope scope) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].before->name, name) == 0 && all[i].before->scope == scope)
            return &all[i];
    return NULL;
}

static void test_a_larger_share_of_other_nodes_is_told_apart(void **state) {
    (void)state;
    struct exporter_host host;
    struct difference *all;
    size_t n;
    host_init(&host);
    struct stretch *before = play(&host, 12, 20, STRETCH_SOCKET), *after = play(&host, 12, 4, STRETCH_SOCKET);
    assert_int_equal(difference_find(before, after, &all, &n), 0);
    const struct difference *remote = find(all, n, "numa_remote_allocation_ratio", STRETCH_HOST);
    assert_non_null(remote);
    assert_int_equal(remote->verdict, DIFFERENCE_WORSE);
    assert_true(fabs(remote->value_before - 1 / 20.1) < 0.001 && fabs(remote->value_after - 1 / 4.1) < 0.005);
    assert_false(difference_is_regression(remote)); // it may explain one
    const struct difference *moved = find(all, n, "resctrl_memory_bytes_per_second", STRETCH_SOCKET);
    assert_non_null(moved);
    assert_true(moved->value_before == 1e8 && moved->verdict == DIFFERENCE_NOT_TOLD_APART);
    assert_non_null(find(all, n, "resctrl_memory_bytes_per_second", STRETCH_HOST));
    assert_null(find(all, n, "tier_promoted_bytes_per_second", STRETCH_HOST)); // the host has one tier
    free(all);
    stretch_free(before);
    stretch_free(after);
    host_deinit(&host);
}

// The first reading began seven seconds before the stretch.
static void test_few_readings_are_too_short_and_the_first_one_does_not_count(void **state) {
    (void)state;
    struct exporter_host host;
    struct difference *all;
    size_t n;
    host_init(&host);
    struct stretch *before = play(&host, DIFFERENCE_BATCHES_MIN, 20, STRETCH_HOST),
                   *after = play(&host, 12, 4, STRETCH_HOST);
    assert_int_equal(difference_find(before, after, &all, &n), 0);
    const struct difference *remote = find(all, n, "numa_remote_allocation_ratio", STRETCH_HOST);
    assert_int_equal(remote->verdict, DIFFERENCE_TOO_SHORT);
    assert_int_equal(remote->before->source, STRETCH_KERNEL);
    assert_null(find(all, n, "resctrl_memory_bytes_per_second", STRETCH_SOCKET));
    free(all);
    stretch_free(before);
    stretch_free(after);
    host_deinit(&host);
}

// A kind of boxes that tells the remote misses, as its definition says.
static struct stretch *of_misses(const char *definition, struct exporter_host *boxes) {
    static const char *const missed[] = {"missed"};
    struct catalog_builder *builder = host_builder();
    struct fault error;
    const struct catalog_metric_text text = {.name = "missed",
                                             .title = "missed",
                                             .units = "bytes per second and box",
                                             .formula = "64 * FAULTS / cpu_seconds",
                                             .definition = definition};
    int metric = catalog_builder_add_metric(builder, &text, &error);
    assert_true(metric >= 0);
    assert_int_equal(catalog_builder_set_traffic(builder, (unsigned)metric, "llc_miss_remote", &error), 0);
    assert_true(catalog_builder_add_group(builder, "Traffic", "", "", missed, 1, &error) >= 0);
    host_init_with(boxes, catalog_builder_finish(builder), 4);
    struct stretch *stretch = stretch_new(STRETCH_HOST);
    struct snapshot *snapshot = snapshot_new(boxes->layout);
    assert_int_equal(stretch_take(stretch, 0, snapshot), 0);
    snapshot_unref(snapshot);
    return stretch;
}

static void test_what_a_socket_fetched_is_not_compared_with_what_others_requested_of_it(void **state) {
    (void)state;
    static const char *const definitions[] = {TRAFFIC_FETCHED, TRAFFIC_REQUESTED, NULL};
    struct exporter_host hosts[2];
    struct stretch *fetched = of_misses(definitions[0], &hosts[0]);
    for (size_t i = 0; i < 3; i++) {
        struct stretch *other = of_misses(definitions[i], &hosts[1]);
        struct difference *all;
        size_t n;
        assert_int_equal(difference_find(fetched, other, &all, &n), 0);
        const struct difference *missed = find(all, n, "missed", STRETCH_HOST);
        assert_non_null(missed);
        assert_int_equal(missed->verdict == DIFFERENCE_OTHER_DEFINITION, i > 0);
        free(all);
        stretch_free(other);
        host_deinit(&hosts[1]);
    }
    stretch_free(fetched);
    host_deinit(&hosts[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_larger_share_of_other_nodes_is_told_apart),
        cmocka_unit_test(test_few_readings_are_too_short_and_the_first_one_does_not_count),
        cmocka_unit_test(test_what_a_socket_fetched_is_not_compared_with_what_others_requested_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
