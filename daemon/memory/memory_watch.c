// SPDX-License-Identifier: Apache-2.0
#include "daemon/memory/memory_watch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/memory/memory_reader.h"
#include "daemon/base/log.h"

struct memory_watch {
    struct self *self;
    struct host_roots roots;
    struct memory_reader *reader;
    struct memory_reader_choice choice; // of the newest reading
    struct host_memory *newest;         // NULL: none
    uint64_t due_ns;                    // when the next one is made
    char problem[HOST_MEMORY_PROBLEM_MAX];
};

int memory_watch_new(const struct setup *setup, struct self *self, struct memory_watch **out) {
    const struct host_roots *roots = &setup->types[0].source->roots;
    struct memory_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return -ENOMEM;
    watch->self = self;
    watch->roots = (struct host_roots){.sysfs = roots->sysfs, .procfs = roots->procfs}; // options: they outlive set-ups
    watch->reader = memory_reader_new(&watch->roots);
    *out = watch->reader ? watch : memory_watch_free(watch);
    return *out ? 0 : -ENOMEM;
}

struct memory_watch *memory_watch_free(struct memory_watch *watch) {
    if (watch) {
        host_memory_unref(watch->newest);
        memory_reader_free(watch->reader);
    }
    free(watch);
    return NULL;
}

// Nothing of this host describes another one.
static struct memory_reader_choice choose(const struct setup *setup) {
    const struct source *source = setup->types[0].source;
    const struct config_uncore *config = &setup->config->uncore;
    bool here = !source->simulated && !source->replayed && !config->off;
    return (struct memory_reader_choice){.nodes = here && !config->numa_off, .resctrl = here && !config->resctrl_off};
}

static uint64_t longer(uint64_t a, uint64_t b) { return a > b ? a : b; }

// True if the host has something that the kernel counts, or may have.
static bool is_counted(const struct host_memory *memory) {
    return !memory || memory->n_nodes > 1 || memory->resctrl == RESCTRL_COUNTING;
}

// How long the next reading waits after one that took so long.
static uint64_t pause_ns(bool counted, uint64_t took_ns, uint64_t cpu_ns, unsigned interrupts) {
    const uint64_t second_ns = UINT64_C(1000000000);
    uint64_t of_time = longer(cpu_ns * MEMORY_WATCH_SHARE, took_ns * MEMORY_WATCH_WAIT_SHARE);
    uint64_t of_interrupts = interrupts * second_ns / MEMORY_WATCH_INTERRUPTS;
    uint64_t least = (counted ? MEMORY_WATCH_SECONDS : MEMORY_WATCH_IDLE_SECONDS) * second_ns;
    return longer(least, longer(of_time, of_interrupts));
}

// A mistake in a file is said once.
static void log_problem(struct memory_watch *watch) {
    if (watch->newest->problem[0] != '\0' && strcmp(watch->problem, watch->newest->problem) != 0)
        log_warning("%s", watch->newest->problem);
    memcpy(watch->problem, watch->newest->problem, sizeof watch->problem);
}

static void log_resctrl(const struct host_memory *before, const struct host_memory *now) {
    enum resctrl_state last = before ? before->resctrl : RESCTRL_NOT_MOUNTED;
    if (now->resctrl == last || (now->resctrl == RESCTRL_NOT_ASKED && !before))
        return;
    if (now->resctrl == RESCTRL_COUNTING)
        log_info("resctrl counts the bytes of %zu last-level cache%s", now->n_domains, now->n_domains == 1 ? "" : "s");
    else
        log_info("%s", resctrl_state_text(now->resctrl));
}

// The peak of a socket's memory, as its modules' data say it; 0: not known. What the firmware rates and what the
// configuration says are not used: these are opinions (core/uncore/uncore_most.h).
static double peak_of(const struct setup *setup, unsigned socket) {
    double peak = 0;
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++) {
        const struct topology *boxes = setup->types[i].topology;
        for (size_t s = 0; boxes && s < boxes->n_sockets; s++)
            if (boxes->sockets[s].id == socket && boxes->sockets[s].peak == TOPOLOGY_PEAK_HOST)
                peak = fmax(peak, boxes->sockets[s].memory_bytes_per_second);
    }
    return peak;
}

// What the memory of all measured sockets can move; 0: not known of one of them.
static double host_peak(const struct setup *setup) {
    const struct topology *topology = setup->types[0].topology;
    double sum = 0;
    for (size_t s = 0; topology && s < topology->n_sockets; s++) {
        double peak = peak_of(setup, topology->sockets[s].id);
        if (!(peak > 0))
            return 0;
        sum += peak;
    }
    return sum;
}

static void read_now(struct memory_watch *watch, const struct setup *setup, uint64_t now_ns) {
    struct self *self = watch->self;
    struct memory_reader_choice choice = watch->choice;
    choice.memory_bytes_per_second = choice.resctrl ? host_peak(setup) : 0;
    unsigned interrupts;
    self_step_begin(self);
    struct host_memory *memory = memory_reader_read(
        watch->reader, choice, (struct memory_reader_time){now_ns, self_realtime_seconds(self)}, &interrupts);
    uint64_t took_ns = self->clocks->monotonic_ns(self->clocks->context) - self->step_begun_ns;
    uint64_t cpu_ns = self->clocks->thread_cpu_ns(self->clocks->context) - self->step_cpu_ns;
    self_change_end(self, interrupts, interrupts);
    watch->due_ns = now_ns + pause_ns(is_counted(memory), took_ns, cpu_ns, interrupts);
    if (!memory)
        return; // the last one stays
    log_resctrl(watch->newest, memory);
    host_memory_unref(watch->newest);
    watch->newest = memory;
    log_problem(watch);
}

struct host_memory *memory_watch_look(struct memory_watch *watch, const struct setup *setup, uint64_t now_ns) {
    struct memory_reader_choice choice = choose(setup);
    bool same = choice.nodes == watch->choice.nodes && choice.resctrl == watch->choice.resctrl;
    watch->choice = choice;
    if (!choice.nodes && !choice.resctrl) {
        watch->newest = host_memory_unref(watch->newest);
        return NULL;
    }
    if (!same || now_ns >= watch->due_ns)
        read_now(watch, setup, now_ns);
    return watch->newest;
}

void memory_watch_attach(struct memory_watch *watch, const struct setup *setup, uint64_t now_ns,
                         struct snapshot *snapshot) {
    if (snapshot && !snapshot->memory)
        snapshot->memory = host_memory_ref(memory_watch_look(watch, setup, now_ns));
}

struct host_memory *memory_watch_once(const struct setup *setup) {
    struct memory_reader_choice choice = choose(setup);
    struct memory_reader *reader =
        choice.nodes || choice.resctrl ? memory_reader_new(&setup->types[0].source->roots) : NULL;
    unsigned interrupts;
    struct host_memory *memory =
        reader ? memory_reader_read(reader, choice, (struct memory_reader_time){0, 0}, &interrupts) : NULL;
    memory_reader_free(reader);
    return memory;
}
