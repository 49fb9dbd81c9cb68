// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/memory_reader.h"
#include "daemon/doctor/doctor_parts.h"

// What the kernel counts of memory: whether resctrl is there, and files that cannot be understood.

static void check_resctrl(const struct host_memory *memory, struct findings *findings) {
    if (memory->resctrl == RESCTRL_COUNTING)
        findings_add(findings, FINDING_OK, "resctrl",
                     "resctrl is mounted and counts the bytes of %zu last-level caches", memory->n_domains);
    else
        findings_add(findings, FINDING_OK, "resctrl", "%s", resctrl_state_text(memory->resctrl));
}

void doctor_check_memory(const struct setup *setup, struct findings *findings) {
    const struct source *source = setup->types[0].source;
    const struct memory_reader_choice all = {.nodes = true, .resctrl = true};
    unsigned interrupts;
    if (source->simulated || source->replayed)
        return;
    struct memory_reader *reader = memory_reader_new(&source->roots);
    struct host_memory *memory =
        reader ? memory_reader_read(reader, all, (struct memory_reader_time){0, 0}, &interrupts) : NULL;
    if (memory) {
        check_resctrl(memory, findings);
        if (memory->problem[0] != '\0')
            findings_add(findings, FINDING_WARNING, "memory_files", "%s", memory->problem);
    }
    host_memory_unref(memory);
    memory_reader_free(reader);
}
