// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log.h"
#include "config/perf_log/perf_log_cpus.h"
#include "config/perf_log/perf_log_event.h"
#include "core/spec/catalog_builder.h"
#include "core/tally/derive.h"

// A log of perf is refused with a message, or has indexes within bounds and makes a recording that plays to its end.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct catalog *make_catalog(void) {
    struct catalog_builder *builder;
    struct fault error;
    static const char *const metrics[] = {"ipc"};
    if (catalog_builder_new("fuzz", "v", "n", "m", "cpu", &builder) < 0)
        return NULL;
    const struct catalog_metric_text ipc = {.name = "ipc", .formula = "inst / cycles", .units = "per cycle"};
    if (catalog_builder_add_event(builder, "cycles", "", 0x11, &error) < 0 ||
        catalog_builder_add_event(builder, "inst", "", 0x8, &error) < 0 ||
        catalog_builder_add_metric(builder, &ipc, &error) < 0 ||
        catalog_builder_add_group(builder, "general", "", "", metrics, 1, &error) < 0)
        builder = catalog_builder_free(builder);
    return builder ? catalog_builder_finish(builder) : NULL;
}

static void play(const struct catalog *catalog, const struct recording_buffer *bytes, size_t n_intervals) {
    size_t at = 0, rounds = 0;
    struct recording_record record;
    struct recording_plan plan;
    char missing[RECORDING_TEXT_MAX + 1];
    int r = recording_next(bytes->bytes, bytes->n, &at, &record);
    assert(r == 1);
    r = recording_get_plan(&record, catalog, missing, &plan);
    assert(r == 0);
    while ((r = recording_next(bytes->bytes, bytes->n, &at, &record)) == 1) {
        struct readings *readings;
        double seconds;
        r = recording_get_round(&record, plan.plan, plan.topology, true, &seconds, &readings);
        assert(r == 0);
        rounds++;
        readings_free(readings);
    }
    assert(r == 0 && rounds == n_intervals);
    plan_free(plan.plan);
    topology_free(plan.topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors = {0};
    struct perf_log *log;
    char *text = malloc(size + 1);
    struct catalog *catalog = make_catalog();
    if (!text || !catalog)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    int r = perf_log_parse("log", text, size, &errors, &log);
    free(text);
    if (r < 0) {
        assert(errors.n > 0);
        catalog_free(catalog);
        return 0;
    }
    assert(log->n_intervals > 0 && log->n_rows > 0);
    for (size_t i = 0; i < log->n_rows; i++)
        assert(log->rows[i].event < log->n_events && log->rows[i].place < log->n_places &&
               log->rows[i].column < log->n_columns && !(log->rows[i].share <= 0 || log->rows[i].share > 1));
    for (size_t c = 0; c < log->n_columns; c++)
        assert(log->columns[c].event < log->n_events);
    struct recording_buffer bytes = {0};
    const struct plan_selection selection = {.group = 0};
    static const char text_of_names[] =
        "{\"vendors\":[{\"vendor\":\"v\",\"events\":{\"cycles\":\"event=0x11\",\"instructions\":"
        "\"event=0x8\"}}]}";
    struct perf_names *names;
    r = perf_names_parse("names", text_of_names, sizeof text_of_names - 1, &errors, &names);
    assert(r == 0);
    char pmus[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1];
    size_t n_pmus = perf_log_core_pmus(log, pmus);
    struct perf_log_request request = {
        .name = "log", .log = log, .catalog = catalog, .names = names, .selections = &selection, .n_selections = 1};
    if (n_pmus > 1 && size % 2 > 0)
        request.pmu = pmus[0];
    assert(perf_log_cpus_each(&request) <= PERF_LOG_PLACES_MAX);
    r = perf_log_known(&request, NULL) > 0 || !request.pmu ? perf_log_record(&request, &errors, &bytes) : -1;
    perf_names_free(names);
    if (r == 0)
        play(catalog, &bytes, log->n_intervals);
    else
        assert(r == -1 || r == -12 || errors.n > 0); // -1: no event of the PMU is known
    recording_buffer_deinit(&bytes);
    perf_log_free(log);
    catalog_free(catalog);
    return 0;
}
