// SPDX-License-Identifier: Apache-2.0
#include "daemon/doctor/doctor_parts.h"
#include "daemon/memory/memory_watch.h"

// What the kernel counts of memory: whether resctrl is there, and files that cannot be understood.

static void check_resctrl(const struct host_memory *memory, struct findings *findings) {
    if (memory->resctrl == RESCTRL_COUNTING)
        findings_add(findings, FINDING_OK, "resctrl",
                     "resctrl is mounted and counts the bytes of %zu last-level cache%s", memory->n_domains,
                     memory->n_domains == 1 ? "" : "s");
    else
        findings_add(findings, FINDING_OK, "resctrl", "%s", resctrl_state_text(memory->resctrl));
}

void doctor_check_memory(const struct setup *setup, struct findings *findings) {
    struct host_memory *memory = memory_watch_once(setup);
    if (!memory)
        return; // another host, or the configuration wants none
    check_resctrl(memory, findings);
    if (memory->problem[0] != '\0')
        findings_add(findings, FINDING_WARNING, "memory_files", "%s", memory->problem);
    host_memory_unref(memory);
}
