// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/pmu_joined.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

enum { PIECE_EVENTS_MAX = 64 };

static const double NS = 1e-9;

// Events that are one group on one box.
struct piece {
    int handle;               // of the boxes' PMU
    size_t n;                 // its events
    size_t *events;           // which of the event group's they are; owned
    uint64_t *counts, *fresh; // when counts were last taken, and now
    struct pmu_times times, fresh_times;
};

// An event of the cores.
struct told {
    size_t event; // of the event group
    struct pmu_event code;
    struct pmu_joined_total total; // when it was last taken
    bool known;                    // it was
    double waits, seconds;         // what of it waits, and the time of that
};

// An event group of a package.
struct joint {
    bool used, enabled;
    bool doubtful; // counts fell: see core/tally/plausible.h
    int package;
    struct piece *pieces;
    size_t n_pieces;
    struct told *told;
    size_t n_told;
    double *waits;    // counts of boxes; owned
    double seconds;   // the time of these
    uint64_t *counts; // that went on, so far; owned
    double *rest;     // of each less than one; owned
    size_t n_events;
    uint64_t since_ns; // of the last read
    struct pmu_times times;
};

struct pmu_joined {
    struct pmu pmu; // first
    struct uncore_boxes packages;
    struct part {
        int package, of; // pmu_joined_part_of
    } * parts;
    size_t n_parts;
    size_t n_pmus;
    struct pmu *boxes; // of all parts, in their order
    struct pmu_joined_cores cores;
    struct joint *joints;
    size_t n_joints;
    uint64_t now_ns;
};

static struct pmu_joined *of(struct pmu *pmu) { return (struct pmu_joined *)pmu; }

int pmu_joined_part_of(const char *box, char *const *pmus, size_t n_pmus) {
    size_t length = strlen(box), digits = 0;
    while (digits < length && isdigit((unsigned char)box[length - 1 - digits]))
        digits++;
    size_t base = digits > 0 && digits + 1 < length && box[length - 1 - digits] == '_' ? length - digits - 1 : length;
    for (size_t i = 0; i < n_pmus; i++)
        if (strcmp(pmus[i], box) == 0 || (strlen(pmus[i]) == base && strncmp(pmus[i], box, base) == 0))
            return (int)i;
    return -1;
}

static void joined_advance(struct pmu *pmu, uint64_t now_ns) {
    struct pmu *boxes = of(pmu)->boxes;
    of(pmu)->now_ns = now_ns;
    boxes->ops->advance(boxes, now_ns);
}

// ---- opening ----

// What a call costs beyond the one that the caller counts.
static void count_calls(struct pmu_joined *j, size_t n, size_t counted) {
    j->pmu.more_calls += n > counted ? n - counted : 0;
}

static void close_joint(struct pmu_joined *j, struct joint *joint) {
    for (size_t i = 0; i < joint->n_pieces; i++) {
        if (joint->pieces[i].handle >= 0)
            j->boxes->ops->close(j->boxes, joint->pieces[i].handle);
        free(joint->pieces[i].events);
        free(joint->pieces[i].counts);
    }
    free(joint->pieces);
    free(joint->told);
    free(joint->waits);
    free(joint->counts);
    free(joint->rest);
    *joint = (struct joint){.used = false};
    j->pmu.n_events = j->boxes->n_events;
}

// Adds a piece of these events of the group, not opened yet.
static struct piece *add_piece(struct joint *joint, const size_t *events, size_t n) {
    struct piece *grown = array_grow(joint->pieces, joint->n_pieces, sizeof *grown);
    if (!grown)
        return NULL;
    joint->pieces = grown;
    struct piece *piece = &grown[joint->n_pieces];
    *piece = (struct piece){.handle = -EBADF, .n = n, .events = malloc(n * sizeof *events), .counts = calloc(2 * n, 8)};
    joint->n_pieces++;
    if (!piece->events || !piece->counts)
        return NULL;
    memcpy(piece->events, events, n * sizeof *events);
    piece->fresh = piece->counts + n;
    return piece;
}

static int open_piece(struct pmu_joined *j, struct joint *joint, size_t part, const struct pmu_event *all,
                      const size_t *events, size_t n) {
    struct pmu_event own[PIECE_EVENTS_MAX];
    struct piece *piece = add_piece(joint, events, n);
    if (!piece)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        own[i] = all[events[i]];
    piece->handle = j->boxes->ops->open(j->boxes, (unsigned)part, own, n);
    int r = piece->handle < 0 ? piece->handle : 0;
    if (r < 0) {
        free(piece->events);
        free(piece->counts);
        joint->n_pieces--;
    }
    return r;
}

