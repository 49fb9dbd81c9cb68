// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "core/memory/resctrl_sum.h"

// A made-up kernel: a control group and its monitoring groups, each with a hardware identifier of its own, whose files
// are what mon_event_count makes of them (fs/resctrl/monitor.c): a control group's file is the sum of all that can be
// read at that moment, its own among them, and has no number only if none can be read. Time goes on between two reads.

enum { CHILDREN = 4, OWN = CHILDREN };

struct rmid {
    double total, local; // what the hardware counted
    double true_total;   // and what it would have, had nobody set it back
    uint64_t id;         // of the folder
    bool exists, readable;
};

struct kernel {
    struct rmid rmids[CHILDREN + 1]; // the last one is the control group's
    uint64_t random, next_id;
    double moved; // since it was set to 0
    double rate;  // most bytes between two reads
};

static double random_below(struct kernel *kernel, double limit) {
    kernel->random ^= kernel->random << 13;
    kernel->random ^= kernel->random >> 7;
    kernel->random ^= kernel->random << 17;
    return floor((double)(kernel->random >> 11) / (double)(UINT64_C(1) << 53) * limit);
}

static void let_pass(struct kernel *kernel, double times) {
    for (size_t i = 0; i <= CHILDREN; i++) {
        struct rmid *rmid = &kernel->rmids[i];
        double bytes = rmid->exists ? floor(times * random_below(kernel, kernel->rate)) : 0;
        rmid->total += bytes;
        rmid->local += floor(bytes / 2);
        rmid->true_total += bytes;
        kernel->moved += bytes;
    }
}

static struct resctrl_said file_of(const struct kernel *kernel, size_t i) {
    struct resctrl_said said = {.total = NAN, .local = NAN, .tells_local = true};
    for (size_t k = 0; k <= CHILDREN; k++) {
        const struct rmid *rmid = &kernel->rmids[k];
        if (!rmid->exists || !rmid->readable || (i != OWN && i != k))
            continue;
        said.total = rmid->total + (isnan(said.total) ? 0 : said.total);
        said.local = rmid->local + (isnan(said.local) ? 0 : said.local);
    }
    return said;
}

// One of them is made, removed, ceases to be readable or becomes so.
static void change_one(struct kernel *kernel) {
    size_t i = (size_t)random_below(kernel, CHILDREN + 1);
    struct rmid *rmid = &kernel->rmids[i];
    if (!rmid->exists)
        *rmid = (struct rmid){.id = kernel->next_id++, .exists = true, .readable = random_below(kernel, 4) > 0};
    else if (i != OWN && random_below(kernel, 3) == 0)
        rmid->exists = false;
    else
        rmid->readable = !rmid->readable;
}

static void set_back(struct kernel *kernel) {
    for (size_t i = 0; i <= CHILDREN; i++)
        kernel->rmids[i].total = kernel->rmids[i].local = 0;
}

struct watched {
    struct resctrl_count count;
    uint64_t id;
    double total, truth_before;
};

struct watcher {
    struct watched watched[CHILDREN + 1];
    double seconds;
    struct resctrl_growth own; // in the last pass
    double all;                // that was counted of monitoring groups that are gone
    double truth_gone;
};

static struct watched *find_watched(struct watcher *watcher, const struct kernel *kernel, size_t i) {
    struct watched *watched = &watcher->watched[i];
    if (watched->id != kernel->rmids[i].id || (i != OWN && watched->count.seen && watched->id == 0))
        *watched = (struct watched){.id = kernel->rmids[i].id};
    return watched;
}

static struct resctrl_growth take(struct watcher *watcher, const struct kernel *kernel, size_t i,
                                  const struct resctrl_seen *seen) {
    struct watched *watched = find_watched(watcher, kernel, i);
    struct resctrl_growth growth =
        resctrl_count_take(&watched->count, seen, (struct resctrl_moment){watcher->seconds, INFINITY, 0});
    assert_true(growth.total >= 0 && growth.local >= 0 && growth.interval_total >= 0 && growth.interval_local >= 0);
    assert_true(growth.interval_total <= growth.total);
    watched->total += growth.total;
    return growth;
}

