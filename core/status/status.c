// SPDX-License-Identifier: Apache-2.0
#include "core/status/status.h"

#include <math.h>

const double status_rotation_bounds[STATUS_BUCKETS_N] = {0.0001, 0.001, 0.01};

const struct status status_unknown = {
    .cost = {.budget_used = NAN}, .process = {NAN, NAN, NAN, NAN, NAN, NAN}, .certificate_expiry_seconds = NAN};
const struct status_engine status_engine_unknown = {.counted_seconds = NAN, .pmu = {.kernel_bytes = NAN}};

static double number_if(bool known, double number) { return known ? number : (double)NAN; }

static double up_of(bool known, int error) { return number_if(known && error != STATUS_ERROR_UNKNOWN, error == 0); }

double status_series(const struct status *status, size_t number) {
    const struct status_cost *cost = &status->cost;
    const struct status_process *process = &status->process;
    if (!status->known)
        return NAN;
    if (number >= STATUS_ROTATIONS_WITHIN)
        return number < STATUS_N ? (double)status->rotations.within[number - STATUS_ROTATIONS_WITHIN] : (double)NAN;
    switch ((enum status_number)number) {
    case STATUS_CONFIG_SUCCESSFUL:
        return status->config.successful;
    case STATUS_CONFIG_SUCCESS_TIMESTAMP:
        return status->config.success_seconds;
    case STATUS_CERTIFICATE_EXPIRY:
        return status->certificate_expiry_seconds;
    case STATUS_TEXTFILE_UP:
        return up_of(status->textfile.tried, status->textfile.error);
    case STATUS_TEXTFILE_FAILURES:
        return number_if(status->textfile.tried, (double)status->textfile.failures);
    case STATUS_COLLECTION_SECONDS:
        return cost->collection_seconds;
    case STATUS_CALLS:
        return (double)cost->calls;
    case STATUS_INTERRUPTS:
        return (double)cost->interrupts;
    case STATUS_INTERRUPT_SECONDS:
        return cost->interrupt_seconds;
    case STATUS_BUDGET_USED:
        return cost->budget_used;
    case STATUS_ROTATIONS:
        return (double)status->rotations.n;
    case STATUS_ROTATION_SECONDS:
        return status->rotations.seconds;
    case STATUS_PROCESS_CPU_SECONDS:
        return process->cpu_seconds;
    case STATUS_PROCESS_RESIDENT_BYTES:
        return process->resident_bytes;
    case STATUS_PROCESS_VIRTUAL_BYTES:
        return process->virtual_bytes;
    case STATUS_PROCESS_OPEN_FDS:
        return process->open_fds;
    case STATUS_PROCESS_MAX_FDS:
        return process->max_fds;
    case STATUS_PROCESS_START_TIMESTAMP:
        return process->start_timestamp;
    case STATUS_ROTATIONS_WITHIN:
    case STATUS_N:
        break;
    }
    return NAN;
}

double status_engine_series(const struct status_engine *engine, size_t number) {
    const struct status_recording *recording = &engine->recording;
    switch ((enum status_engine_number)number) {
    case STATUS_COUNTED_TIMESTAMP:
        return engine->counted_seconds;
    case STATUS_PMU_UP:
        return number_if(engine->pmu.used, engine->pmu.up);
    case STATUS_PMU_KERNEL_BYTES:
        return engine->pmu.kernel_bytes;
    case STATUS_RECORDING_UP:
        return up_of(recording->on, recording->error);
    case STATUS_RECORDING_BYTES:
        return number_if(recording->on, (double)recording->bytes);
    case STATUS_RECORDING_ROUNDS_LOST:
        return number_if(recording->on, (double)recording->rounds_lost);
    case STATUS_ENGINE_N:
        break;
    }
    return NAN;
}

void status_forget_now(struct status *status, struct status_engine *engine) {
    struct status_process *process = &status->process;
    status->textfile.error = engine->recording.error = STATUS_ERROR_UNKNOWN;
    status->cost.budget_used = process->resident_bytes = process->virtual_bytes = process->open_fds = NAN;
    engine->pmu.up = false;
    engine->pmu.kernel_bytes = NAN;
}
