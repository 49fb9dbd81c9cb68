// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/engine/newest.h"
#include "daemon/engine/verdict_log.h"
#include "exporters/view/view_sockets.h"
#include "exporters/view/view_types.h"
#include "exporters/view/view_waits.h"
#include "tree_host.h"

// What is short where a scope waits for memory: of two sockets, 0 and 7, whose memory can move 100 GB/s each. Both are
// bound by memory_bound.

static const double GB = 1e9;

struct patient {
    struct exporter_host cores, boxes;
    struct snapshot *of_cores, *of_boxes;
    struct shown shown;
};

static struct catalog *box_catalog(void) {
    static const char *const moved[] = {"moved"};
    struct catalog_builder *builder = host_builder();
    struct fault error;
    const struct catalog_metric_text text = {
        .name = "moved", .title = "moved", .units = "bytes per second and box", .formula = "64 * FAULTS / cpu_seconds"};
    int metric = catalog_builder_add_metric(builder, &text, &error);
    assert_true(metric >= 0);
    assert_int_equal(catalog_builder_set_traffic(builder, (unsigned)metric, "memory_all", &error), 0);
    assert_true(catalog_builder_add_group(builder, "Traffic", "", "", moved, 1, &error) >= 0);
    return catalog_builder_finish(builder);
}

static void begin(struct patient *p) {
    *p = (struct patient){.shown = {.n = 0}};
    tree_host_init(&p->cores);
    host_init_with(&p->boxes, box_catalog(), 4);
    p->boxes.topology->boxes = true;
    for (size_t s = 0; s < 2; s++) {
        p->boxes.topology->sockets[s].memory_bytes_per_second = 100 * GB;
        p->boxes.topology->sockets[s].peak = TOPOLOGY_PEAK_HOST;
        p->boxes.topology->sockets[s].excluded = 0;
    }
    p->of_cores = tree_snapshot(&p->cores);
    p->of_boxes = host_snapshot(&p->boxes);
    p->shown.types[0] = (struct shown_type){&p->cores.view, p->of_cores};
    p->shown.types[1] = (struct shown_type){&p->boxes.view, p->of_boxes};
    shown_count(&p->shown, 2);
    assert_int_equal(p->shown.n_boxes, 1);
}

static void end(struct patient *p) {
    snapshot_unref(p->of_cores);
    snapshot_unref(p->of_boxes);
    host_deinit(&p->cores);
    host_deinit(&p->boxes);
}

static void set_waits(struct patient *p, const char *metric, enum catalog_waits waits) {
    p->cores.catalog->metrics[catalog_find_metric(p->cores.catalog, metric)].waits = waits;
}

// Socket 0 has two boxes and socket 7 one: the metric is that of one of them.
static void move(struct patient *p, double first, double second) {
    const double bytes[] = {first * GB / 2, second * GB};
    for (size_t s = 0; s < 2; s++)
        p->of_boxes
            ->values[snapshot_metric(p->boxes.layout, snapshot_scope_socket(s), host_metric(&p->boxes, "moved"))] =
            bytes[s];
}

// Of any scope, also a CPU.
static struct verdict judge(const struct patient *p, size_t scope) {
    struct tree *tree = tree_new(p->cores.layout);
    assert_non_null(tree);
    tree_evaluate(tree, p->shown.types[0].snapshot, scope);
    struct verdict verdict = bound_find(tree);
    tree_free(tree);
    return verdict;
}

static void expect(struct patient *p, size_t scope, const char *text) {
    struct text said = {0};
    struct verdict verdict = judge(p, scope);
    view_waits_text(&p->shown, p->shown.types[0].snapshot, &verdict, scope, &said);
    text_append(&said, "", 1);
    assert_string_equal(said.data, text);
    text_free(&said);
}

static struct view_waits judged(struct patient *p, size_t scope) {
    struct view_waits waits;
    struct verdict verdict = judge(p, scope);
    assert_true(view_waits_judge(&p->shown, p->of_cores, &verdict, scope, &waits));
    return waits;
}

