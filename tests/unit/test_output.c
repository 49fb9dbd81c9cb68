// SPDX-License-Identifier: Apache-2.0
//
// What the lines of `measure --interval` say before them. A kind of PMUs that measures memory has told nothing yet, so
// lines wait and can be read.
#include "tests/unit/core_check.h"

#include "daemon/measure/output.h"
#include "tests/unit/exporter_host.h"

static const double WANTED = 2; // seconds of an interval

static const char *line_of(struct output *output, const char *how, double round_seconds, double seconds) {
    struct exporter_host host;
    struct options options = {.measure.interval_seconds = WANTED};
    struct report report;
    host_init(&host);
    host.view.interval_ns = (uint64_t)(round_seconds * 1e9);
    assert_true(plan_n_rotating(host.plan) > 0);
    struct snapshot *snapshot = host_snapshot(&host);
    assert_int_equal(report_init(&report, &host.view, snapshot, REPORT_HOST), 0);
    report.from_seconds = 10;
    report.to_seconds = 10 + seconds;
    output_init(output, &options);
    output_interval(output, &(struct output_head){.hostname = "box", .how = how, .n_memory = 1}, &report);
    text_append(&output->text, "", 1);
    assert_false(output->text.failed);
    report_deinit(&report);
    snapshot_unref(snapshot);
    host_deinit(&host);
    return output->text.data;
}

static void expect(const char *how, double round_seconds, double seconds, const char *told) {
    struct output output;
    const char *text = line_of(&output, how, round_seconds, seconds), *said = strstr(text, "Lines are of ");
    if (told ? !said || !strstr(said, told) : said != NULL)
        fail_msg("%s, rounds of %g s, a line of %g s: \"%s\"", how, round_seconds, seconds, text);
    text_free(&output.text);
}

// A line is late as well where the host is busy, which the plan has no part in.
static void test_a_line_blames_the_round_only_where_that_takes_so_long(void **state) {
    (void)state;
    expect("measured", 2.6, 2.61, "2.61 s here: a round of all event groups takes no less.");
    expect("measured", 1.3, 2.61, "2.61 s here: a round of all event groups takes no less."); // two of them
    expect("measured", 2, 2.51, NULL);
    expect("measured", 0.5, 2.51, NULL);
    expect("measured", 2.6, 2.4, NULL); // nor where it was no longer
    expect("read", 0.5, 2.51, "2.51 s here: the daemon that is read has new values no sooner.");
    expect("read", 0.5, 2.4, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_line_blames_the_round_only_where_that_takes_so_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
