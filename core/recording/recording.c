// SPDX-License-Identifier: Apache-2.0
#include "core/recording/recording.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/recording/recording_bytes.h"
#include "core/recording/recording_resident.h"
#include "core/tally/plausible.h"
#include "core/uncore/uncore_most.h"

// The header, rounds and pauses; recording_plan.c handles the plan.
//
// A window's counts are not totals, so they are small and stored as they are. Times and CPUs differ little from window
// to window and are stored as differences: in most windows two bytes say that nothing was lost.

static const char MAGIC[] = "topdownd recording";

enum { WINDOW_BYTES_LEAST = 5, FIRST_TYPE_VERSION = 6 };
enum { RECORDING_BUSY = 1 << 20 }; // more than CPUSET_MAX

static struct bytes_cursor cursor_of(const struct recording_record *record) {
    return (struct bytes_cursor){.at = record->bytes, .end = record->bytes + record->n};
}

// ---- the header ----

static void put_catalog(struct recording_buffer *out, const struct recording_catalog *catalog) {
    bytes_put_text(out, catalog->spec);
    bytes_put_varint(out, catalog->hash);
    bytes_put_text(out, catalog->vendor_path);
    bytes_put_varint(out, catalog->vendor_format);
    bytes_put_text(out, catalog->vendor_cpuid);
    bytes_put_text(out, catalog->vendor_pmu);
    bytes_put_varint(out, LITERAL_N);
    for (size_t i = 0; i < LITERAL_N; i++)
        bytes_put_double(out, catalog->literals[i]);
    bytes_put_text(out, catalog->cpuid);
    bytes_put_varint(out, catalog->answers.n);
    for (size_t i = 0; i < catalog->answers.n; i++) {
        bytes_put_text(out, catalog->answers.items[i].name);
        bytes_put_varint(out, catalog->answers.items[i].there);
    }
    bytes_put_varint(out, catalog->topdown_dropped);
}

int recording_put_header(struct recording_buffer *out, const struct recording_header *header) {
    size_t begin = bytes_begin(out, RECORDING_HEADER);
    bytes_put_text(out, MAGIC);
    bytes_put_varint(out, RECORDING_VERSION);
    bytes_put_text(out, header->version);
    bytes_put_varint(out, header->id);
    bytes_put_varint(out, header->part);
    bytes_put_varint(out, header->seed);
    bytes_put_varint(out, header->simulated);
    bytes_put_varint(out, header->guests_excluded);
    bytes_put_text(out, header->hostname);
    bytes_put_text(out, header->pmu);
    bytes_put_text(out, header->profile);
    bytes_put_text(out, header->vendor);
    bytes_put_text(out, header->model);
    bytes_put_text(out, header->microarchitecture);
    bytes_put_text(out, header->core_type);
    bytes_put_double(out, header->timestamp_seconds);
    put_catalog(out, &header->catalog);
    bytes_put_text(out, header->first_type);
    return bytes_end(out, begin);
}

bool recording_is(const uint8_t *bytes, size_t n) {
    enum { BEFORE = 6 }; // kind, length, and the length of the text
    size_t length = sizeof MAGIC - 1;
    return n >= BEFORE + length && bytes[0] == RECORDING_HEADER && bytes[BEFORE - 1] == length &&
           memcmp(bytes + BEFORE, MAGIC, length) == 0;
}

static void get_answers(struct bytes_cursor *in, struct environment_answers *answers) {
    size_t n = bytes_get_count(in, 2);
    char name[RECORDING_TEXT_MAX + 1];
    if (n > ENVIRONMENT_ANSWERS_MAX)
        in->bad = true;
    for (; answers->n < n && !in->bad; answers->n++) {
        struct environment_answer *answer = &answers->items[answers->n];
        bytes_get_text(in, name);
        if (strlen(name) > ENVIRONMENT_NAME_MAX)
            in->bad = true;
        else
            memcpy(answer->name, name, strlen(name) + 1);
        answer->there = bytes_get_varint(in, 1) != 0;
    }
}

