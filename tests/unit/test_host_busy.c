// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/host_tree.h"

#include <errno.h>
#include <unistd.h>

#include "collectors/host/host_busy.h"
#include "tests/unit/core_check.h"

// How long CPUs have been busy, from a made-up /proc/stat.

#define SECOND_NS UINT64_C(1000000000)
#define NOW_NS (1000 * SECOND_NS)

enum { CPUS = 4 };

// The file's unit: USER_HZ.
static unsigned long long ticks_of(double seconds) {
    return (unsigned long long)(seconds * (double)sysconf(_SC_CLK_TCK));
}

// A line of a CPU that was idle for so long and waited for I/O for so long.
static void add_line(char *text, size_t size, unsigned cpu, double idle_seconds, double iowait_seconds) {
    size_t length = strlen(text);
    (void)snprintf(text + length, size - length, "cpu%u 11 22 33 %llu %llu 44 55 66 0 0\n", cpu, ticks_of(idle_seconds),
                   ticks_of(iowait_seconds));
}

static const char *const AROUND[] = {"cpu  1 2 3 99999999 4 5 6 7 0 0\n", "intr 123 0 0\nctxt 77\n"};

// The file with CPUs 0 to 3, idle for so many seconds; a negative number: the CPU is offline.
static void write_stat(const struct host_tree *tree, const double *idle_seconds) {
    char text[2048] = "";
    strcat(text, AROUND[0]);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        if (idle_seconds[cpu] >= 0)
            add_line(text, sizeof text, cpu, idle_seconds[cpu], 0);
    strcat(text, AROUND[1]);
    host_tree_write(tree, "stat", text);
}

struct setup {
    struct busy_clock *clock;
    struct topology *topology;
    uint64_t busy_ns[CPUS];
};

static void setup_init(struct setup *setup, const struct host_tree *tree) {
    *setup = (struct setup){.topology = build_cpus(0, CPUS, 1)};
    assert_int_equal(host_busy_new(tree->root, &setup->clock), 0);
}

static void setup_deinit(struct setup *setup) {
    setup->clock = host_busy_free(setup->clock);
    assert_null(setup->clock);
    topology_free(setup->topology);
}

static bool read_at(struct setup *setup, uint64_t now_ns) {
    uint64_t before[CPUS];
    memcpy(before, setup->busy_ns, sizeof before);
    bool known = setup->clock->read(setup->clock, setup->topology, now_ns, setup->busy_ns);
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        assert_true(before[cpu] == BUSY_CLOCK_OFFLINE || setup->busy_ns[cpu] >= before[cpu]); // whatever the file says
    return known;
}

static void expect_busy(const struct setup *setup, size_t cpu, double seconds) {
    if (setup->busy_ns[cpu] != (uint64_t)(seconds * 1e9))
        fail_msg("CPU %zu was busy for %llu ns, should be %g s", cpu, (unsigned long long)setup->busy_ns[cpu], seconds);
}

static void test_a_cpu_is_busy_when_it_is_neither_idle_nor_waits_for_io(void **state) {
    struct setup setup;
    char text[512] = "";
    strcat(text, AROUND[0]);
    add_line(text, sizeof text, 0, 1000, 0);
    add_line(text, sizeof text, 1, 600, 150);
    add_line(text, sizeof text, 2, 0, 0);
    add_line(text, sizeof text, 3, 999.99, 0);
    strcat(text, AROUND[1]);
    host_tree_write(*state, "stat", text);
    setup_init(&setup, *state);
    assert_true(read_at(&setup, NOW_NS));
    expect_busy(&setup, 0, 0);
    expect_busy(&setup, 1, 250);
    expect_busy(&setup, 2, 1000);
    expect_busy(&setup, 3, 0.01);
    setup_deinit(&setup);
}

static void test_the_file_is_read_anew_each_time(void **state) {
    struct setup setup;
    write_stat(*state, (const double[]){100, 200, 300, 400});
    setup_init(&setup, *state);
    assert_true(read_at(&setup, NOW_NS));
    write_stat(*state, (const double[]){101, 200, 300.5, 400});
    assert_true(read_at(&setup, NOW_NS + SECOND_NS));
    expect_busy(&setup, 0, 900);
    expect_busy(&setup, 1, 801);
    expect_busy(&setup, 2, 700.5);
    expect_busy(&setup, 3, 601);
    setup_deinit(&setup);
}

