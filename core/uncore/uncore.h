// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_UNCORE_UNCORE_H
#define TOPDOWND_CORE_UNCORE_UNCORE_H

// Counters outside the cores: memory controllers, caches, interconnects. The kernel has a PMU for each, a box; a host
// has many boxes of few kinds (uncore_imc_0 to uncore_imc_7 are eight boxes of one kind).
//
// A kind is measured as a core type is, and a box takes the place of a CPU. So a kind has a spec in the format of all
// specs, in specs/uncore/, whose events are those of one box: with its formats (pmu_formats or format, for lists
// without a host), counters (of a box, and `group` where the driver takes fewer events in one group), events (of which
// none must count, as a box may have nothing to do), metrics, metric groups and `defaults`. Its topology is its boxes
// (uncore_topology). Catalog, plan, event groups, readings, totals, error bars, snapshots, recordings and simulation
// are those of the cores.
//
// What a kind means for all vendors alike: a metric of its spec says with `"topdownd": {"traffic": "memory_read"}` that
// it is this traffic (core/spec/traffic.h). Its formula is BYTES * (sum of events) / cpu_seconds, where BYTES is what
// one count is and cpu_seconds are those of boxes. An event's scale and unit in sysfs must say the same.

#include <stdbool.h>
#include <stdint.h>

#include "core/host/topology.h"
#include "core/spec/catalog.h"
#include "core/uncore/uncore_place.h"

enum { UNCORE_NAME_MAX = 64 };

// A kind of box of a CPU, from specs/uncore/kinds.json. All texts are owned by whoever read them. Hosts whose drivers
// name PMUs anew have several kinds of one name, of which the first with a box is used.
struct uncore_kind {
    const char *name;       // the label `pmu`: "imc", "cha", "umc", "cmn"; a word of a-z, 0-9 and '_'
    const char *spec;       // specs/uncore/SPEC.json
    const char *pattern;    // of the PMUs' names in /sys/bus/event_source/devices, for fnmatch: "uncore_imc_[0-9]*"
    const char *identifier; // of their file `identifier`, for fnmatch; NULL: any, or none
    const char *file;       // that the PMU's folder must have: "events/s2m_drs_memdata"; NULL: none
    const char *host;       // below /sys, for glob: hosts without such a path have no such box; NULL: none
    const char *cpus;       // of the names of CPUs' specs, for fnmatch: "sapphire-rapids"
    const char *group;      // what the configuration selects it by: "memory", "llc", "remote", "interconnect", "io"
};

struct uncore_kinds {
    struct uncore_kind *kinds; // in the order of preference
    size_t n;
};

// A box of this host.
struct uncore_box {
    char pmu[UNCORE_NAME_MAX]; // the kernel's name
    uint32_t type;             // perf_event_attr.type
    unsigned cpu;              // the kernel's number of the CPU of the PMU's mask that reads it: may change
    struct uncore_place place; // where that one lies
    enum uncore_part part;     // what the PMU's mask is made of: CPUs that may read the box lie in the same one
    bool left_out;             // the configuration does not want it opened
    bool gone;                 // it was there and keeps its number
};

// Boxes of one kind, socket by socket, in the natural order of their names ("imc_2" before "imc_10").
struct uncore_boxes {
    struct uncore_box *boxes; // owned
    size_t n;
};

void uncore_boxes_deinit(struct uncore_boxes *boxes);

// True if they are one box, maybe read by another CPU now.
bool uncore_box_same(const struct uncore_box *before, const struct uncore_box *now);

// The CPU of its PMU's mask that reads the box now: its own while the mask has it, else the one in the same part of the
// host. -1: the box is gone.
int uncore_box_reader(const struct uncore_box *box, const struct uncore_mask *mask);

// Gives boxes that were there before the numbers that they had, as a number is what totals go on by. Others follow, and
// those that are no longer there are gone. -ENOMEM: nothing has changed.
int uncore_boxes_continue(struct uncore_boxes *boxes, const struct uncore_boxes *before);

// The boxes as a topology: box i is CPU i, a core of its own, and sockets are those of the CPUs that read them. A box
// that is left out is a CPU that is not selected, one that is gone is none. Returns 0 or -ENOMEM; -EINVAL: there is no
// box.
int uncore_topology(const struct uncore_boxes *boxes, struct topology **out);

// True if a formula over boxes needs events of the cores, directly or through other metrics: in a catalog of boxes,
// those that are of another PMU and take no counter there (config/vendor/perf_json.h).
bool uncore_needs_cores(const struct catalog *catalog, const struct formula *formula);

// The traffic that an event is part of, and the bytes that one count of it stands for. TRAFFIC_NONE: it is part of
// none.
enum traffic uncore_traffic(const struct catalog *catalog, unsigned event, double *bytes);

#endif