static void get_catalog(struct bytes_cursor *in, struct recording_catalog *catalog) {
    bytes_get_text(in, catalog->spec);
    catalog->hash = bytes_get_varint(in, UINT64_MAX);
    bytes_get_text(in, catalog->vendor_path);
    catalog->vendor_format = (unsigned)bytes_get_varint(in, UINT8_MAX);
    bytes_get_text(in, catalog->vendor_cpuid);
    bytes_get_text(in, catalog->vendor_pmu);
    size_t n = bytes_get_count(in, sizeof(double));
    for (size_t i = 0; i < LITERAL_N; i++)
        catalog->literals[i] = i < n ? bytes_get_double(in) : NAN;
    for (size_t i = LITERAL_N; i < n; i++)
        (void)bytes_get_double(in); // written by a later version
    bytes_get_text(in, catalog->cpuid);
    get_answers(in, &catalog->answers);
    catalog->topdown_dropped = bytes_get_varint(in, 1) != 0;
}

void recording_environment(const struct recording_header *header, struct environment *out) {
    const struct recording_catalog *catalog = &header->catalog;
    environment_init(out);
    memcpy(out->facts.literals, catalog->literals, sizeof out->facts.literals);
    (void)snprintf(out->facts.cpuid, sizeof out->facts.cpuid, "%.*s", (int)sizeof out->facts.cpuid - 1, catalog->cpuid);
    if (catalog->answers.n > 0) {
        out->has_event = environment_answer;
        out->context = &catalog->answers;
    }
}

int recording_get_header(const struct recording_record *record, struct recording_header *out) {
    struct bytes_cursor in = cursor_of(record);
    struct recording_header header = {.format = 0};
    char magic[RECORDING_TEXT_MAX + 1];
    bytes_get_text(&in, magic);
    uint64_t version = bytes_get_varint(&in, UINT64_MAX);
    if (in.bad || strcmp(magic, MAGIC) != 0)
        return -EBADMSG;
    if (version < 1 || version > RECORDING_VERSION)
        return -EPROTONOSUPPORT;
    header.format = (unsigned)version;
    bytes_get_text(&in, header.version);
    header.id = bytes_get_varint(&in, UINT64_MAX);
    header.part = (unsigned)bytes_get_varint(&in, UINT_MAX);
    header.seed = bytes_get_varint(&in, UINT64_MAX);
    header.simulated = bytes_get_varint(&in, 1) != 0;
    header.guests_excluded = bytes_get_varint(&in, 1) != 0;
    bytes_get_text(&in, header.hostname);
    bytes_get_text(&in, header.pmu);
    bytes_get_text(&in, header.profile);
    bytes_get_text(&in, header.vendor);
    bytes_get_text(&in, header.model);
    bytes_get_text(&in, header.microarchitecture);
    bytes_get_text(&in, header.core_type);
    header.timestamp_seconds = bytes_get_double(&in);
    get_catalog(&in, &header.catalog);
    if (version >= FIRST_TYPE_VERSION)
        bytes_get_text(&in, header.first_type);
    if (!bytes_done(&in))
        return -EBADMSG;
    *out = header;
    return 0;
}

// ---- a round ----

static bool has_counts(enum window_result result) { return result == WINDOW_COMPLETE || result == WINDOW_CONTENDED; }

static void put_window(struct recording_buffer *out, const struct window *window, const struct window *before,
                       size_t n_counts) {
    bytes_put_signed(out, (int64_t)window->cpu - (int64_t)before->cpu);
    bytes_put_varint(out, window->group);
    bytes_put_varint(out, (uint64_t)window->result);
    bytes_put_signed(out, (int64_t)(window->enabled_ns - before->enabled_ns));
    bytes_put_signed(out, (int64_t)(window->enabled_ns - window->running_ns));
    if (window->result == WINDOW_FAILED)
        bytes_put_varint(out, (uint64_t)-window->error);
    for (size_t i = 0; has_counts(window->result) && i < n_counts; i++)
        bytes_put_varint(out, window->counts[i]);
}