static void test_an_offline_cpu_is_known_to_be_away(void **state) {
    struct setup setup;
    write_stat(*state, (const double[]){100, 200, 300, 400});
    setup_init(&setup, *state);
    assert_true(read_at(&setup, NOW_NS));
    static const double offline[][CPUS] = {
        {-1, 200, 300, 400}, {100, -1, -1, 400}, {100, 200, 300, -1}, {100, -1, -1, -1}};
    for (size_t i = 0; i < N_OF(offline); i++) {
        write_stat(*state, offline[i]);
        assert_true(read_at(&setup, NOW_NS + (i + 1) * SECOND_NS));
        for (size_t cpu = 0; cpu < CPUS; cpu++)
            if (offline[i][cpu] < 0)
                assert_true(setup.busy_ns[cpu] == BUSY_CLOCK_OFFLINE);
            else // also if it is back
                expect_busy(&setup, cpu, (double)(NOW_NS / SECOND_NS + i + 1) - offline[i][cpu]);
    }
    setup_deinit(&setup);
}

// CPUs that are not measured have lines too.
static void test_lines_of_other_cpus_are_passed_over(void **state) {
    struct setup setup;
    char text[512] = "";
    strcat(text, AROUND[0]);
    for (unsigned cpu = 0; cpu < 8; cpu++)
        add_line(text, sizeof text, cpu, 100 + cpu, 0);
    strcat(text, AROUND[1]);
    host_tree_write(*state, "stat", text);
    setup_init(&setup, *state);
    topology_free(setup.topology);
    const struct topology_source cpus[] = {{.id = 2, .core = 0, .selected = true},
                                           {.id = 3, .core = 1, .selected = true},
                                           {.id = 6, .core = 2, .selected = true}};
    setup.topology = build_topology(cpus, N_OF(cpus));
    assert_true(read_at(&setup, NOW_NS));
    expect_busy(&setup, 0, 898);
    expect_busy(&setup, 1, 897);
    expect_busy(&setup, 2, 894);
    setup_deinit(&setup);
}

static void test_a_single_cpu_is_known_by_its_line_only(void **state) {
    struct setup setup;
    write_stat(*state, (const double[]){100, 200, 300, 400});
    setup_init(&setup, *state);
    topology_free(setup.topology);
    setup.topology = build_cpus(0, 1, 1);
    assert_true(read_at(&setup, NOW_NS));
    expect_busy(&setup, 0, 900);
    write_stat(*state, (const double[]){-1, -1, -1, -1});
    assert_false(read_at(&setup, NOW_NS + SECOND_NS));
    setup_deinit(&setup);
}

// The kernel adds up idle time in two ways; a reader may see it fall. Steps of the file's unit do not add up either.
static void test_it_never_runs_backwards_and_errors_do_not_add_up(void **state) {
    uint64_t random = seed_begin();
    struct setup setup;
    double idle = 100;
    write_stat(*state, (const double[]){100, 100, 100, 100});
    setup_init(&setup, *state);
    for (int i = 0; i < 300; i++) {
        double wobble = idle + (random_unit(&random) - 0.5) * 0.1;
        write_stat(*state, (const double[]){wobble, idle, idle, idle});
        assert_true(read_at(&setup, NOW_NS + (uint64_t)((idle - 100) * 1e9))); // it sleeps: idle grows with time
        assert_in_range(setup.busy_ns[0], 900 * SECOND_NS - SECOND_NS / 20, 900 * SECOND_NS + SECOND_NS * 6 / 100);
        assert_in_range(setup.busy_ns[1], 900 * SECOND_NS, 900 * SECOND_NS + SECOND_NS / 100 + 1000);
        idle += random_unit(&random) * 0.3;
    }
    setup_deinit(&setup);
}

