// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/resctrl_tree.h"

#include <errno.h>
#include <fcntl.h>

#include "collectors/memory/resctrl.h"

// resctrl's groups one by one, on a made-up kernel whose files are what mon_event_count makes of them
// (fs/resctrl/monitor.c): those of a control group are the sum of all its groups that can be read, its own among them.

enum { GROUPS = 6, DOMAINS = 2 };

// Root, a control group, and two monitoring groups in each.
static const struct {
    const char *name;
    unsigned control;
} KINDS[GROUPS] = {{"", 0},    {"mon_groups/a", 0},     {"mon_groups/b", 0},
                   {"web", 3}, {"web/mon_groups/a", 3}, {"web/mon_groups/b", 3}};
enum { ROOT, ROOT_A, ROOT_B, WEB, WEB_A, WEB_B };

struct rmid {
    unsigned long total[DOMAINS], local[DOMAINS];
    bool exists, unreadable, unassigned;
};

struct kernel {
    struct rmid rmids[GROUPS];
    double gone; // bytes of groups that are gone
    uint64_t random;
};

// A file that exists is written over: to empty it first would have the file system write it out at once.
static void write_over(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, text, strlen(text), 0), strlen(text));
    assert_int_equal(ftruncate(file, (off_t)strlen(text)), 0);
    (void)close(file);
}

static void write_file(const struct host_tree *tree, unsigned i, unsigned domain, const char *file,
                       const unsigned long *bytes, const char *word) {
    char text[64], path[512];
    (void)snprintf(text, sizeof text, "%lu\n", bytes ? *bytes : 0);
    (void)snprintf(path, sizeof path, "%s/resctrl/%s%smon_data/mon_L3_%02u/%s", tree->root, KINDS[i].name,
                   KINDS[i].name[0] != '\0' ? "/" : "", domain, file);
    if (access(path, F_OK) == 0)
        write_over(path, bytes ? text : word);
    else
        host_tree_write(tree, path + strlen(tree->root) + 1, bytes ? text : word);
}

static bool readable(const struct rmid *rmid) { return rmid->exists && !rmid->unreadable && !rmid->unassigned; }

static void write_files(const struct host_tree *tree, const struct kernel *kernel) {
    for (unsigned i = 0; i < GROUPS; i++)
        for (unsigned domain = 0; domain < DOMAINS && kernel->rmids[i].exists; domain++) {
            unsigned long total = 0, local = 0;
            unsigned n = 0;
            for (unsigned k = 0; k < GROUPS; k++)
                if ((k == i || (KINDS[i].control == i && KINDS[k].control == i)) && readable(&kernel->rmids[k])) {
                    total += kernel->rmids[k].total[domain];
                    local += kernel->rmids[k].local[domain];
                    n++;
                }
            const char *word = kernel->rmids[i].unassigned ? "Unassigned\n" : "Unavailable\n";
            write_file(tree, i, domain, "mbm_total_bytes", n > 0 ? &total : NULL, word);
            write_file(tree, i, domain, "mbm_local_bytes", n > 0 ? &local : NULL, word);
        }
}

// Moves a group that goes out of the way first, so that no other one gets its inode.
static void remove_group(const struct host_tree *tree, struct kernel *kernel, unsigned i) {
    static unsigned n;
    char from[400], to[400];
    for (unsigned domain = 0; domain < DOMAINS; domain++)
        kernel->gone += (double)kernel->rmids[i].total[domain];
    kernel->rmids[i] = (struct rmid){.exists = false};
    (void)snprintf(from, sizeof from, "%s/resctrl/%s", tree->root, KINDS[i].name);
    (void)snprintf(to, sizeof to, "%s/gone%u", tree->root, n++);
    assert_true(rename(from, to) == 0 || errno == ENOENT); // it may have been made since the last reading
}

static void make_group(struct kernel *kernel, unsigned i) { kernel->rmids[i] = (struct rmid){.exists = true}; }

static void count(struct kernel *kernel, unsigned i, unsigned long total, unsigned long local) {
    kernel->rmids[i].total[0] += total;
    kernel->rmids[i].local[0] += local;
}