static void test_near_the_peak_is_bandwidth_and_far_from_it_latency(void **state) {
    (void)state;
    static const struct {
        double moved;
        enum waits_lack lack;
        const char *text;
    } cases[] = {
        {1000, WAITS_LACK_OPEN,
         " The memory moves 2000.0 GB/s, more than its stated peak of 200.0 GB/s, so that peak "
         "(from its channels and their speed; uncore.peak can state another) must be wrong."},
        {105.1, WAITS_LACK_OPEN,
         " The memory moves 210.2 GB/s, more than its stated peak of 200.0 GB/s, so that peak "
         "(from its channels and their speed; uncore.peak can state another) must be wrong."},
        {105, WAITS_LACK_BANDWIDTH, " The memory moves 210.0 GB/s, 105 % of its peak and near it: bandwidth."},
        {100, WAITS_LACK_BANDWIDTH, " The memory moves 200.0 GB/s, 100 % of its peak and near it: bandwidth."},
        {70, WAITS_LACK_BANDWIDTH, " The memory moves 140.0 GB/s, 70 % of its peak and near it: bandwidth."},
        {69.9, WAITS_LACK_OPEN, " The memory moves 139.8 GB/s, 70 % of its peak."},
        {40, WAITS_LACK_OPEN, " The memory moves 80.0 GB/s, 40 % of its peak."},
        {39.9, WAITS_LACK_LATENCY, " The memory moves 79.8 GB/s, 40 % of its peak and far from it: latency."},
        {0, WAITS_LACK_LATENCY, " The memory moves 0.0 GB/s, 0 % of its peak and far from it: latency."},
    };
    struct patient p;
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_DRAM);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        move(&p, cases[i].moved, cases[i].moved);
        expect(&p, 0, cases[i].text);
        struct view_waits waits = judged(&p, 0);
        assert_int_equal(waits.lack, cases[i].lack);
        assert_true(fabs(waits.bytes - 2 * GB * cases[i].moved) < 1 && waits.peak == 200 * GB);
        assert_int_equal(waits.beyond, cases[i].moved > 105);
    }
    assert_string_equal(view_waits_lack_name(WAITS_LACK_BANDWIDTH), "bandwidth");
    assert_string_equal(view_waits_lack_name(WAITS_LACK_LATENCY), "latency");
    assert_null(view_waits_lack_name(WAITS_LACK_OPEN));
    end(&p);
}

static void test_a_socket_is_judged_by_its_own_memory_and_so_are_its_cpus(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_DRAM);
    move(&p, 90, 10);
    expect(&p, snapshot_scope_socket(0), " The memory moves 90.0 GB/s, 90 % of its peak and near it: bandwidth.");
    expect(&p, snapshot_scope_cpu(p.cores.layout, 1),
           " The memory moves 90.0 GB/s, 90 % of its peak and near it: bandwidth.");
    expect(&p, snapshot_scope_cpu(p.cores.layout, 2),
           " The memory moves 10.0 GB/s, 10 % of its peak and far from it: latency.");
    expect(&p, 0,
           " The memory of socket 0 moves 90.0 GB/s, 90 % of its peak and near it: bandwidth. The memory of socket 7 "
           "moves 10.0 GB/s, 10 % of its peak and far from it: latency."); // their mean, 50 %, is of none
    assert_int_equal(judged(&p, 0).lack, WAITS_LACK_OPEN);
    assert_int_equal(judged(&p, snapshot_scope_socket(0)).lack, WAITS_LACK_BANDWIDTH);
    end(&p);
}