static void test_what_is_not_as_expected_is_not_known(void **state) {
    static const char *const texts[] = {"",
                                        "\n",
                                        "cpu  1 2 3 4 5\n",
                                        "cpu  1 2 3 4 5\nintr 3\n",
                                        "cpu  1 2 3 4 5\ncpu0\n",
                                        "cpu  1 2 3 4 5\ncpu0 1 2 3 4\n",
                                        "cpu  1 2 3 4 5\ncpu0 1 2 3\ncpu1 1 2 3 4 5\n",
                                        "cpu  1 2 3 4 5\ncpu0 1 2 x 4 5 6\ncpu1 1 2 3 4 5\n",
                                        "cpu  1 2 3 4 5\ncpu0 1 2 3 4 5\ncpu1 1 2",
                                        "cpu  1 2 3 4 5\ncpu0 1 2 3 4 5\ncpu1 1 2 3 123"};
    struct setup setup;
    write_stat(*state, (const double[]){100, 200, 300, 400});
    setup_init(&setup, *state);
    assert_true(read_at(&setup, NOW_NS));
    for (size_t i = 0; i < N_OF(texts); i++) {
        host_tree_write(*state, "stat", texts[i]);
        if (read_at(&setup, NOW_NS + SECOND_NS))
            fail_msg("known: %s", texts[i]);
    }
    write_stat(*state, (const double[]){100, 200, 300, 400});
    assert_true(read_at(&setup, NOW_NS + 2 * SECOND_NS)); // and known again
    expect_busy(&setup, 3, 602);
    setup_deinit(&setup);
}

// The file cut at every byte, as far as a line is whole: no CPU gets a time from half a number.
static void test_cut_at_every_byte_it_invents_nothing(void **state) {
    struct setup setup;
    char text[1024] = "";
    strcat(text, AROUND[0]);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        add_line(text, sizeof text, cpu, 700, 123);
    setup_init(&setup, (host_tree_write(*state, "stat", text), *state));
    for (size_t length = strlen(text); length-- > 0;) {
        text[length] = '\0';
        host_tree_write(*state, "stat", text);
        memset(setup.busy_ns, 0, sizeof setup.busy_ns);
        (void)read_at(&setup, NOW_NS);
        for (size_t cpu = 0; cpu < CPUS; cpu++)
            if (setup.busy_ns[cpu] != 0)
                expect_busy(&setup, cpu, 177);
    }
    setup_deinit(&setup);
}

static void test_huge_numbers_and_many_cpus(void **state) {
    enum { MANY = 4096 };
    struct setup setup;
    char *text = calloc(MANY + 1, 256);
    uint64_t *busy_ns = calloc(MANY, sizeof *busy_ns);
    assert_true(text && busy_ns);
    char *at = text + sprintf(text, "%s", AROUND[0]);
    for (unsigned cpu = 0; cpu < MANY; cpu++) // lines of a host that has been up for a hundred years
        at += sprintf(at, "cpu%u 315360000000 315360000000 315360000000 %llu 0 315360000000 315360000000 0 0 0\n", cpu,
                      ticks_of(cpu % 1000));
    host_tree_write(*state, "stat", text);
    setup_init(&setup, *state);
    topology_free(setup.topology);
    struct topology_source *cpus = calloc(MANY, sizeof *cpus);
    assert_non_null(cpus);
    for (unsigned cpu = 0; cpu < MANY; cpu++)
        cpus[cpu] = (struct topology_source){.id = cpu, .core = (int)cpu, .selected = true};
    setup.topology = build_topology(cpus, MANY);
    assert_true(setup.clock->read(setup.clock, setup.topology, NOW_NS, busy_ns));
    for (unsigned cpu = 0; cpu < MANY; cpu++)
        assert_true(busy_ns[cpu] == NOW_NS - cpu % 1000 * SECOND_NS);
    host_tree_write(*state, "stat",
                    "cpu  1 2 3 4 5\ncpu0 1 1 1 18446744073709551615 18446744073709551615\ncpu1 1 1 1 0 0\n");
    assert_true(setup.clock->read(setup.clock, setup.topology, NOW_NS + SECOND_NS, busy_ns));
    assert_true(busy_ns[0] == NOW_NS && busy_ns[1] == NOW_NS + SECOND_NS);
    free(cpus);
    free(busy_ns);
    free(text);
    setup_deinit(&setup);
}

// The columns guest and guest_nice are the ninth and tenth (proc(5)), in ticks of 10 ms.
static void write_guests(const struct host_tree *tree, const unsigned *guest, const unsigned *guest_nice) {
    char text[2048] = "";
    strcat(text, AROUND[0]);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        if (guest[cpu] > 0)
            (void)sprintf(text + strlen(text), "cpu%u 900 0 30 1000 5 1 2 3 %u %u\n", cpu, guest[cpu], guest_nice[cpu]);
    strcat(text, AROUND[1]);
    host_tree_write(tree, "stat", text);
}