// `change`: the read before which something changes; more than there are: nothing does.
static void pass(struct watcher *watcher, struct kernel *kernel, size_t change) {
    struct resctrl_said first, again, said[CHILDREN];
    struct resctrl_children children = {.set = 0};
    uint64_t listed[CHILDREN]; // ids; a group of another id is not read
    watcher->seconds += 10;
    kernel->moved = 0;
    for (size_t i = 0; i < CHILDREN; i++)
        listed[i] = kernel->rmids[i].exists ? kernel->rmids[i].id : 0;
    first = file_of(kernel, OWN);
    for (size_t i = 0; i < CHILDREN; i++) {
        let_pass(kernel, 1);
        if (i == change)
            change_one(kernel);
        bool there = kernel->rmids[i].exists && kernel->rmids[i].id == listed[i];
        said[i] = there ? file_of(kernel, i) : (struct resctrl_said){NAN, NAN, false, false};
        if (listed[i] != 0)
            resctrl_children_add(&children, listed[i], &said[i],
                                 watcher->watched[i].id != listed[i] || !watcher->watched[i].count.seen);
    }
    let_pass(kernel, 1);
    if (change == CHILDREN)
        change_one(kernel);
    again = children.n > 0 ? file_of(kernel, OWN) : first;
    for (size_t i = 0; i < CHILDREN; i++) {
        const struct resctrl_seen seen = resctrl_see_group(&said[i]);
        if (kernel->rmids[i].exists && kernel->rmids[i].id == listed[i])
            (void)take(watcher, kernel, i, &seen);
    }
    const struct resctrl_seen seen = resctrl_see_part(&first, &again, &children);
    watcher->own = take(watcher, kernel, OWN, &seen);
}

static struct kernel begin(uint64_t seed, double rate) {
    struct kernel kernel = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, .next_id = 1, .rate = rate};
    for (size_t i = 0; i <= CHILDREN; i++)
        kernel.rmids[i] = (struct rmid){.id = kernel.next_id++, .exists = true, .readable = true};
    return kernel;
}

static const char *const NOTHING = "nothing changes";

static void fail_of(const char *what, uint64_t seed, unsigned step, double counted, double truth) {
    fail_msg("%s: seed %llu, step %u: counted %.0f, the truth is %.0f", what, (unsigned long long)seed, step, counted,
             truth);
}

static void test_while_nothing_changes_all_is_counted(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct kernel kernel = begin(seed, 1e6);
        struct watcher watcher = {.seconds = 0};
        double before = 0;
        for (unsigned step = 0; step < 200; step++) {
            let_pass(&kernel, 1000);
            double truth = kernel.rmids[OWN].true_total, counted = watcher.watched[OWN].total;
            pass(&watcher, &kernel, CHILDREN + 1);
            if (watcher.own.gap != RESCTRL_GAP_NONE)
                fail_of("a gap although nothing changes", seed, step, counted, truth);
            counted = watcher.watched[OWN].total;
            if (counted > kernel.rmids[OWN].true_total || counted < truth - kernel.moved)
                fail_of(NOTHING, seed, step, counted, truth);
            if (step > 0 && fabs(watcher.own.interval_total - (truth - before)) > 2 * kernel.moved)
                fail_of("a rate", seed, step, watcher.own.interval_total, truth - before);
            before = truth;
            for (size_t i = 0; i < CHILDREN; i++)
                if (watcher.watched[i].total > kernel.rmids[i].true_total ||
                    watcher.watched[i].total < kernel.rmids[i].true_total - kernel.moved)
                    fail_of("a monitoring group", seed, step, watcher.watched[i].total, kernel.rmids[i].true_total);
        }
    }
}