static void test_what_a_node_tells_from_inside_the_core_is_told_beside_it(void **state) {
    (void)state;
    static const struct {
        enum catalog_waits waits;
        const char *near, *far;
        enum waits_lack when_far;
    } cases[] = {
        {WAITS_BACK_END, "bandwidth, as far as the cores wait for data", "not bandwidth, but latency or execution",
         WAITS_LACK_OPEN},
        {WAITS_MEMORY, "bandwidth", "latency, of caches or memory", WAITS_LACK_LATENCY},
        {WAITS_DRAM, "bandwidth", "latency", WAITS_LACK_LATENCY},
        {WAITS_DRAM_BANDWIDTH, "bandwidth", "not its bandwidth is short, but the misses that a core can have open",
         WAITS_LACK_LATENCY},
        {WAITS_DRAM_LATENCY, "bandwidth, whose queues make the latency", "latency", WAITS_LACK_LATENCY},
    };
    struct patient p;
    char text[256];
    begin(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_waits(&p, "memory_bound", cases[i].waits);
        move(&p, 80, 80);
        (void)snprintf(text, sizeof text, " The memory moves 160.0 GB/s, 80 %% of its peak and near it: %s.",
                       cases[i].near);
        expect(&p, 0, text);
        assert_int_equal(judged(&p, 0).lack, WAITS_LACK_BANDWIDTH);
        move(&p, 20, 20);
        (void)snprintf(text, sizeof text, " The memory moves 40.0 GB/s, 20 %% of its peak and far from it: %s.",
                       cases[i].far);
        expect(&p, 0, text);
        assert_int_equal(judged(&p, 0).lack, cases[i].when_far);
        move(&p, 50, 50);
        expect(&p, 0, " The memory moves 100.0 GB/s, 50 % of its peak.");
        assert_int_equal(judged(&p, 0).lack, WAITS_LACK_OPEN);
    }
    end(&p);
}

static void test_nothing_is_concluded_from_an_unknown_peak(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_DRAM);
    p.boxes.topology->sockets[1].memory_bytes_per_second = 0;
    move(&p, 50, 50);
    expect(&p, 0, " The memory moves 100.0 GB/s; its peak is not known.");
    assert_true(isnan(judged(&p, 0).share_of_peak) && isnan(judged(&p, 0).peak));
    move(&p, 90, 50);
    expect(&p, 0,
           " The memory of socket 0 moves 90.0 GB/s, 90 % of its peak and near it: bandwidth. The memory of socket 7 "
           "moves 50.0 GB/s; its peak is not known.");
    p.boxes.topology->sockets[1].excluded = 1; // then it is withheld
    expect(&p, snapshot_scope_socket(1),
           " The memory moves 50.0 GB/s; no peak is compared with it, as uncore.boxes leaves boxes out.");
    move(&p, 50, 50);
    expect(&p, 0, " The memory moves 100.0 GB/s; no peak is compared with it, as uncore.boxes leaves boxes out.");
    end(&p);
}

static void test_a_peak_that_more_than_it_was_moved_is_told_to_be_wrong_with_what_states_it(void **state) {
    (void)state;
    struct patient p;
    struct text said = {0};
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_MEMORY);
    p.boxes.topology->sockets[0].memory_bytes_per_second = GB / 1000;
    p.boxes.topology->sockets[0].peak = TOPOLOGY_PEAK_CONFIGURED;
    move(&p, 90, 90);
    expect(&p, snapshot_scope_socket(0),
           " The memory moves 90.0 GB/s, more than its stated peak of 1.0 MB/s, so that "
           "peak (uncore.peak) must be wrong.");
    expect(&p, 0,
           " The memory of socket 0 moves 90.0 GB/s, more than its stated peak of 1.0 MB/s, so that peak (uncore.peak) "
           "must be wrong. The memory of socket 7 moves 90.0 GB/s, 90 % of its peak and near it: bandwidth.");
    assert_true(judged(&p, 0).beyond && judged(&p, 0).lack == WAITS_LACK_OPEN);
    assert_false(judged(&p, snapshot_scope_socket(1)).beyond);
    view_sockets_answer(&p.shown, p.of_cores, 0, &said);
    text_append(&said, "", 1);
    assert_string_equal(said.data,
                        "memory_bound, 25 % of pipeline slots, its memory beyond its stated peak, which must "
                        "be wrong");
    text_free(&said);
    move(&p, 10, 200); // of two peaks that are wrong for two reasons, each is told
    p.boxes.topology->sockets[1].peak = TOPOLOGY_PEAK_FIRMWARE;
    expect(&p, 0,
           " The memory of socket 0 moves 10.0 GB/s, more than its stated peak of 1.0 MB/s, so that peak (uncore.peak) "
           "must be wrong. The memory of socket 7 moves 200.0 GB/s, more than its stated peak of 100.0 GB/s, so that "
           "peak (the firmware's rating; uncore.peak can state another) must be wrong.");
    end(&p);
}

