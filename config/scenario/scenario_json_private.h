// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SCENARIO_SCENARIO_JSON_PRIVATE_H
#define TOPDOWND_CONFIG_SCENARIO_SCENARIO_JSON_PRIVATE_H

// Shared by the files of scenario_json: scenario_json.c reads a document, and calls scenario_json_loads.c for loads.

#include "config/json/json_reader.h"
#include "config/scenario/scenario_json.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SCENARIO_SECONDS_MAX 1e9

enum { SCENARIO_RATES_MAX = 512 }; // of a keyframe

struct scenario_reader {
    struct json_reader reader;
    struct scenario *scenario;
    struct json_node mixes; // value NULL: none
    double frequency_hz;    // 0: none
    size_t n_rates;         // in all keyframes so far
};

// Allocates room for the entries of an object or array. NULL, with the status set, if out of memory.
void *scenario_room_for(const struct json_node *list, size_t size);

// Reports an unknown name and suggests one of the object's members.
void scenario_fail_unknown(const struct json_node *node, const char *what, const char *name,
                           const struct json_node *object);

void scenario_read_loads(struct scenario_reader *reader, const struct json_node *loads);

#endif