// Which cores' rounds they are.
static void put_cores(struct recording_buffer *out, const struct readings *readings) {
    unsigned before = 0;
    bytes_put_varint(out, readings->round_over);
    bytes_put_varint(out, readings->n_cores);
    for (size_t i = 0; i < readings->n_cores; i++) {
        const struct core_round *round = &readings->cores[i];
        bytes_put_signed(out, (int64_t)round->core - (int64_t)before);
        bytes_put_varint(out, readings->end_ns - round->end_ns);
        bytes_put_varint(out, round->end_ns - round->start_ns);
        bytes_put_varint(out, round->held);
        if (round->held)
            bytes_put_double(out, round->idle_share);
        before = round->core;
    }
    bytes_put_varint(out, readings->n_counted);
    bytes_put_varint(out, readings->n_missed);
}

// Guests are rare: the last CPU that had one ends the list.
static void put_guests(struct recording_buffer *out, const struct readings *readings) {
    size_t n = readings->n_guests;
    if (!readings->guests_known)
        return;
    while (n > 0 && readings->guest_ns[n - 1] == 0)
        n--;
    bytes_put_varint(out, n);
    for (size_t cpu = 0; cpu < n; cpu++)
        bytes_put_varint(out, readings->guest_ns[cpu]);
}

// Behind a number that is no number of CPUs, so that guests may be missing before it.
static void put_busy(struct recording_buffer *out, const struct readings *readings) {
    if (!readings->busy_known)
        return;
    bytes_put_varint(out, RECORDING_BUSY);
    for (size_t cpu = 0; cpu < readings->n_busy; cpu++)
        bytes_put_varint(out, readings->busy_ns[cpu] / READINGS_BUSY_STEP_NS);
}

// Remembers the window from which the next one's differences are taken.
static void move_on(struct window *before, const struct window *window) {
    before->cpu = window->cpu;
    if (window->result != WINDOW_FAILED)
        before->enabled_ns = window->enabled_ns;
}

int recording_put_round(struct recording_buffer *out, const struct readings *readings, const struct plan *plan,
                        double timestamp_seconds) {
    size_t begin = bytes_begin(out, readings->by_core ? RECORDING_CORES : RECORDING_ROUND);
    bytes_put_varint(out, readings->round);
    bytes_put_varint(out, readings->start_ns);
    bytes_put_varint(out, readings->end_ns - readings->start_ns);
    bytes_put_double(out, timestamp_seconds);
    bytes_put_varint(out, readings->n_windows);
    struct window before = {.cpu = 0};
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        put_window(out, window, &before, plan->groups[window->group].n_events);
        move_on(&before, window);
    }
    if (readings->by_core) {
        put_cores(out, readings);
        put_guests(out, readings);
        put_busy(out, readings);
    }
    return bytes_end(out, begin);
}

// False for impossible times, which would divide by zero later.
static bool window_plausible(const struct window *window) {
    switch (window->result) {
    case WINDOW_COMPLETE:
    case WINDOW_CONTENDED:
        return window->enabled_ns > 0 && window->running_ns > 0;
    case WINDOW_STARVED:
        return window->running_ns == 0;
    default:
        return true;
    }
}

static void get_window(struct bytes_cursor *in, struct readings *readings, const struct plan *plan,
                       const struct topology *topology, struct window *before) {
    uint64_t cpu = before->cpu + (uint64_t)bytes_get_signed(in);
    unsigned group = (unsigned)bytes_get_varint(in, plan->n_groups - 1);
    enum window_result result = (enum window_result)bytes_get_varint(in, WINDOW_RESULT_N - 1);
    if (in->bad || cpu >= topology->n_cpus) {
        in->bad = true;
        return;
    }
    size_t n = has_counts(result) ? plan->groups[group].n_events : 0;
    if (n > (size_t)(in->end - in->at)) {
        in->bad = true;
        return;
    }
    struct window *window = readings_add(readings, (unsigned)cpu, group, n);
    window->result = result;
    window->enabled_ns = before->enabled_ns + (uint64_t)bytes_get_signed(in);
    window->running_ns = window->enabled_ns - (uint64_t)bytes_get_signed(in);
    if (result == WINDOW_FAILED)
        window->error = -(int)bytes_get_varint(in, INT_MAX);
    for (size_t i = 0; i < n; i++)
        window->counts[i] = bytes_get_varint(in, UINT64_MAX);
    move_on(before, window);
    in->bad = in->bad || !window_plausible(window);
}