// Whatever comes and goes, between passes and within them: the own part is never more than the truth, but for what
// moved while it was read; and a rate without a gap is none of another time, at least where nothing changed while it
// was read.
static void test_totals_and_rates_are_never_more_than_the_truth(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct kernel kernel = begin(seed, seed % 3 == 0 ? 1e12 : 1e6);
        struct watcher watcher = {.seconds = 0};
        double slack = 0, truth_before = 0, moved_before = 0;
        size_t change_before = CHILDREN + 1;
        unsigned gaps = 0, steps = 100;
        for (unsigned step = 0; step < steps; step++) {
            for (double n = random_below(&kernel, 4) - 1; n > 0; n--)
                change_one(&kernel);
            if (seed % 5 == 0 && random_below(&kernel, 20) == 0)
                set_back(&kernel);
            let_pass(&kernel, 1000);
            double truth = kernel.rmids[OWN].true_total;
            size_t change = seed % 2 ? (size_t)random_below(&kernel, 3 * CHILDREN) : CHILDREN + 1;
            pass(&watcher, &kernel, change);
            slack = change <= CHILDREN ? fmax(slack, kernel.moved) : slack;
            const struct watched *own = &watcher.watched[OWN];
            if (own->total > kernel.rmids[OWN].true_total + slack)
                fail_of("an own part", seed, step, own->total, kernel.rmids[OWN].true_total);
            for (size_t i = 0; i < CHILDREN; i++)
                if (kernel.rmids[i].exists && watcher.watched[i].id == kernel.rmids[i].id &&
                    watcher.watched[i].total > kernel.rmids[i].true_total)
                    fail_of("a monitoring group", seed, step, watcher.watched[i].total, kernel.rmids[i].true_total);
            double rate = watcher.own.interval_total;
            if (step > 0 && watcher.own.gap == RESCTRL_GAP_NONE && change > CHILDREN && change_before > CHILDREN &&
                rate > kernel.rmids[OWN].true_total - truth_before + moved_before + kernel.moved)
                fail_of("a rate", seed, step, rate, kernel.rmids[OWN].true_total - truth_before);
            gaps += watcher.own.gap != RESCTRL_GAP_NONE;
            truth_before = truth;
            moved_before = kernel.moved;
            change_before = change;
        }
        assert_in_range(gaps, 1, steps - 1); // some intervals have data, and not all
    }
}

// After whatever happened, what is readable again is counted again, and nothing is lost but what was set back.
static void test_when_all_are_back_so_are_their_bytes(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct kernel kernel = begin(seed, 1e6);
        struct watcher watcher = {.seconds = 0};
        kernel.rmids[OWN].total = kernel.rmids[OWN].true_total = 1e9; // more than moves while it is read
        pass(&watcher, &kernel, CHILDREN + 1);                        // all are known
        for (unsigned step = 0; step < 20; step++) {
            size_t i = (size_t)random_below(&kernel, CHILDREN + 1);
            kernel.rmids[i].readable = !kernel.rmids[i].readable;
            let_pass(&kernel, 1000);
            pass(&watcher, &kernel, CHILDREN + 1);
        }
        for (size_t i = 0; i <= CHILDREN; i++)
            kernel.rmids[i].readable = true;
        for (unsigned step = 0; step < 3; step++) {
            let_pass(&kernel, 1000);
            pass(&watcher, &kernel, CHILDREN + 1);
        }
        assert_int_equal(watcher.own.gap, RESCTRL_GAP_NONE);
        for (size_t i = 0; i <= CHILDREN; i++)
            if (watcher.watched[i].total < kernel.rmids[i].true_total - kernel.moved)
                fail_of("a group that is back", seed, (unsigned)i, watcher.watched[i].total,
                        kernel.rmids[i].true_total);
    }
}

// The own part of a pass without monitoring groups.
static struct resctrl_seen alone(double total, double local) {
    const struct resctrl_said said = {total, local, true, false};
    return resctrl_see_group(&said);
}

