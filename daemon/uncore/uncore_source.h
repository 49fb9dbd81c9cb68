// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_SOURCE_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_SOURCE_H

// What the sources of all kinds of boxes have in common, wherever their counts come from.

#include "core/spec/catalog_builder.h"
#include "core/uncore/uncore.h"
#include "daemon/source/setup.h"

// Reads a kind's spec, specs/uncore/SPEC.json. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int uncore_read_spec(const struct setup *setup, const char *spec, struct errors *errors, struct catalog_builder **out);

// Sets the facts that all kinds share. `name`, the label `pmu`, and `options` are borrowed for the source's life.
void uncore_describe(struct source *source, const char *name, const struct options *options);

// True for a kind that tells what DRAM moves, as the peak of a socket is DRAM's.
bool uncore_tells_dram(const struct catalog *catalog);

// Notes that the configuration leaves out `n_out` of `n` boxes, `first` among them: a sum over the others is not the
// socket's.
void uncore_note_left_out(struct source *source, const char *first, size_t n_out, size_t n);

// Notes with the set-up's first source a kind of which nothing is measured: `text`, with all kinds of the same reason,
// which is a literal, after it.
void uncore_note_kind(const struct setup *setup, const char *reason, const char *text, const char *kind);

// The kind before it that tells the same traffic; NULL: none does.
const char *uncore_told_by(const struct setup *setup, const struct catalog *catalog);

// Adds a source with its boxes to the set-up, and gives the boxes that tell what the memory moves its configured peak.
// `recommended`: the configuration wants the groups that the spec recommends. Takes ownership of both, even on failure.
// Returns 1 if it is added; 0 if not, as the configuration wants no group of it, as kinds before it tell the same
// traffic, or as there is no room, which the set-up's first source notes; -ENOMEM.
int uncore_add(struct setup *setup, struct source *source, struct topology *boxes, bool recommended);

#endif
