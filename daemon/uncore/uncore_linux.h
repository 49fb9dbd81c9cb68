// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_LINUX_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_LINUX_H

// The boxes of one kind of this host as a source of counts.

#include "core/spec/catalog_builder.h"
#include "core/uncore/uncore.h"
#include "daemon/source/source.h"

struct uncore_linux {
    struct source source; // first
    struct uncore_boxes boxes;
    // Of a kind over several PMUs: all boxes of these, which its own add up (collectors/uncore/pmu_joined.h). None: its
    // boxes are the kernel's.
    struct uncore_boxes parts;
    char name[UNCORE_NAME_MAX]; // of the kind
};

// Makes a source that lacks its catalog and support. Takes over the boxes, even on failure: NULL if out of memory.
// `options` is borrowed for its life.
struct uncore_linux *uncore_linux_new(const char *name, struct uncore_boxes *boxes, const struct options *options);

// Encodes the events in the formats of the first box, which all boxes have, and gives the source its catalog and
// support. Takes over the builder, even on failure. Returns 0 or a negative errno of host_bind.
int uncore_linux_bind(struct uncore_linux *kind, struct catalog_builder *builder);

// The boxes go on with the numbers that they have in `before`, a source of the same kind. Those that no CPU can read at
// the moment stay boxes, as long as the host has their PMU and the configuration does not leave them out. Returns 0; 1:
// they have others now, so the topology must be made anew; -ENOMEM.
int uncore_linux_continue(struct source *source, const struct source *before, const struct config_uncore *config);

#endif