static void test_a_fall_of_either_file_is_no_data_of_both(void **state) {
    (void)state;
    static const struct { double total, local; } falls[] = {{1400, 40}, {50, 900}, {50, 40}};
    for (size_t i = 0; i < sizeof falls / sizeof *falls; i++) {
        struct resctrl_count count = {.total = 0};
        struct resctrl_seen seen = alone(1200, 800);
        assert_true(resctrl_count_take(&count, &seen, (struct resctrl_moment){0, INFINITY, 0}).total == 1200);
        seen = alone(falls[i].total, falls[i].local);
        struct resctrl_growth growth = resctrl_count_take(&count, &seen, (struct resctrl_moment){10, INFINITY, 0});
        assert_int_equal(growth.gap, RESCTRL_GAP_FELL);
        assert_true(growth.total == 0 && growth.local == 0);
        seen = alone(falls[i].total + 100, falls[i].local + 60);
        growth = resctrl_count_take(&count, &seen, (struct resctrl_moment){20, INFINITY, 0});
        assert_int_equal(growth.gap, RESCTRL_GAP_NONE);
        assert_true(growth.total == 100 && growth.local == 60);
    }
}

static void test_more_than_the_memory_can_move_is_no_data(void **state) {
    (void)state;
    struct resctrl_count count = {.total = 0};
    struct resctrl_seen seen = alone(9e12, 9e12); // its life, of which nobody knows the time
    assert_true(resctrl_count_take(&count, &seen, (struct resctrl_moment){0, 1e9, 0}).total == 9e12);
    seen = alone(9e12 + 11e9, 9e12);
    assert_true(resctrl_count_take(&count, &seen, (struct resctrl_moment){10, 1e9, 0}).total ==
                11e9); // a pass is not read in no time
    seen = alone(17e12, 9e12);
    struct resctrl_growth growth = resctrl_count_take(&count, &seen, (struct resctrl_moment){20, 1e9, 0});
    assert_int_equal(growth.gap, RESCTRL_GAP_IMPLAUSIBLE);
    assert_true(growth.total == 0 && growth.interval_total == 0);
    seen = alone(17e12 + 1e9, 9e12 + 1e9);
    growth = resctrl_count_take(&count, &seen, (struct resctrl_moment){30, 1e9, 0});
    assert_int_equal(growth.gap, RESCTRL_GAP_NONE);
    assert_true(growth.total == 1e9 && growth.local == 1e9);
    seen = alone(17e12 + 2e9, 9e12 + 30e9); // local bytes have a bound, too
    assert_int_equal(resctrl_count_take(&count, &seen, (struct resctrl_moment){40, 1e9, 0}).gap,
                     RESCTRL_GAP_IMPLAUSIBLE);
}

// A group that is seen for the first time may have been made since the last pass, or not have been found in it.
static void test_a_new_group_has_moved_no_more_than_the_memory_can_since_the_last_pass(void **state) {
    (void)state;
    struct resctrl_count made = {.total = 0}, missed = {.total = 0};
    struct resctrl_seen seen = alone(8e9, 0);
    struct resctrl_growth growth = resctrl_count_take(&made, &seen, (struct resctrl_moment){30, 1e9, 20});
    assert_true(growth.total == 8e9 && growth.gap == RESCTRL_GAP_NONE);
    seen = alone(8e12, 0); // its life
    growth = resctrl_count_take(&missed, &seen, (struct resctrl_moment){30, 1e9, 20});
    assert_true(growth.total == 0 && growth.interval_total == 0);
    assert_int_equal(growth.gap, RESCTRL_GAP_IMPLAUSIBLE);
    seen = alone(8e12 + 1e9, 0);
    assert_true(resctrl_count_take(&missed, &seen, (struct resctrl_moment){40, 1e9, 30}).total == 1e9);
}