// Opens what an event group has on one box.
static int open_part(struct pmu_joined *j, struct joint *joint, size_t part, const struct pmu_event *events, size_t n) {
    size_t own[PIECE_EVENTS_MAX], n_own = 0;
    for (size_t i = 0; i < n; i++)
        if ((int)events[i].pmu == j->parts[part].of)
            own[n_own++] = i;
    if (n_own == 0)
        return 0;
    int r = open_piece(j, joint, part, events, own, n_own);
    for (size_t i = 0; r == -EINVAL && n_own > 1 && i < n_own; i++) {
        int one = open_piece(j, joint, part, events, &own[i], 1);
        r = one < 0 || i + 1 == n_own ? one : r;
    }
    return r;
}

static bool has_box(const struct pmu_joined *j, unsigned pmu) {
    for (size_t i = 0; i < j->n_parts; i++)
        if (j->parts[i].of == (int)pmu)
            return true;
    return false;
}

static int open_all(struct pmu_joined *j, struct joint *joint, const struct pmu_event *events, size_t n) {
    int r = 0;
    for (size_t e = 0; e < n; e++) {
        if (events[e].pmu >= j->n_pmus)
            return -ENOENT;
        if (!has_box(j, events[e].pmu))
            joint->told[joint->n_told++] = (struct told){.event = e, .code = events[e]};
    }
    for (size_t i = 0; i < j->n_parts && r == 0; i++)
        if (j->parts[i].package == joint->package)
            r = open_part(j, joint, i, events, n);
    return r;
}

