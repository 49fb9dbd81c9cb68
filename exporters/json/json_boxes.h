// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_BOXES_H
#define TOPDOWND_EXPORTERS_JSON_JSON_BOXES_H

#include "exporters/text/json_writer.h"
#include "exporters/view/shown.h"

// Adds "uncore": the values of PMUs outside the cores by kind and socket, with all that stands beside a value of the
// cores' metrics.
void json_boxes(struct json *json, const struct shown *shown);

#endif
