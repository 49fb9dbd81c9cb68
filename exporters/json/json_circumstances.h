// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_CIRCUMSTANCES_H
#define TOPDOWND_EXPORTERS_JSON_JSON_CIRCUMSTANCES_H

// Members of a bottleneck's object: what is beside the verdict on the host, and what a bottleneck comes from.

#include "core/tally/snapshot.h"
#include "exporters/text/json_writer.h"

// "circumstances".
void json_circumstances(struct json *json, const struct snapshot *snapshot);

// "cause"; null: there is none.
void json_cause(struct json *json, const struct snapshot *snapshot, const struct verdict *verdict);

#endif