static void test_nothing_is_said_where_it_is_not_about_memory_or_not_known(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    move(&p, 90, 90);
    expect(&p, 0, "");                                     // the spec does not say that it waits
    assert_int_equal(judged(&p, 0).lack, WAITS_LACK_OPEN); // but what its memory moves is known
    set_waits(&p, "backend_bound", WAITS_BACK_END);
    expect(&p, 0, ""); // nor does a node above tell of the last one
    set_waits(&p, "memory_bound", WAITS_DRAM);
    move(&p, 90, NAN);
    expect(&p, 0, ""); // of one socket it is not known
    expect(&p, snapshot_scope_socket(0), " The memory moves 90.0 GB/s, 90 % of its peak and near it: bandwidth.");
    move(&p, 90, 90);
    shown_count(&p.shown, 1);
    expect(&p, 0, ""); // nothing tells what the memory moves
    shown_count(&p.shown, 2);
    tree_set(&p.cores, p.of_cores, 0, "backend_bound", 0.1);
    expect(&p, 0, ""); // nothing stands out
    end(&p);
}

// Prefetchers hide the misses of a stream, so that there are too few of them for what the cores wait.
static void test_near_the_peak_few_misses_do_not_tell_of_execution(void **state) {
    (void)state;
    struct patient p;
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_BACK_END);
    struct verdict verdict = p.of_cores->verdicts[0].now;
    verdict.cause = (struct verdict_cause){.kind = CAUSE_EXECUTION, .metric = -1, .share = 0.4};
    move(&p, 90, 90);
    assert_int_equal(view_waits_settle(&p.shown, p.of_cores, &verdict, 0).cause.kind, CAUSE_NONE);
    move(&p, 5, 5);
    assert_int_equal(view_waits_settle(&p.shown, p.of_cores, &verdict, 0).cause.kind, CAUSE_EXECUTION);
    assert_int_equal(view_waits_settle(NULL, p.of_cores, &verdict, 0).cause.kind, CAUSE_EXECUTION);
    verdict.cause.kind = CAUSE_MEMORY;
    move(&p, 90, 90);
    assert_int_equal(view_waits_settle(&p.shown, p.of_cores, &verdict, 0).cause.kind, CAUSE_MEMORY);
    end(&p);
}

static void test_the_hosts_answer_and_that_of_sockets_that_differ_say_it(void **state) {
    (void)state;
    struct patient p;
    struct text said = {0};
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_DRAM);
    move(&p, 90, 95);
    assert_false(view_sockets_verdict(&p.shown, &p.shown.types[0], &said));
    text_append(&said, "", 1);
    assert_string_equal(said.data, "backend_bound, 35 % of pipeline slots; in it memory_bound, 25 % of pipeline slots. "
                                   "Mend <this> & that. The memory moves 185.0 GB/s, 92 % of its peak and near it: "
                                   "bandwidth.");
    said.length = 0;
    tree_set(&p.cores, p.of_cores, snapshot_scope_socket(1), "backend_bound", 0.1);
    tree_set(&p.cores, p.of_cores, snapshot_scope_socket(1), "frontend_bound", 0.5);
    tree_set_margin(&p.cores, p.of_cores, snapshot_scope_socket(1), "frontend_bound", 0.01);
    host_judge(p.of_cores);
    assert_true(view_sockets_verdict(&p.shown, &p.shown.types[0], &said));
    text_append(&said, "", 1);
    assert_non_null(strstr(said.data, " The sockets differ: socket 0: memory_bound, 25 % of pipeline slots, its memory "
                                      "at 90 % of its peak: bandwidth; socket 7: frontend_bound, 50 % of pipeline "
                                      "slots."));
    assert_null(strstr(said.data, "The memory moves")); // a mean over them describes none
    text_free(&said);
    end(&p);
}

static void test_the_answer_for_all_core_types_says_it_once(void **state) {
    (void)state;
    struct patient p;
    struct text said = {0};
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_MEMORY);
    move(&p, 10, 10);
    p.cores.view.core_type = "big";
    p.shown.types[2] = p.shown.types[1];
    p.shown.types[1] = p.shown.types[0];
    shown_count(&p.shown, 3);
    view_types_text(&p.shown, &said);
    text_append(&said, "", 1);
    assert_string_equal(said.data, "All core types: memory_bound (big 25 %, big 25 %). The memory moves 20.0 GB/s, "
                                   "10 % of its peak and far from it: latency, of caches or memory.");
    text_free(&said);
    end(&p);
}