static void test_guests_are_told_since_the_last_time(void **state) {
    struct setup setup;
    uint64_t guest_ns[CPUS] = {7, 7, 7, 7};
    write_guests(*state, (const unsigned[]){100, 200, 300, 400}, (const unsigned[CPUS]){0});
    setup_init(&setup, *state);
    assert_false(
        setup.clock->take_guests(setup.clock, setup.topology, guest_ns)); // of what was before nothing is known
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        assert_true(guest_ns[cpu] == 0);
    write_guests(*state, (const unsigned[]){101, 200, 350, 399}, (const unsigned[]){2, 0, 0, 0});
    assert_true(setup.clock->take_guests(setup.clock, setup.topology, guest_ns));
    assert_true(guest_ns[0] == 30000000 && guest_ns[1] == 0 && guest_ns[2] == 500000000);
    assert_true(guest_ns[3] == 0); // a count that fell is none
    write_guests(*state, (const unsigned[]){101, 200, 350, 401}, (const unsigned[]){2, 0, 0, 0});
    assert_true(setup.clock->take_guests(setup.clock, setup.topology, guest_ns));
    assert_true(guest_ns[0] == 0 && guest_ns[1] == 0 && guest_ns[2] == 0 && guest_ns[3] == 10000000);
    setup_deinit(&setup);
}

static void test_a_cpu_that_was_away_has_its_guests_since_it_was_seen(void **state) {
    struct setup setup;
    uint64_t guest_ns[CPUS];
    write_guests(*state, (const unsigned[]){100, 200, 300, 400}, (const unsigned[CPUS]){0});
    setup_init(&setup, *state);
    assert_false(setup.clock->take_guests(setup.clock, setup.topology, guest_ns));
    write_guests(*state, (const unsigned[]){100, 0, 310, 400}, (const unsigned[CPUS]){0}); // CPU 1 is offline
    assert_true(setup.clock->take_guests(setup.clock, setup.topology, guest_ns));
    assert_true(guest_ns[1] == 0 && guest_ns[2] == 100000000);
    write_guests(*state, (const unsigned[]){100, 230, 310, 400}, (const unsigned[CPUS]){0});
    assert_true(setup.clock->take_guests(setup.clock, setup.topology, guest_ns));
    assert_true(guest_ns[1] == 300000000 && guest_ns[2] == 0);
    setup_deinit(&setup);
}

static void test_a_kernel_without_these_columns_tells_nothing_of_guests(void **state) {
    struct setup setup;
    uint64_t guest_ns[CPUS];
    write_stat(*state, (const double[]){100, 200, 300, 400});
    setup_init(&setup, *state);
    host_tree_write(*state, "stat", "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 7 8\n");
    assert_false(setup.clock->take_guests(setup.clock, setup.topology, guest_ns));
    setup_deinit(&setup);
}

static void test_without_the_file_there_is_no_clock(void **state) {
    const struct host_tree *tree = *state;
    struct busy_clock *clock;
    assert_int_equal(host_busy_new(tree->root, &clock), -ENOENT);
    assert_null(host_busy_free(NULL));
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_a_cpu_is_busy_when_it_is_neither_idle_nor_waits_for_io),
        ON_A_TREE(test_the_file_is_read_anew_each_time),
        ON_A_TREE(test_an_offline_cpu_is_known_to_be_away),
        ON_A_TREE(test_lines_of_other_cpus_are_passed_over),
        ON_A_TREE(test_a_single_cpu_is_known_by_its_line_only),
        ON_A_TREE(test_it_never_runs_backwards_and_errors_do_not_add_up),
        ON_A_TREE(test_what_is_not_as_expected_is_not_known),
        ON_A_TREE(test_cut_at_every_byte_it_invents_nothing),
        ON_A_TREE(test_huge_numbers_and_many_cpus),
        ON_A_TREE(test_guests_are_told_since_the_last_time),
        ON_A_TREE(test_a_cpu_that_was_away_has_its_guests_since_it_was_seen),
        ON_A_TREE(test_a_kernel_without_these_columns_tells_nothing_of_guests),
        ON_A_TREE(test_without_the_file_there_is_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
