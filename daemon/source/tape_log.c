// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/tape_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log_cpus.h"
#include "daemon/source/tape_spec.h"

static const size_t LOG_MAX = (size_t)2 << 30;

// ---- the log ----

static int read_log(struct tape *tape, const char *data, struct errors *errors) {
    char path[DATA_PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/specs/perf/names.json", data);
    uint8_t *text;
    size_t length;
    int r = recording_file_read(tape->path, LOG_MAX, &text, &length);
    if (r == -EFBIG)
        return errors_add(errors, tape->path, 0, 0, "is a log of more than 2 GiB: replay it in parts");
    if (r < 0)
        return r == -ENOMEM ? r : errors_add_failure(errors, tape->path, "cannot be read", r);
    r = perf_log_parse(tape->path, (const char *)text, length, errors, &tape->log.log);
    free(text);
    return r == 0 ? perf_names_load(path, errors, &tape->log.names) : r;
}

int tape_log_open(struct tape *tape, const struct tape_request *request, struct errors *errors, struct catalog **out) {
    int r = read_log(tape, request->data, errors);
    if (r == 0)
        r = tape_spec_choose(tape, request->spec, request->specs, errors, out);
    if (r < 0)
        return r;
    const struct perf_log_request of_log = tape_spec_request(tape, *out, true);
    tape->added_up = perf_log_cpus_each(&of_log);
    if (tape->added_up == 0)
        catalog_add_up(*out);
    const struct catalog_product *product = &tape->catalog->product;
    struct recording_header *header = &tape->header;
    (void)snprintf(header->catalog.spec, sizeof header->catalog.spec, "%.300s", product->spec);
    (void)snprintf(header->vendor, sizeof header->vendor, "%.300s", product->vendor);
    (void)snprintf(header->model, sizeof header->model, "%.300s", product->name);
    (void)snprintf(header->microarchitecture, sizeof header->microarchitecture, "%.300s", product->microarchitecture);
    (void)snprintf(header->core_type, sizeof header->core_type, "%s", tape->log.pmu);
    return 0;
}

int tape_log_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections,
                  struct errors *errors) {
    struct perf_log_request request = tape_spec_request(tape, tape->catalog, true);
    request.selections = selections;
    request.n_selections = n_selections;
    int r = perf_log_record(&request, errors, &tape->bytes);
    tape_log_deinit(&tape->log);
    return r;
}

void tape_log_deinit(struct tape_log *log) {
    log->log = perf_log_free(log->log);
    log->names = perf_names_free(log->names);
}