// Its monitoring groups are one more than before: what that one moved is in both files.
static void test_a_monitoring_group_that_is_made_takes_no_interval_from_its_control_group(void **state) {
    (void)state;
    struct resctrl_count count = {.total = 0};
    const struct resctrl_said before = {1000, 800, true, false}, file = {1700, 1400, true, false},
                              child = {300, 200, true, false};
    struct resctrl_seen seen = resctrl_see_group(&before);
    assert_true(resctrl_count_take(&count, &seen, (struct resctrl_moment){10, INFINITY, 0}).total == 1000);
    struct resctrl_children children = {.set = 0};
    resctrl_children_add(&children, 7, &child, true);
    seen = resctrl_see_part(&file, &file, &children);
    struct resctrl_growth growth = resctrl_count_take(&count, &seen, (struct resctrl_moment){20, INFINITY, 10});
    assert_int_equal(growth.gap, RESCTRL_GAP_NONE);
    assert_true(growth.total == 400 && growth.interval_total == 400);
    children = (struct resctrl_children){.set = 0}; // and is an old one in the next pass
    resctrl_children_add(&children, 7, &child, false);
    seen = resctrl_see_part(&file, &file, &children);
    assert_int_equal(resctrl_count_take(&count, &seen, (struct resctrl_moment){30, INFINITY, 20}).gap,
                     RESCTRL_GAP_NONE);
    children = (struct resctrl_children){.set = 0}; // one that was there and could not be read is none that was made
    resctrl_children_add(&children, 7, &child, false);
    resctrl_children_add(&children, 8, &child, false);
    seen = resctrl_see_part(&file, &file, &children);
    assert_int_equal(resctrl_count_take(&count, &seen, (struct resctrl_moment){40, INFINITY, 30}).gap,
                     RESCTRL_GAP_GROUPS);
}

// A control group with one monitoring group, of which the files say these numbers.
static struct resctrl_growth take_part(struct resctrl_count *counted, double first, double child, double again,
                                       double seconds) {
    struct resctrl_children children = {.set = 0};
    const struct resctrl_said said[] = {
        {first, NAN, false, false}, {child, NAN, false, false}, {again, NAN, false, false}};
    resctrl_children_add(&children, 7, &said[1], false);
    const struct resctrl_seen seen = resctrl_see_part(&said[0], &said[2], &children);
    return resctrl_count_take(counted, &seen, (struct resctrl_moment){seconds, INFINITY, 0});
}

// It was not in the two sums, although it could be read between them: its return is not growth.
static void test_a_sum_that_lacked_one_and_has_it_again_did_not_grow(void **state) {
    (void)state;
    for (int readable = 0; readable < 2; readable++) {
        struct resctrl_count counted = {.total = 0};
        double child = readable ? 700 : NAN; // or the other way round: it is in the sums alone
        assert_true(take_part(&counted, readable ? 5700 : 5000, child, readable ? 5700 : 5000, 0).total == 5000);
        struct resctrl_growth growth = take_part(&counted, readable ? 5010 : 710, child, readable ? 5010 : 710, 10);
        assert_true(growth.gap == RESCTRL_GAP_FELL && growth.total == 0);
        growth = take_part(&counted, readable ? 5730 : 5030, child, readable ? 5730 : 5030, 20);
        assert_true(growth.gap == RESCTRL_GAP_FELL && growth.total == 0);
        growth = take_part(&counted, readable ? 5745 : 5045, child, readable ? 5745 : 5045, 30);
        assert_true(growth.gap == RESCTRL_GAP_NONE && growth.total == 15);
    }
}

static void test_a_sum_that_falls_while_it_is_read_is_no_number(void **state) {
    (void)state;
    struct resctrl_count counted = {.total = 0};
    assert_true(take_part(&counted, 1100, 100, 1100, 0).total == 1000);
    struct resctrl_growth growth = take_part(&counted, 9100, 100, 1150, 10); // another one was in the first sum
    assert_true(growth.gap == RESCTRL_GAP_UNAVAILABLE && growth.total == 0);
    growth = take_part(&counted, 1300, 100, 1300, 20);
    assert_true(growth.gap == RESCTRL_GAP_UNAVAILABLE && growth.total == 200); // of two intervals
    const struct resctrl_said half = {500, NAN, true, false};
    assert_false(resctrl_see_group(&half).number); // local bytes could not be read
}

// The monitoring group ceases to have a number, and the own part goes on: 300 bytes moved while it was read.
static void test_an_interval_that_begins_anew_begins_at_the_most(void **state) {
    (void)state;
    struct resctrl_count counted = {.total = 0};
    assert_true(take_part(&counted, 1100, 100, 1100, 0).total == 1000);
    assert_int_equal(take_part(&counted, 1200, NAN, 1500, 10).gap, RESCTRL_GAP_GROUPS);
    struct resctrl_growth growth = take_part(&counted, 1800, NAN, 1800, 20);
    assert_true(growth.total == 800 && growth.interval_total == 300);
    assert_int_equal(growth.gap, RESCTRL_GAP_NONE);
}