static int free_place(struct pmu_joined *j) {
    size_t i = 0;
    while (i < j->n_joints && j->joints[i].used)
        i++;
    if (i < j->n_joints)
        return (int)i;
    struct joint *grown = array_grow(j->joints, j->n_joints, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    j->joints = grown;
    j->joints[j->n_joints++] = (struct joint){.used = false};
    return (int)i;
}

static int joined_open(struct pmu *pmu, unsigned box, const struct pmu_event *events, size_t n) {
    struct pmu_joined *j = of(pmu);
    int place = box < j->packages.n && n > 0 && n <= PIECE_EVENTS_MAX ? free_place(j) : -EINVAL;
    if (place < 0)
        return place;
    struct joint *joint = &j->joints[place];
    *joint = (struct joint){.used = true,
                            .package = j->packages.boxes[box].place.package,
                            .told = calloc(n, sizeof *joint->told),
                            .waits = calloc(n, sizeof *joint->waits),
                            .counts = calloc(n, sizeof *joint->counts),
                            .rest = calloc(n, sizeof *joint->rest),
                            .n_events = n};
    bool made = joint->told && joint->waits && joint->counts && joint->rest;
    int r = made ? open_all(j, joint, events, n) : -ENOMEM;
    count_calls(j, joint->n_pieces > 0 ? j->boxes->n_events - j->pmu.n_events : 0, n);
    if (r < 0)
        close_joint(j, joint);
    j->pmu.n_events = j->boxes->n_events;
    return r < 0 ? r : place;
}

static int joined_enable(struct pmu *pmu, int handle, bool enabled) {
    struct pmu_joined *j = of(pmu);
    struct joint *joint = &j->joints[handle];
    int r = 0;
    if (joint->enabled) { // what passed since the last read
        joint->times.enabled_ns += j->now_ns - joint->since_ns;
        joint->times.running_ns += j->now_ns - joint->since_ns;
        joint->seconds += (double)(j->now_ns - joint->since_ns) * NS;
    }
    joint->since_ns = j->now_ns;
    joint->enabled = enabled;
    for (size_t i = 0; i < joint->n_pieces; i++) {
        int one = j->boxes->ops->enable(j->boxes, joint->pieces[i].handle, enabled);
        r = one < 0 ? one : r;
    }
    count_calls(j, joint->n_pieces, 1);
    return r;
}

// ---- reading ----

// Reads everything. Returns 0, 1 if a box was never on its counters since it was last read, or a negative errno.
static int read_pieces(const struct pmu_joined *j, struct joint *joint) {
    int starved = 0;
    for (size_t i = 0; i < joint->n_pieces; i++) {
        struct piece *piece = &joint->pieces[i];
        int r = j->boxes->ops->read(j->boxes, piece->handle, &piece->fresh_times, piece->fresh, piece->n);
        if (r < 0)
            return r;
        bool stands = pmu_stands_still(&piece->times, &piece->fresh_times);
        if (stands && piece->n == 1) // see pmu.h
            return -ENODEV;
        starved |= !stands && piece->fresh_times.running_ns == piece->times.running_ns;
    }
    return starved;
}

// Takes what the boxes have counted, each scaled by its own times. Returns the mean share of their time for which they
// were on counters.
static double take_pieces(struct joint *joint) {
    double enabled = 0, running = 0;
    for (size_t i = 0; i < joint->n_pieces; i++) {
        struct piece *piece = &joint->pieces[i];
        double own_enabled = (double)(piece->fresh_times.enabled_ns - piece->times.enabled_ns),
               own_running = (double)(piece->fresh_times.running_ns - piece->times.running_ns);
        for (size_t e = 0; e < piece->n && own_running > 0; e++)
            joint->waits[piece->events[e]] += (double)(piece->fresh[e] - piece->counts[e]) *
                                              (own_enabled > own_running ? own_enabled / own_running : 1);
        memcpy(piece->counts, piece->fresh, piece->n * sizeof *piece->counts);
        piece->times = piece->fresh_times;
        enabled += own_enabled;
        running += own_running;
    }
    return enabled > running ? running / enabled : 1;
}

// True if counts or times of a box are less than before. Their difference would look like a small one where it is added
// to those of the other boxes.
static bool pieces_fell(const struct joint *joint) {
    bool fell = false;
    for (size_t i = 0; i < joint->n_pieces; i++) {
        const struct piece *piece = &joint->pieces[i];
        fell = fell || piece->fresh_times.enabled_ns < piece->times.enabled_ns ||
               piece->fresh_times.running_ns < piece->times.running_ns;
        for (size_t e = 0; e < piece->n; e++)
            fell = fell || piece->fresh[e] < piece->counts[e];
    }
    return fell;
}

// Forgets what waits, of boxes and of the cores: what comes next is counted from now on.
static void forget(struct joint *joint) {
    for (size_t e = 0; e < joint->n_events; e++)
        joint->waits[e] = 0;
    for (size_t i = 0; i < joint->n_told; i++)
        joint->told[i].waits = joint->told[i].seconds = 0;
    joint->seconds = 0;
}

// Leaves out what the boxes counted for so long.
static void leave_out(struct joint *joint, double seconds) {
    double part = seconds < joint->seconds ? seconds / joint->seconds : 1;
    for (size_t e = 0; e < joint->n_events; e++)
        joint->waits[e] -= part * joint->waits[e];
    joint->seconds -= part * joint->seconds;
}

static bool falls(const struct pmu_joined_total *before, const struct pmu_joined_total *now) {
    return now->count < before->count || now->covered_seconds < before->covered_seconds ||
           now->uncovered_seconds < before->uncovered_seconds;
}

// Takes what the cores have counted. Where they begin, also anew, boxes begin with them.
static void take_told(const struct pmu_joined *j, struct joint *joint, struct told *told) {
    struct pmu_joined_total now;
    if (!j->cores.read || !j->cores.read(j->cores.context, joint->package, &told->code, &now))
        return;
    double count = now.count - told->total.count, covered = now.covered_seconds - told->total.covered_seconds,
           uncovered = now.uncovered_seconds - told->total.uncovered_seconds;
    if (!told->known || falls(&told->total, &now)) {
        leave_out(joint, joint->seconds);
        told->waits = told->seconds = 0;
    } else if (uncovered > covered) {
        leave_out(joint, covered + uncovered);
    } else if (covered > 0) {
        told->waits += count * (covered + uncovered) / covered;
        told->seconds += covered + uncovered;
    }
    told->known = true;
    told->total = now;
}

// How much time goes on. Of what exceeds that which has passed, a part does, so that nothing waits for ever; where
// there is less, a part stays, so that the next read has something, too.
static double time_to_go_on(const struct joint *joint, double passed_seconds) {
    double least = joint->seconds;
    for (size_t i = 0; i < joint->n_told; i++)
        least = fmin(least, joint->told[i].seconds);
    if (joint->n_told == 0)
        return least;
    if (least > passed_seconds)
        return passed_seconds + (least - passed_seconds) / 8;
    return least > passed_seconds / 64 ? least * 3 / 4 : 0;
}

static void add_count(struct joint *joint, size_t event, double count) {
    double whole = floor(joint->rest[event] + count);
    joint->rest[event] += count - whole;
    joint->counts[event] += (uint64_t)whole;
}

// Lets so much time go on. The counts will be scaled by the share, as those of any window are.
static void go_on(struct joint *joint, double seconds, double share) {
    double part = joint->seconds > seconds ? seconds / joint->seconds : 1;
    for (size_t i = 0; i < joint->n_told; i++) {
        struct told *told = &joint->told[i];
        double own = told->seconds > seconds ? seconds / told->seconds : 1;
        joint->waits[told->event] = 0;
        add_count(joint, told->event, share * own * told->waits);
        told->waits -= own * told->waits;
        told->seconds -= own * told->seconds;
    }
    for (size_t e = 0; e < joint->n_events; e++)
        add_count(joint, e, share * part * joint->waits[e]);
    leave_out(joint, seconds);
}

static int joined_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    struct pmu_joined *j = of(pmu);
    struct joint *joint = &j->joints[handle];
    uint64_t passed_ns = joint->enabled ? j->now_ns - joint->since_ns : 0;
    double share = 0;
    int r = n == joint->n_events ? read_pieces(j, joint) : -EINVAL;
    count_calls(j, joint->n_pieces, 1);
    if (r < 0)
        return r;
    joint->since_ns = j->now_ns;
    joint->times.enabled_ns += passed_ns;
    joint->seconds += (double)passed_ns * NS;
    bool fell = pieces_fell(joint), doubtful = fell || joint->doubtful;
    if (r == 0 || fell) {
        share = take_pieces(joint);
        for (size_t i = 0; i < joint->n_told; i++)
            take_told(j, joint, &joint->told[i]);
        joint->doubtful = fell;
        if (doubtful) { // no data, as from a box that was never on its counters
            forget(joint);
            share = 0;
        }
        double seconds = time_to_go_on(joint, (double)passed_ns * NS);
        if (seconds > 0)
            go_on(joint, seconds, share);
    }
    joint->times.running_ns += (uint64_t)((double)passed_ns * share);
    *times = joint->times;
    memcpy(counts, joint->counts, n * sizeof *counts);
    return 0;
}

