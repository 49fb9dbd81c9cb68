// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_MEMORY_RESCTRL_WHERE_H
#define TOPDOWND_COLLECTORS_MEMORY_RESCTRL_WHERE_H

// Where resctrl is mounted, and what there is to read: its groups, and the places of which each has files.

#include <sys/types.h>

#include "collectors/host/host_linux.h"
#include "core/memory/host_memory.h"

// Returns 1; 0: nowhere; or a negative errno where that is not known now.
int resctrl_find_mount(const struct host_roots *roots, char *mount, size_t size);

// The socket whose last-level cache has the number of a domain; -1: not known.
int resctrl_socket_of(const struct host_roots *roots, unsigned domain);

// The folder of a group. Returns its length; what does not fit is left out.
size_t resctrl_folder(const char *mount, const char *group, char *out, size_t size);

// The control groups, the root first, each followed by its monitoring groups.
struct resctrl_listed {
    struct host_memory_group group;
    ino_t inode; // tells a group from another one that got its name, and knows it again under another name
};

// Lists at most `max` groups, of which the caller frees the array. Returns how many there are, more than `max` where
// some are left out, or a negative errno where that is not known now.
ssize_t resctrl_list_groups(const char *mount, size_t max, struct resctrl_listed **out);

// A place: a domain, or a part of one where the host has sub-NUMA clusters. There the domain's files are the sum of
// those parts that can be read at that moment.
struct resctrl_place {
    unsigned domain;
    int part;        // -1: the domain itself
    char folder[48]; // below mon_data
};
enum { RESCTRL_PLACES_MAX = 256 };

// The places of the group in `folder`. Returns how many; at most RESCTRL_PLACES_MAX are written. Or a negative errno
// where that is not known now.
ssize_t resctrl_list_places(const char *folder, struct resctrl_place out[RESCTRL_PLACES_MAX]);

#endif