static void get_core(struct bytes_cursor *in, const struct topology *topology, uint64_t end_ns,
                     struct core_round *round) {
    uint64_t core = round->core + (uint64_t)bytes_get_signed(in);
    round->end_ns = end_ns - bytes_get_varint(in, end_ns);
    round->start_ns = round->end_ns - bytes_get_varint(in, round->end_ns);
    round->held = bytes_get_varint(in, 1) != 0;
    round->idle_share = round->held ? bytes_get_double(in) : 0;
    round->core = (unsigned)core;
    in->bad = in->bad || core >= topology->n_cores || !(round->idle_share >= 0 && round->idle_share < 1);
}

static bool has_core(const struct readings *readings, unsigned core) {
    size_t low = 0, high = readings->n_cores;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (readings->cores[middle].core < core)
            low = middle + 1;
        else
            high = middle;
    }
    return low < readings->n_cores && readings->cores[low].core == core;
}

// What has ended since the readings before. Before version 4, all windows that rotate were of rounds that have ended
// with these readings.
static void get_ended(struct bytes_cursor *in, struct readings *readings, const struct plan *plan) {
    if (in->at < in->end) {
        readings->n_counted = (size_t)bytes_get_varint(in, SIZE_MAX);
        readings->n_missed = (size_t)bytes_get_varint(in, SIZE_MAX);
        return;
    }
    for (size_t i = 0; i < readings->n_windows; i++)
        if (!plan_group_stands(plan, readings->windows[i].group))
            readings_note_window(readings, &readings->windows[i]);
}

static int get_guests(struct bytes_cursor *in, struct readings *readings, size_t n, size_t n_cpus) {
    uint64_t *guest_ns = readings_guests(readings, n_cpus);
    if (!guest_ns)
        return -ENOMEM;
    for (size_t cpu = 0; cpu < n && !in->bad; cpu++)
        guest_ns[cpu] = bytes_get_varint(in, UINT64_MAX);
    readings->guests_known = !in->bad;
    return 0;
}

static int get_busy(struct bytes_cursor *in, struct readings *readings, size_t n_cpus) {
    uint64_t *busy_ns = readings_busy(readings, n_cpus);
    if (!busy_ns)
        return -ENOMEM;
    for (size_t cpu = 0; cpu < n_cpus && !in->bad; cpu++)
        busy_ns[cpu] = bytes_get_varint(in, UINT64_MAX / READINGS_BUSY_STEP_NS) * READINGS_BUSY_STEP_NS;
    readings->busy_known = !in->bad;
    return 0;
}

// Since version 7, where guests are excluded, their times; then those of CPUs, where the kernel tells them.
static int get_times(struct bytes_cursor *in, struct readings *readings, size_t n_cpus) {
    bool guests = false, busy = false;
    int r = 0;
    while (!in->bad && in->at < in->end && r == 0) {
        uint64_t n = bytes_get_varint(in, RECORDING_BUSY);
        in->bad = in->bad || busy || (n != RECORDING_BUSY && (guests || n > n_cpus));
        busy = n == RECORDING_BUSY;
        guests = true;
        if (!in->bad)
            r = busy ? get_busy(in, readings, n_cpus) : get_guests(in, readings, (size_t)n, n_cpus);
    }
    return r;
}

