// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "bench/collect/collect.h"
#include "core/base/array.h"

enum { SOFTWARE_EVENTS = 10 }; // PERF_COUNT_SW_CPU_CLOCK and those that follow

static struct noting_pmu *noting(struct pmu *pmu) { return (struct noting_pmu *)pmu; }

static void *room(void *array, size_t n, size_t size) {
    void *larger = array_grow(array, n, size);
    if (!larger)
        collect_fail("trace", -ENOMEM);
    return larger;
}

static void note(struct pmu *pmu, int handle, enum call_kind kind) {
    struct trace *trace = noting(pmu)->trace;
    if (!trace)
        return;
    trace->calls = room(trace->calls, trace->n, sizeof *trace->calls);
    trace->calls[trace->n++] = (struct call){.handle = handle, .kind = kind};
    trace->by_kind[kind]++;
}

static void noting_advance(struct pmu *pmu, uint64_t now_ns) {
    noting(pmu)->real->ops->advance(noting(pmu)->real, now_ns);
}

static int noting_open(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    struct trace *trace = noting(pmu)->trace;
    struct pmu_event opened[COLLECT_EVENTS_MAX];
    struct opened group = {.cpu = cpu, .n = n};
    if (n > COLLECT_EVENTS_MAX)
        return -E2BIG;
    for (size_t i = 0; i < n; i++) {
        opened[i] = noting(pmu)->software ? (struct pmu_event){.config = i % SOFTWARE_EVENTS} : events[i];
        group.configs[i] = opened[i].config;
    }
    int handle = noting(pmu)->real->ops->open(noting(pmu)->real, cpu, opened, n);
    if (handle < 0 || !trace)
        return handle;
    while (trace->n_opened <= (size_t)handle) {
        trace->opened = room(trace->opened, trace->n_opened, sizeof *trace->opened);
        trace->opened[trace->n_opened++] = (struct opened){.n = 0};
    }
    trace->opened[handle] = group;
    return handle;
}

static int noting_enable(struct pmu *pmu, int handle, bool enabled) {
    note(pmu, handle, enabled ? CALL_ENABLE : CALL_DISABLE);
    return noting(pmu)->real->ops->enable(noting(pmu)->real, handle, enabled);
}

static int noting_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    note(pmu, handle, CALL_READ);
    return noting(pmu)->real->ops->read(noting(pmu)->real, handle, times, counts, n);
}

static void noting_close(struct pmu *pmu, int handle) { noting(pmu)->real->ops->close(noting(pmu)->real, handle); }

struct noting_pmu noting_pmu_of(struct pmu *real, struct trace *trace, bool software) {
    static const struct pmu_ops ops = {.advance = noting_advance,
                                       .open = noting_open,
                                       .enable = noting_enable,
                                       .read = noting_read,
                                       .close = noting_close};
    return (struct noting_pmu){.pmu = {.ops = &ops}, .real = real, .trace = trace, .software = software};
}

// Forgets the calls so far, but for what they left enabled.
static void begin(struct trace *trace) {
    for (size_t i = 0; i < trace->n; i++)
        if (trace->calls[i].kind != CALL_READ)
            trace->opened[trace->calls[i].handle].enabled = trace->calls[i].kind == CALL_ENABLE;
    trace->n = 0;
    for (size_t kind = 0; kind < CALL_N; kind++)
        trace->by_kind[kind] = 0;
    free(trace->calls);
    trace->calls = NULL;
}

void trace_record(struct trace *trace, const struct rig *rig, struct pmu *real, bool software, size_t rounds) {
    struct noting_pmu pmu = noting_pmu_of(real, trace, software);
    struct ours ours;
    *trace = (struct trace){.n = 0};
    ours_init(&ours, rig, &pmu.pmu);
    begin(trace);
    unsigned before = 0; // steps before the first call
    for (size_t round = 0; round < rounds;) {
        bool over = ours_step(&ours);
        round += over;
        if (trace->n == 0) {
            before++;
            continue;
        }
        struct call *last = &trace->calls[trace->n - 1];
        last->steps += 1 + before;
        before = 0;
    }
    ours_deinit(&ours);
}

void trace_free(struct trace *trace) {
    free(trace->opened);
    free(trace->calls);
}
