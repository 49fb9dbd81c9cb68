// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_TOPOLOGY_H
#define TOPDOWND_CORE_RECORDING_RECORDING_TOPOLOGY_H

// The topology in the record of a plan: CPUs at its beginning, and at its end what only boxes have
// (core/uncore/uncore.h).

#include "core/host/topology.h"
#include "core/recording/recording_bytes.h"

void recording_put_topology(struct recording_buffer *out, const struct topology *topology);
void recording_put_topology_boxes(struct recording_buffer *out, const struct topology *topology);

// Each fills in a topology that is all zero before the first one, and belongs to the caller whatever is returned.
// in->bad: it is malformed. Returns 0 or -ENOMEM, then with in->bad.
int recording_get_topology(struct bytes_cursor *in, struct topology *topology);
int recording_get_topology_boxes(struct bytes_cursor *in, struct topology *topology);

#endif
