// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_MEMORY_MEMORY_TEXT_H
#define TOPDOWND_COLLECTORS_MEMORY_MEMORY_TEXT_H

// The texts of the kernel's files about memory. Pure, so that they can be fed any bytes.

#include <stdbool.h>
#include <stddef.h>

// A row of a file of rows "NAME VALUE", and where its value goes.
struct memory_row {
    const char *name;
    double *value;
};

// Reads the rows that are asked for, as /proc/vmstat and a node's numastat have them; values of missing rows are
// untouched. Returns 0, or -EINVAL if one of them holds no whole number: the others are read.
int memory_text_rows(const char *text, const struct memory_row *rows, size_t n);

// Reads a row of a node's meminfo, "Node 0 MemTotal:  65536 kB", in bytes. NaN: there is none.
double memory_text_size(const char *text, const char *name);

// A file of resctrl that counts bytes.
enum memory_text_bytes {
    MEMORY_TEXT_BYTES,
    MEMORY_TEXT_UNAVAILABLE, // the kernel's words for "not now": Unavailable, Error
    MEMORY_TEXT_UNASSIGNED,  // and for "without a hardware counter"
    MEMORY_TEXT_WRONG
};
enum memory_text_bytes memory_text_bytes(const char *text, double *out);

// The number of a monitoring domain in the name of its folder, "mon_L3_00". Arm's are numbers of caches of up to 32
// bits. Other folders beside it are no domains, such as "mon_PERF_PKG_00" with the energy of Intel's cores (Linux 7.0).
bool memory_text_domain(const char *name, unsigned *out);

// The number of a part of a domain in the name of its folder, "mon_sub_L3_00": a sub-NUMA cluster.
bool memory_text_part(const char *name, unsigned *out);

// True if the group has no hardware counter for an event in a domain. `text` is that of its file mbm_L3_assignments,
// lines "mbm_total_bytes:0=e;1=_" (kernel, resctrl.rst).
bool memory_text_unassigned(const char *text, const char *event, unsigned domain);

// True if resctrl's event of all bytes counts all reads, writes and dirty lines that leave the cache. `text` is that of
// event_configs/mbm_total_bytes/event_filter, or of mbm_total_bytes_config.
bool memory_text_counts_all(const char *text);

// Finds where resctrl is mounted, in the text of /proc/PID/mountinfo. False: nowhere, or the path is too long.
bool memory_text_resctrl(const char *text, char *path, size_t size);

// What a dax device's place among the devices says of its memory.
enum memory_text_dax { MEMORY_TEXT_DAX_UNKNOWN, MEMORY_TEXT_DAX_CXL, MEMORY_TEXT_DAX_NVDIMM, MEMORY_TEXT_DAX_SPECIAL };
enum memory_text_dax memory_text_dax(const char *link);

#endif