// Whether an own part of less than what moves while it is read can be read at all is not seen.
static void test_an_own_part_that_was_too_small_to_be_seen_resumes(void **state) {
    (void)state;
    struct resctrl_count counted = {.total = 0};
    assert_true(take_part(&counted, 1010, 1000, 1010, 0).total == 10);
    assert_int_equal(take_part(&counted, 2010, 2050, 2080, 10).gap, RESCTRL_GAP_NONE); // between -40 and 30
    struct resctrl_growth growth = take_part(&counted, 3050, 3000, 3060, 20);          // 50: 20 more than 30
    assert_true(growth.gap == RESCTRL_GAP_NONE && growth.total == 40 && growth.interval_total == 20);
    assert_int_equal(take_part(&counted, 4010, 4050, 4110, 30).gap, RESCTRL_GAP_NONE);
    growth = take_part(&counted, 15000, 5000, 15000, 40); // it may be the life of one that could not be read
    assert_true(growth.gap == RESCTRL_GAP_UNAVAILABLE && growth.total == 9950);
    assert_int_equal(take_part(&counted, 6000, 6020, 6050, 50).gap, RESCTRL_GAP_UNAVAILABLE); // 30 at most: it ceased
}

static void test_sums_never_fall_and_have_no_rate_over_a_gap(void **state) {
    (void)state;
    struct resctrl_sum sum;
    resctrl_sum_init(&sum);
    resctrl_sum_begin(&sum);
    resctrl_sum_add(&sum, &(struct resctrl_growth){100, 70, 100, 70, RESCTRL_GAP_NONE}, true);
    assert_true(sum.bytes.local == 70 && sum.bytes.remote == 30 && isnan(sum.bytes.all));
    assert_true(isnan(resctrl_sum_before(&sum).local)); // there was nothing before
    resctrl_sum_begin(&sum);
    resctrl_sum_add(&sum, &(struct resctrl_growth){10, 15, 10, 15, RESCTRL_GAP_NONE}, true); // local is read later
    assert_true(sum.bytes.local == 85 && sum.bytes.remote == 30);
    assert_true(resctrl_sum_before(&sum).local == 70 && resctrl_sum_before(&sum).remote == 30);
    resctrl_sum_begin(&sum);
    resctrl_sum_add(&sum, &(struct resctrl_growth){10, 0, 10, 0, RESCTRL_GAP_NONE}, true); // and catches up
    assert_true(sum.bytes.local == 85 && sum.bytes.remote == 35);
    resctrl_sum_begin(&sum);
    resctrl_sum_note(&sum, RESCTRL_GAP_UNASSIGNED);
    resctrl_sum_add(&sum, &(struct resctrl_growth){10, 5, 10, 5, RESCTRL_GAP_FELL}, true);
    assert_int_equal(sum.gap, RESCTRL_GAP_UNASSIGNED);
    assert_true(sum.bytes.remote == 40 && isnan(resctrl_sum_before(&sum).remote));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_while_nothing_changes_all_is_counted),
        cmocka_unit_test(test_totals_and_rates_are_never_more_than_the_truth),
        cmocka_unit_test(test_when_all_are_back_so_are_their_bytes),
        cmocka_unit_test(test_a_fall_of_either_file_is_no_data_of_both),
        cmocka_unit_test(test_more_than_the_memory_can_move_is_no_data),
        cmocka_unit_test(test_a_new_group_has_moved_no_more_than_the_memory_can_since_the_last_pass),
        cmocka_unit_test(test_a_monitoring_group_that_is_made_takes_no_interval_from_its_control_group),
        cmocka_unit_test(test_a_sum_that_lacked_one_and_has_it_again_did_not_grow),
        cmocka_unit_test(test_a_sum_that_falls_while_it_is_read_is_no_number),
        cmocka_unit_test(test_an_interval_that_begins_anew_begins_at_the_most),
        cmocka_unit_test(test_an_own_part_that_was_too_small_to_be_seen_resumes),
        cmocka_unit_test(test_sums_never_fall_and_have_no_rate_over_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