static struct kernel begin(const struct host_tree *tree, uint64_t seed) {
    struct kernel kernel = {.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    for (unsigned i = 0; i < GROUPS; i++)
        make_group(&kernel, i);
    return kernel;
}

static struct host_memory *read_files(const struct host_tree *tree, const struct kernel *kernel,
                                      struct memory_reader *reader, unsigned seconds) {
    write_files(tree, kernel);
    return memory_read_at(reader, seconds);
}

static double all_of(const struct host_memory_bytes *bytes) {
    return (isnan(bytes->local) ? 0 : bytes->local + bytes->remote) + (isnan(bytes->all) ? 0 : bytes->all);
}

static double shown(const struct host_memory *memory) {
    double sum = 0;
    for (size_t i = 0; i < memory->n_domains; i++)
        sum += all_of(&memory->domains[i].bytes);
    return sum;
}

static const struct host_memory_part *part_of(const struct host_memory *memory, const char *name, unsigned domain) {
    for (size_t i = 0; i < memory->n_parts; i++)
        if (strcmp(memory->groups[memory->parts[i].group].name, name) == 0 &&
            memory->domains[memory->parts[i].domain].id == domain)
            return &memory->parts[i];
    fail_msg("there is no group %s", name);
    return NULL;
}

// As a user saw it: 808 GB/s for a truth of 5, and 8 TB more in the counter.
static void test_the_life_of_a_group_that_comes_back_is_counted_once(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    count(&kernel, ROOT, 1000000000, 1000000000);
    count(&kernel, ROOT_A, 8000000000000, 8000000000000);
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    double before = 8001e9;
    for (unsigned i = 1; i <= 6; i++) {
        kernel.rmids[ROOT_A].unreadable = i == 2 || i == 3;
        count(&kernel, ROOT, 40000000000, 40000000000);
        count(&kernel, ROOT_A, 10000000000, 10000000000);
        struct host_memory *memory = read_files(tree, &kernel, reader, 100 + 10 * i);
        double total = shown(memory), rate = resctrl_rate(memory, 0);
        static const double rates[] = {5e9, NAN, 4e9, NAN, 5e9, 5e9};
        if (isnan(rate) != isnan(rates[i - 1]) || (!isnan(rate) && rate != rates[i - 1]))
            fail_msg("step %u has a rate of %g", i, rate);
        assert_true(total >= before && total <= 8001e9 + i * 50e9);
        assert_true(i < 5 || total == 8001e9 + i * 50e9);
        before = total;
        const struct host_memory_part *own = part_of(memory, "", 0);
        assert_int_equal(own->gap, i == 2 || i == 4 ? RESCTRL_GAP_GROUPS : RESCTRL_GAP_NONE);
        assert_int_equal(part_of(memory, "mon_groups/a", 0)->readable, i != 2 && i != 3);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

// What the removed group moved since the last reading is lost, and nobody can know it: the interval has no rate. What
// its control group moved is known at the next reading.
static void test_a_group_that_is_removed_hides_nothing_in_silence(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    count(&kernel, ROOT, 1000, 500);
    count(&kernel, ROOT_A, 9000, 9000);
    count(&kernel, WEB_A, 100, 100);
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    count(&kernel, ROOT, 100, 50);
    count(&kernel, WEB_A, 7, 7);
    remove_group(tree, &kernel, ROOT_A);
    struct host_memory *memory = read_files(tree, &kernel, reader, 110);
    assert_int_equal(memory->domains[0].gap + memory->domains[1].gap, 2 * RESCTRL_GAP_GROUPS); // both had its files
    assert_string_equal(resctrl_gap_name(memory->domains[0].gap), "groups_changed");
    assert_true(isnan(resctrl_rate(memory, 0)));
    assert_true(shown(memory) == 10107); // web's group goes on
    host_memory_unref(memory);
    count(&kernel, ROOT, 200, 100);
    memory = read_files(tree, &kernel, reader, 120);
    assert_int_equal(memory->domains[0].gap, RESCTRL_GAP_NONE);
    assert_true(resctrl_rate(memory, 0) == 20); // of this interval alone
    assert_true(shown(memory) == 10407);        // and the total has the other one's 100
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_each_group_has_its_own_bytes_by_name(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    for (unsigned i = 0; i < GROUPS; i++)
        count(&kernel, i, 1000 * (i + 1), 100 * (i + 1));
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    for (unsigned i = 0; i < GROUPS; i++)
        count(&kernel, i, 10 * (i + 1), i + 1);
    struct host_memory *memory = read_files(tree, &kernel, reader, 110);
    assert_int_equal(memory->n_groups, GROUPS);
    for (unsigned i = 0; i < GROUPS; i++) {
        const struct host_memory_part *part = part_of(memory, KINDS[i].name, 0);
        assert_int_equal(memory->groups[part->group].monitoring, KINDS[i].control != i);
        assert_true(part->bytes.local == 101 * (i + 1) && part->bytes.remote == 909 * (i + 1));
        assert_true(part->before.local == 100 * (i + 1) && part->before.remote == 900 * (i + 1));
    }
    assert_true(shown(memory) == 1010 * 21);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// Made anew under its name between two readings: it has another hardware identifier, and began at 0.
static void test_a_group_that_is_made_anew_goes_on_under_its_name(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    count(&kernel, WEB, 1000, 1000);
    count(&kernel, WEB_A, 500, 500);
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    remove_group(tree, &kernel, WEB_A);
    make_group(&kernel, WEB_A);
    count(&kernel, WEB_A, 600, 600); // more than the old one had
    struct host_memory *memory = read_files(tree, &kernel, reader, 110);
    assert_true(shown(memory) == 2100 && isnan(resctrl_rate(memory, 0)));
    assert_true(part_of(memory, "web/mon_groups/a", 0)->bytes.local == 1100);
    host_memory_unref(memory);
    count(&kernel, WEB_A, 50, 50);
    count(&kernel, WEB, 20, 20);
    memory = read_files(tree, &kernel, reader, 120);
    assert_true(shown(memory) == 2170 && resctrl_rate(memory, 0) == 7);
    assert_true(part_of(memory, "web/mon_groups/a", 0)->bytes.local == 1150);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// The kernel lets a monitoring group move to another control group, with its hardware identifier.
static void test_a_monitoring_group_may_move_to_another_control_group(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    char from[400], to[400];
    make_group(&kernel, WEB_A);
    count(&kernel, ROOT_A, 8000000, 8000000);
    count(&kernel, ROOT, 1000, 1000);
    count(&kernel, WEB, 2000, 2000);
    kernel.rmids[WEB_A].exists = false;
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    (void)snprintf(from, sizeof from, "%s/resctrl/mon_groups/a", tree->root);
    (void)snprintf(to, sizeof to, "%s/resctrl/web/mon_groups/a", tree->root);
    assert_int_equal(rename(from, to), 0);
    kernel.rmids[WEB_A] = kernel.rmids[ROOT_A];
    kernel.rmids[ROOT_A].exists = false;
    count(&kernel, WEB_A, 5, 5);
    struct host_memory *memory = read_files(tree, &kernel, reader, 110);
    assert_true(shown(memory) == 8003005 && isnan(resctrl_rate(memory, 0)));
    host_memory_unref(memory);
    count(&kernel, WEB_A, 100, 100);
    memory = read_files(tree, &kernel, reader, 120);
    assert_true(shown(memory) == 8003105 && resctrl_rate(memory, 0) == 10);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// AMD's assignable counters: the file of a group without one is the sum of its monitoring groups.
static void test_a_sum_without_the_groups_own_counter_is_not_taken_for_it(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    kernel.rmids[WEB].unassigned = kernel.rmids[WEB_B].unassigned = true;
    memory_write(tree, "mbm_total_bytes:0=_;1=e\nmbm_local_bytes:0=_;1=_\n", "resctrl/web/mbm_L3_assignments");
    memory_write(tree, "mbm_total_bytes:0=e;1=e\nmbm_local_bytes:0=e;1=e\n", "resctrl/mbm_L3_assignments");
    for (unsigned i = 0; i < GROUPS; i++)
        count(&kernel, i, 1000, 700);
    struct host_memory *memory = read_files(tree, &kernel, reader, 100);
    assert_true(shown(memory) == 4000);
    assert_true(!part_of(memory, "web", 0)->readable && isnan(part_of(memory, "web", 0)->bytes.local));
    assert_true(part_of(memory, "", 0)->readable && part_of(memory, "web/mon_groups/a", 0)->bytes.local == 700);
    host_memory_unref(memory);
    for (unsigned i = 0; i < GROUPS; i++)
        count(&kernel, i, 100, 70);
    memory = read_files(tree, &kernel, reader, 110);
    assert_true(shown(memory) == 4400 && resctrl_rate(memory, 0) == 40); // nothing changed
    host_memory_unref(memory);
    kernel.rmids[WEB] = (struct rmid){.exists = true, .total = {30}, .local = {20}}; // it begins at 0
    memory_write(tree, "mbm_total_bytes:0=e;1=e\nmbm_local_bytes:0=e;1=e\n", "resctrl/web/mbm_L3_assignments");
    memory = read_files(tree, &kernel, reader, 120);
    assert_true(shown(memory) == 4400 && isnan(resctrl_rate(memory, 0)));
    host_memory_unref(memory);
    count(&kernel, WEB, 40, 30);
    memory = read_files(tree, &kernel, reader, 130);
    assert_true(shown(memory) == 4440 && resctrl_rate(memory, 0) == 4);
    host_memory_unref(memory);
    count(&kernel, WEB, 40, 30); // of one event alone
    memory_write(tree, "mbm_total_bytes:0=e;1=e\nmbm_local_bytes:0=_;1=e\n", "resctrl/web/mbm_L3_assignments");
    memory = read_files(tree, &kernel, reader, 140);
    assert_int_equal(part_of(memory, "web", 0)->gap, RESCTRL_GAP_UNASSIGNED);
    assert_true(shown(memory) == 4440);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_count_beyond_the_memorys_peak_is_no_data(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    const struct memory_reader_choice choice = {.resctrl = true, .memory_bytes_per_second = 1e9};
    static const unsigned long came[] = {0, 20000000000, 20000000000, 30000000000, 10};
    double wanted[] = {1e6, 1e6 + 20e9, 1e6 + 40e9, 1e6 + 40e9, 1e6 + 40e9 + 10};
    count(&kernel, WEB_B, 1000000, 1000000);
    for (unsigned i = 0; i < sizeof came / sizeof *came; i++) {
        unsigned interrupts;
        count(&kernel, WEB_B, came[i], came[i]);
        write_files(tree, &kernel);
        struct host_memory *memory = memory_reader_read(
            reader, choice, (struct memory_reader_time){(100 + 10 * i) * UINT64_C(1000000000), 1.7e9}, &interrupts);
        assert_true(shown(memory) == wanted[i]); // twice the peak is believed
        assert_int_equal((int)memory->implausible, i >= 3);
        assert_int_equal(memory->domains[0].id == 0 ? memory->domains[0].gap : memory->domains[1].gap,
                         i == 3 ? RESCTRL_GAP_IMPLAUSIBLE : RESCTRL_GAP_NONE);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

// A group that is seen for the first time was made since the last pass, or could not be found in that. Which of them it
// is shows only the time between the two.
static void test_what_a_new_group_brings_was_moved_since_the_last_pass(void **state) {
    const struct host_tree *tree = *state;
    for (int possible = 0; possible < 2; possible++) {
        struct kernel kernel = begin(tree, 1);
        struct memory_reader *reader = memory_reader_new(&tree->roots);
        const struct memory_reader_choice choice = {.resctrl = true, .memory_bytes_per_second = 1e9};
        const unsigned long brought = possible ? 20000000000 : 30000000000; // in 10 s, at twice the peak
        unsigned interrupts;
        remove_group(tree, &kernel, WEB_B);
        write_files(tree, &kernel);
        host_memory_unref(memory_reader_read(reader, choice,
                                             (struct memory_reader_time){UINT64_C(1000000000000), 1.7e9}, &interrupts));
        make_group(&kernel, WEB_B);
        count(&kernel, WEB_B, brought, brought);
        write_files(tree, &kernel);
        struct host_memory *memory = memory_reader_read(
            reader, choice, (struct memory_reader_time){UINT64_C(1010000000000), 1.7e9}, &interrupts);
        assert_true(shown(memory) == (possible ? (double)brought : 0));
        assert_int_equal((int)memory->implausible, !possible);
        host_memory_unref(memory);
        memory_reader_free(reader);
    }
}

// Intel's sub-NUMA clusters: the domain's files are the sum of those parts that can be read.
static void test_parts_of_a_domain_are_read_one_by_one(void **state) {
    const struct host_tree *tree = *state;
    static const struct {
        const char *one, *other, *sum;
        double total, rate;
    } steps[] = {{"8000000\n", "100\n", "8000100\n", 8000100, NAN},
                 {"8000010\n", "110\n", "8000120\n", 8000120, 2},
                 {"Unavailable\n", "120\n", "120\n", 8000130, NAN},
                 {"8000030\n", "130\n", "8000160\n", 8000160, NAN},
                 {"8000040\n", "140\n", "8000180\n", 8000180, 2}};
    begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        resctrl_write(tree, "", 0, steps[i].sum, steps[i].sum);
        for (unsigned k = 0; k < 4; k++)
            memory_write(tree, k < 2 ? steps[i].one : steps[i].other, "resctrl/mon_data/mon_L3_00/mon_sub_L3_%02u/%s",
                         k / 2, k % 2 ? "mbm_total_bytes" : "mbm_local_bytes");
        struct host_memory *memory = memory_read_at(reader, 100 + 10 * i);
        assert_int_equal(memory->n_domains, 1);
        assert_int_equal(memory->n_parts, 1);
        double rate = resctrl_rate(memory, 0);
        if (i == 0) // files of a part are written one by one above
            assert_true(shown(memory) == 8000100);
        if (isnan(rate) != isnan(steps[i].rate) || (!isnan(rate) && rate != steps[i].rate) ||
            shown(memory) != steps[i].total)
            fail_msg("step %u: %.0f bytes, %g a second", i, shown(memory), rate);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

// Linux 7.0 shows Intel's telemetry beside the caches: energy in joules, as a decimal number, and counts of work.
static void test_telemetry_of_packages_is_no_domain(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    count(&kernel, ROOT, 1000, 700);
    for (unsigned i = 0; i < GROUPS; i++)
        for (unsigned package = 0; package < 2; package++) {
            const char *group = KINDS[i].name, *slash = group[0] != '\0' ? "/" : "";
            memory_write(tree, "0.02203\n", "resctrl/%s%smon_data/mon_PERF_PKG_%02u/core_energy", group, slash,
                         package);
            memory_write(tree, "77\n", "resctrl/%s%smon_data/mon_PERF_PKG_%02u/uops_retired", group, slash, package);
            memory_write(tree, "5\n", "resctrl/%s%smon_data/mon_PERF_PKG_%02u/mbm_total_bytes", group, slash, package);
        }
    struct host_memory *memory = read_files(tree, &kernel, reader, 100);
    assert_int_equal(memory->n_domains, 2);
    assert_true(shown(memory) == 1000);
    assert_string_equal(memory->problem, "");
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// Arm's MPAM counts with assigned counters only, and nobody can choose what they count: event_filter is read-only, and
// may be empty. There are no local bytes.
static void test_a_filter_that_nobody_can_write_was_chosen_by_nobody(void **state) {
    const struct host_tree *tree = *state;
    static const char filter[] = "resctrl/info/L3_MON/event_configs/mbm_total_bytes/event_filter";
    char path[400];
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "1000\n", NULL);
    memory_write(tree, "\n", "%s", filter);
    (void)snprintf(path, sizeof path, "%s/%s", tree->root, filter);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    for (int writable = 1; writable >= 0; writable--) {
        assert_int_equal(chmod(path, writable ? 0644 : 0444), 0);
        struct host_memory *memory = memory_read_at(reader, 100 + 10 * (unsigned)(1 - writable));
        assert_int_equal(memory->resctrl, writable ? RESCTRL_OTHER_EVENTS : RESCTRL_COUNTING);
        assert_true(writable || memory->sockets[0].bytes.all == 1000);
        host_memory_unref(memory);
    }
    memory_reader_free(reader);
}

// Each group in each place takes a file at least: where there are too many, control groups are read alone.
static void test_too_many_monitoring_groups_are_read_as_part_of_their_control_group(void **state) {
    const struct host_tree *tree = *state;
    char name[64];
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "8000\n", "8000\n");
    resctrl_write(tree, "web/", 0, "100\n", "100\n");
    for (unsigned i = 0; i < RESCTRL_GROUPS_MAX; i++) {
        (void)snprintf(name, sizeof name, "mon_groups/g%u/", i);
        resctrl_write(tree, name, 0, "10\n", "10\n");
    }
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    struct host_memory *memory = memory_read_at(reader, 100);
    assert_true(shown(memory) == 8100);
    assert_int_equal(memory->n_groups, 0); // of none is known what is its own
    host_memory_unref(memory);
    resctrl_write(tree, "", 0, "8100\n", "8100\n");
    memory = memory_read_at(reader, 110);
    assert_true(shown(memory) == 8200 && resctrl_rate(memory, 0) == 10);
    host_memory_unref(memory);
    static const char *const flickers[] = {"8095\n", "8110\n"}; // one of 10 bytes has no number, and has it again
    for (unsigned i = 0; i < 2; i++) {
        resctrl_write(tree, "", 0, flickers[i], flickers[i]);
        memory = memory_read_at(reader, 111);
        assert_true(shown(memory) == 8200 && memory->domains[0].gap == RESCTRL_GAP_FELL);
        host_memory_unref(memory);
    }
    resctrl_write(tree, "mon_groups/moved/", 0, "9000000\n", "9000000\n"); // from another control group
    resctrl_write(tree, "", 0, "9008100\n", "9008100\n");
    memory = memory_read_at(reader, 112);
    assert_true(shown(memory) == 8200 && isnan(resctrl_rate(memory, 0)));
    host_memory_unref(memory);
    resctrl_write(tree, "", 0, "9008120\n", "9008120\n");
    memory = memory_read_at(reader, 114);
    assert_true(shown(memory) == 8220 && resctrl_rate(memory, 0) == 10);
    host_memory_unref(memory);
    resctrl_remove(tree, "resctrl/mon_groups/moved");
    for (unsigned i = 7; i < 40; i++) { // their bytes leave the sum
        (void)snprintf(name, sizeof name, "resctrl/mon_groups/g%u", i);
        resctrl_remove(tree, name);
    }
    resctrl_write(tree, "", 0, "7770\n", "7770\n");
    memory = memory_read_at(reader, 118);
    assert_true(shown(memory) == 8220 && isnan(resctrl_rate(memory, 0)));
    assert_int_equal(memory->n_groups, 0); // few enough, but the next one that is made may be too many
    host_memory_unref(memory);
    resctrl_remove(tree, "resctrl/mon_groups/g40");
    resctrl_write(tree, "", 0, "7760\n", "7760\n");
    memory = memory_read_at(reader, 120);
    assert_true(shown(memory) == 8220 && isnan(resctrl_rate(memory, 0)));
    assert_int_equal(memory->n_groups, RESCTRL_GROUPS_MAX - RESCTRL_GROUPS_MAX / 8);
    host_memory_unref(memory);
    resctrl_write(tree, "", 0, "7790\n", "7790\n");
    resctrl_write(tree, "mon_groups/g0/", 0, "20\n", "20\n");
    memory = memory_read_at(reader, 130);
    assert_true(shown(memory) == 8250 && resctrl_rate(memory, 0) == 3);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_too_many_files_are_not_read(void **state) {
    const struct host_tree *tree = *state;
    enum { PLACES = 35, CHILDREN = 13 }; // 14 groups, the root twice: 15 * 35 * 2 files
    unsigned interrupts;
    char name[64] = "";
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    for (unsigned i = 0; i <= CHILDREN; i++) {
        if (i > 0)
            (void)snprintf(name, sizeof name, "mon_groups/g%u/", i);
        for (unsigned domain = 0; domain < PLACES; domain++)
            memory_write(tree, "7\n", "resctrl/%smon_data/mon_L3_%02u/mbm_total_bytes", name, domain);
    }
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    const struct memory_reader_choice choice = {.resctrl = true};
    host_memory_unref(memory_reader_read(reader, choice, (struct memory_reader_time){1, 1}, &interrupts));
    assert_int_equal(interrupts, PLACES);
    memory_reader_free(reader);
}

// A control group's files are read before and after those of its monitoring groups, and else once.
static void test_files_are_read_again_only_where_there_are_monitoring_groups(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    const struct memory_reader_choice choice = {.resctrl = true};
    unsigned interrupts;
    kernel.rmids[WEB_A].exists = kernel.rmids[WEB_B].exists = false;
    write_files(tree, &kernel);
    host_memory_unref(memory_reader_read(reader, choice, (struct memory_reader_time){1, 1}, &interrupts));
    assert_int_equal(interrupts, (2 + 2 + 1) * DOMAINS * 2);
    memory_reader_free(reader);
}

static void test_a_reading_without_resctrl_in_between_leaves_no_interval(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    unsigned interrupts;
    count(&kernel, ROOT, 1000, 1000);
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    host_memory_unref(memory_reader_read(reader, (struct memory_reader_choice){.nodes = true},
                                         (struct memory_reader_time){UINT64_C(110000000000), 1.7e9}, &interrupts));
    count(&kernel, ROOT, 1000, 1000);
    struct host_memory *memory = read_files(tree, &kernel, reader, 120);
    assert_true(shown(memory) == 2000 && isnan(resctrl_rate(memory, 0)) && isnan(part_of(memory, "", 0)->before.local));
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static void test_a_group_that_never_had_a_number_leaves_no_gap(void **state) {
    const struct host_tree *tree = *state;
    struct kernel kernel = begin(tree, 1);
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    kernel.rmids[ROOT_B].unreadable = true;
    count(&kernel, ROOT, 1000, 1000);
    host_memory_unref(read_files(tree, &kernel, reader, 100));
    remove_group(tree, &kernel, ROOT_B);
    count(&kernel, ROOT, 100, 100);
    struct host_memory *memory = read_files(tree, &kernel, reader, 110);
    assert_true(resctrl_rate(memory, 0) == 10);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

// Another group gets the name of one that has another one now.
static void test_a_new_name_takes_the_bytes_along(void **state) {
    const struct host_tree *tree = *state;
    struct memory_reader *reader = memory_reader_new(&tree->roots);
    char from[400], to[400];
    resctrl_add_caches(tree, 1);
    resctrl_mount(tree);
    resctrl_write(tree, "", 0, "0\n", "0\n");
    resctrl_write(tree, "web/", 0, "1000\n", "1000\n");
    host_memory_unref(memory_read_at(reader, 100));
    (void)snprintf(from, sizeof from, "%s/resctrl/web", tree->root);
    (void)snprintf(to, sizeof to, "%s/resctrl/shop", tree->root);
    assert_int_equal(rename(from, to), 0);
    resctrl_write(tree, "web/", 0, "30\n", "30\n");
    struct host_memory *memory = memory_read_at(reader, 110);
    assert_true(part_of(memory, "shop", 0)->bytes.local == 1000 && part_of(memory, "web", 0)->bytes.local == 30);
    host_memory_unref(memory);
    memory_reader_free(reader);
}

static unsigned random_below(struct kernel *kernel, unsigned limit) {
    kernel->random ^= kernel->random << 13;
    kernel->random ^= kernel->random >> 7;
    kernel->random ^= kernel->random << 17;
    return (unsigned)((kernel->random >> 33) % limit);
}

static void change_one(const struct host_tree *tree, struct kernel *kernel) {
    unsigned i = random_below(kernel, GROUPS);
    struct rmid *rmid = &kernel->rmids[i];
    if (!rmid->exists)
        make_group(kernel, i);
    else if (KINDS[i].control != i && random_below(kernel, 3) == 0)
        remove_group(tree, kernel, i);
    else
        rmid->unreadable = !rmid->unreadable;
}

static double truth_of(const struct kernel *kernel) {
    double truth = kernel->gone;
    for (unsigned i = 0; i < GROUPS; i++)
        for (unsigned domain = 0; domain < DOMAINS; domain++)
            truth += (double)kernel->rmids[i].total[domain];
    return truth;
}

// Groups that come, go, cease to have numbers and have them again: totals never fall and are at most the truth, which
// they are while nothing changes; and so is each rate.
static void test_totals_are_at_most_the_truth_whatever_comes_and_goes(void **state) {
    const struct host_tree *tree = *state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct kernel kernel = begin(tree, seed);
        struct memory_reader *reader = memory_reader_new(&tree->roots);
        double before = 0, truth_before = 0;
        bool quiet = seed % 4 == 0;
        unsigned gaps = 0;
        for (unsigned step = 0; step < 20; step++) {
            for (unsigned n = quiet ? 0 : random_below(&kernel, 3); n > 0; n--)
                change_one(tree, &kernel);
            for (unsigned i = 0; i < GROUPS; i++)
                for (unsigned domain = 0; domain < DOMAINS && kernel.rmids[i].exists; domain++) {
                    unsigned long bytes = random_below(&kernel, 1000000000);
                    kernel.rmids[i].total[domain] += bytes;
                    kernel.rmids[i].local[domain] += bytes / (2 + i);
                }
            struct host_memory *memory = read_files(tree, &kernel, reader, 100 + 10 * step);
            double total = shown(memory), truth = truth_of(&kernel);
            double rate = memory_metric_value(memory, MEMORY_METRIC_RESCTRL, MEMORY_HOST, 0);
            if (total > truth || total < before || (quiet && total != truth))
                fail_msg("seed %d, step %u: %.0f bytes after %.0f, the truth is %.0f", (int)seed, step, total, before,
                         truth);
            if (!isnan(rate) &&
                (10 * rate > truth - truth_before + 0.1 || (quiet && 10 * rate < truth - truth_before - 0.1)))
                fail_msg("seed %d, step %u: %.0f bytes in 10 s, the truth is %.0f", (int)seed, step, 10 * rate,
                         truth - truth_before);
            gaps += isnan(rate) ? 1 : 0;
            before = total;
            truth_before = truth;
            host_memory_unref(memory);
        }
        assert_int_equal(quiet ? 1 : 0, gaps == 1); // the first reading has no interval
        memory_reader_free(reader);
        resctrl_remove(tree, "resctrl");
    }
}

#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, host_tree_setup, host_tree_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_the_life_of_a_group_that_comes_back_is_counted_once),
        ON_A_TREE(test_a_group_that_is_removed_hides_nothing_in_silence),
        ON_A_TREE(test_each_group_has_its_own_bytes_by_name),
        ON_A_TREE(test_a_group_that_is_made_anew_goes_on_under_its_name),
        ON_A_TREE(test_a_monitoring_group_may_move_to_another_control_group),
        ON_A_TREE(test_a_sum_without_the_groups_own_counter_is_not_taken_for_it),
        ON_A_TREE(test_a_count_beyond_the_memorys_peak_is_no_data),
        ON_A_TREE(test_what_a_new_group_brings_was_moved_since_the_last_pass),
        ON_A_TREE(test_parts_of_a_domain_are_read_one_by_one),
        ON_A_TREE(test_telemetry_of_packages_is_no_domain),
        ON_A_TREE(test_a_filter_that_nobody_can_write_was_chosen_by_nobody),
        ON_A_TREE(test_too_many_monitoring_groups_are_read_as_part_of_their_control_group),
        ON_A_TREE(test_too_many_files_are_not_read),
        ON_A_TREE(test_files_are_read_again_only_where_there_are_monitoring_groups),
        ON_A_TREE(test_a_reading_without_resctrl_in_between_leaves_no_interval),
        ON_A_TREE(test_a_group_that_never_had_a_number_leaves_no_gap),
        ON_A_TREE(test_a_new_name_takes_the_bytes_along),
        ON_A_TREE(test_totals_are_at_most_the_truth_whatever_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