static void get_cores(struct bytes_cursor *in, struct readings *readings, const struct plan *plan,
                      const struct topology *topology) {
    bool round_over = bytes_get_varint(in, 1) != 0;
    uint64_t n = bytes_get_varint(in, topology->n_cores);
    struct core_round round = {.core = 0};
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        get_core(in, topology, readings->end_ns, &round);
        in->bad = in->bad || (i > 0 && round.core <= readings->cores[i - 1].core);
        if (!in->bad)
            readings_add_core(readings, &round);
    }
    readings->by_core = true;
    readings->round_over = round_over;
    for (size_t i = 0; i < readings->n_windows && !in->bad; i++)
        in->bad = !has_core(readings, topology->cpus[readings->windows[i].cpu].core) &&
                  !plan_group_stands(plan, readings->windows[i].group);
    if (!in->bad)
        get_ended(in, readings, plan);
}

// A group has been enabled for no longer than the host runs. Peaks are not asked for again: whoever recorded the window
// knew them.
static void judge_window(struct window *window, const struct plan *plan, const struct topology *topology,
                         uint64_t end_ns) {
    const struct plan_group *group = &plan->groups[window->group];
    const struct topology_socket *socket = &topology->sockets[topology->cpus[window->cpu].socket];
    double most[PLAN_GROUP_EVENTS_MAX];
    bool chosen = plan->catalog->product.chosen;
    for (size_t e = 0; e < group->n_events && chosen; e++)
        most[e] = uncore_most(plan->catalog, group->events[e], socket);
    plausible_judge(window, plan, chosen ? most : NULL, end_ns, NULL);
}

int recording_get_round(const struct recording_record *record, const struct plan *plan, const struct topology *topology,
                        bool added_up, double *timestamp_seconds, struct readings **out) {
    struct bytes_cursor in = cursor_of(record);
    bool by_core = record->kind == RECORDING_CORES;
    uint64_t round = bytes_get_varint(&in, UINT64_MAX), start_ns = bytes_get_varint(&in, UINT64_MAX);
    uint64_t length_ns = bytes_get_varint(&in, UINT64_MAX - start_ns);
    double seconds = bytes_get_double(&in);
    size_t n = bytes_get_count(&in, WINDOW_BYTES_LEAST);
    if (in.bad || (n > 0 && plan->n_groups == 0))
        return -EBADMSG;
    struct readings *readings =
        readings_new_sized(by_core ? topology->n_cores : 0, n, record->n); // a count takes at least a byte
    if (!readings)
        return -ENOMEM;
    readings_begin(readings, round, start_ns);
    readings->end_ns = start_ns + length_ns;
    readings->scaled = added_up;
    struct window before = {.cpu = 0};
    for (size_t i = 0; i < n && !in.bad; i++) {
        get_window(&in, readings, plan, topology, &before);
        if (!in.bad && !added_up)
            judge_window(&readings->windows[i], plan, topology, readings->end_ns);
    }
    if (by_core && !in.bad)
        get_cores(&in, readings, plan, topology);
    int r = by_core ? get_times(&in, readings, topology->n_cpus) : 0;
    if (r == 0 && !bytes_done(&in))
        r = -EBADMSG;
    if (r == 0 && recording_resident_pairs(plan))
        r = recording_resident_round(readings, plan, topology->n_cpus);
    if (r < 0) {
        readings_free(readings);
        return r;
    }
    *timestamp_seconds = seconds;
    *out = readings;
    return 0;
}

// ---- a pause ----

int recording_put_pause(struct recording_buffer *out, const struct recording_pause *pause) {
    size_t begin = bytes_begin(out, RECORDING_PAUSE);
    bytes_put_varint(out, pause->until_ns);
    bytes_put_varint(out, (uint64_t)pause->reason);
    bytes_put_double(out, pause->timestamp_seconds);
    return bytes_end(out, begin);
}

int recording_get_pause(const struct recording_record *record, struct recording_pause *out) {
    struct bytes_cursor in = cursor_of(record);
    struct recording_pause pause = {.until_ns = bytes_get_varint(&in, UINT64_MAX)};
    pause.reason = (enum uncovered)bytes_get_varint(&in, UNCOVERED_N - 1);
    pause.timestamp_seconds = bytes_get_double(&in);
    if (!bytes_done(&in))
        return -EBADMSG;
    *out = pause;
    return 0;
}