static void joined_close(struct pmu *pmu, int handle) { close_joint(of(pmu), &of(pmu)->joints[handle]); }

// ---- making ----

static void joined_free(struct pmu *pmu) {
    struct pmu_joined *j = of(pmu);
    for (size_t i = 0; i < j->n_joints; i++)
        if (j->joints[i].used)
            close_joint(j, &j->joints[i]);
    free(j->joints);
    j->boxes->ops->free(j->boxes);
    free(j->parts);
    free(j->packages.boxes);
    free(j);
}

static int make_parts(struct pmu_joined *j, const struct pmu_joined_request *request) {
    const struct uncore_boxes *parts = request->parts, *packages = request->packages;
    j->parts = calloc(parts->n + 1, sizeof *j->parts);
    j->packages.boxes = calloc(packages->n + 1, sizeof *packages->boxes);
    if (!j->parts || !j->packages.boxes)
        return -ENOMEM;
    memcpy(j->packages.boxes, packages->boxes, packages->n * sizeof *packages->boxes);
    j->packages.n = packages->n;
    j->n_parts = parts->n;
    for (size_t i = 0; i < parts->n; i++)
        j->parts[i] = (struct part){.package = parts->boxes[i].place.package,
                                    .of = pmu_joined_part_of(parts->boxes[i].pmu, request->pmus, request->n_pmus)};
    return 0;
}

int pmu_joined_new(const struct pmu_joined_request *request, struct pmu **out) {
    static const struct pmu_ops ops = {.advance = joined_advance,
                                       .open = joined_open,
                                       .enable = joined_enable,
                                       .read = joined_read,
                                       .close = joined_close,
                                       .free = joined_free};
    struct pmu_joined *j = calloc(1, sizeof *j);
    if (!j) {
        request->boxes->ops->free(request->boxes);
        return -ENOMEM;
    }
    *j = (struct pmu_joined){
        .pmu.ops = &ops, .boxes = request->boxes, .n_pmus = request->n_pmus, .cores = request->cores};
    int r = make_parts(j, request);
    if (r < 0)
        joined_free(&j->pmu);
    else
        *out = &j->pmu;
    return r;
}