// ---- in the log ----

// What the log says in 80 seconds of rounds.
static void log_rounds(struct patient *p, const struct shown *newest, char *said, size_t size) {
    struct diagnosis *diagnosis = diagnosis_new(p->cores.layout);
    struct verdict_log verdict_log = {.newest = newest};
    FILE *before = stderr, *log = fmemopen(said, size, "w");
    uint64_t now_ns = 1000000000000;
    assert_non_null(diagnosis);
    assert_non_null(log);
    for (int round = 0; round < 40; round++) {
        p->of_cores->start_ns = now_ns;
        p->of_cores->end_ns = now_ns += 2000000000;
        p->of_cores->taken_seconds = (double)now_ns * 1e-9;
        diagnosis_round(diagnosis, p->of_cores);
        stderr = log;
        verdict_log_round(&verdict_log, &p->shown.types[0], "");
        stderr = before;
    }
    (void)fclose(log);
    diagnosis_free(diagnosis);
}

static void test_the_log_says_it_of_what_was_newest(void **state) {
    (void)state;
    struct patient p;
    char said[2048] = "";
    begin(&p);
    set_waits(&p, "memory_bound", WAITS_DRAM);
    move(&p, 90, 90);
    log_rounds(&p, &p.shown, said, sizeof said);
    assert_non_null(
        strstr(said, "what this host is bound by: backend_bound, 35 % of pipeline slots; in it memory_bound"));
    assert_non_null(
        strstr(said, " The memory moves 180.0 GB/s, 90 % of its peak and near it: bandwidth. At least since "));
    move(&p, 300, 300);
    log_rounds(&p, &p.shown, said, sizeof said);
    assert_non_null(strstr(said, " The memory moves 600.0 GB/s, more than its stated peak of 200.0 GB/s, so that peak "
                                 "(from its channels and their speed; uncore.peak can state another) must be wrong."));
    assert_null(strstr(said, "bandwidth"));
    log_rounds(&p, NULL, said, sizeof said);
    assert_non_null(strstr(said, "what this host is bound by: "));
    assert_null(strstr(said, "The memory"));
    end(&p);
}

static void test_the_newest_of_each_engine_are_shown_once_all_core_types_have_one(void **state) {
    (void)state;
    struct patient p;
    struct newest newest = {.shown = {.n = 0}};
    begin(&p);
    struct view *cores = view_new(&p.cores.view), *boxes = view_new(&p.boxes.view);
    newest_put(&newest, 1, boxes, p.of_boxes);
    assert_int_equal(shown_all(&newest.shown), 0);
    newest_put(&newest, 0, cores, p.of_cores);
    assert_int_equal(newest.shown.n, 1);
    assert_int_equal(newest.shown.n_boxes, 1);
    newest_put(&newest, 0, cores, p.of_cores); // the same again
    assert_ptr_equal(newest.shown.types[0].view, cores);
    assert_ptr_equal(newest.shown.types[1].snapshot, p.of_boxes);
    newest_deinit(&newest);
    view_unref(cores);
    view_unref(boxes);
    end(&p); // no reference is left
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_the_peak_is_bandwidth_and_far_from_it_latency),
        cmocka_unit_test(test_a_socket_is_judged_by_its_own_memory_and_so_are_its_cpus),
        cmocka_unit_test(test_what_a_node_tells_from_inside_the_core_is_told_beside_it),
        cmocka_unit_test(test_nothing_is_concluded_from_an_unknown_peak),
        cmocka_unit_test(test_a_peak_that_more_than_it_was_moved_is_told_to_be_wrong_with_what_states_it),
        cmocka_unit_test(test_nothing_is_said_where_it_is_not_about_memory_or_not_known),
        cmocka_unit_test(test_near_the_peak_few_misses_do_not_tell_of_execution),
        cmocka_unit_test(test_the_hosts_answer_and_that_of_sockets_that_differ_say_it),
        cmocka_unit_test(test_the_answer_for_all_core_types_says_it_once),
        cmocka_unit_test(test_the_log_says_it_of_what_was_newest),
        cmocka_unit_test(test_the_newest_of_each_engine_are_shown_once_all_core_types_have_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
