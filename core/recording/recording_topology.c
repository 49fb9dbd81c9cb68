// SPDX-License-Identifier: Apache-2.0
#include "core/recording/recording_topology.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Every index is checked, and all sizes: what reads a topology trusts it.

enum { CPUS_MAX = 8192, SOCKETS_MAX = 1024 };

// ---- writing ----

void recording_put_topology(struct recording_buffer *out, const struct topology *topology) {
    bytes_put_varint(out, topology->n_sockets);
    for (size_t s = 0; s < topology->n_sockets; s++) {
        bytes_put_varint(out, topology->sockets[s].id);
        bytes_put_varint(out, topology->sockets[s].excluded + topology->sockets[s].isolated);
        bytes_put_varint(out, topology->sockets[s].whole_cores);
    }
    bytes_put_double(out, topology->maximum_frequency_hz);
    bytes_put_varint(out, topology->n_cores);
    bytes_put_varint(out, topology->n_cpus);
    for (size_t c = 0; c < topology->n_cpus; c++) {
        bytes_put_varint(out, topology->cpus[c].id);
        bytes_put_varint(out, topology->cpus[c].core);
        bytes_put_varint(out, topology->cpus[c].socket);
    }
}

// What only boxes have: the peak of each socket's memory, and what each box is.
void recording_put_topology_boxes(struct recording_buffer *out, const struct topology *topology) {
    for (size_t s = 0; s < topology->n_sockets; s++) {
        bytes_put_double(out, topology->sockets[s].memory_bytes_per_second);
        bytes_put_varint(out, topology->sockets[s].peak);
    }
    bytes_put_varint(out, topology->n_box_facts);
    for (size_t i = 0; i < topology->n_box_facts; i++) {
        bytes_put_text(out, topology->box_facts[i].pmu);
        bytes_put_signed(out, topology->box_facts[i].cpu);
        bytes_put_signed(out, topology->box_facts[i].node);
    }
}

// ---- reading ----

// NULL where out of memory, which is told from what is malformed by `status`.
static void *new_array(struct bytes_cursor *in, int *status, size_t n, size_t size) {
    void *array = calloc(n + 1, size);
    if (!array) {
        *status = -ENOMEM;
        in->bad = true;
    }
    return array;
}

static int get_cpus(struct bytes_cursor *in, struct topology *topology) {
    int status = 0;
    bool *seen = in->bad ? NULL : new_array(in, &status, topology->n_cores, sizeof *seen);
    for (size_t c = 0; c < topology->n_cpus && !in->bad; c++) {
        struct topology_cpu *cpu = &topology->cpus[c];
        cpu->id = (unsigned)bytes_get_varint(in, CPUS_MAX - 1);
        cpu->core = (unsigned)bytes_get_varint(in, topology->n_cores - 1);
        cpu->socket = (unsigned)bytes_get_varint(in, topology->n_sockets - 1);
        in->bad = in->bad || (c > 0 && cpu->id <= topology->cpus[c - 1].id);
        topology->sockets[cpu->socket].measured++;
        topology->sockets[cpu->socket].cores += !seen[cpu->core];
        seen[cpu->core] = true;
    }
    free(seen);
    return status;
}

int recording_get_topology(struct bytes_cursor *in, struct topology *topology) {
    int status = 0;
    topology->n_sockets = bytes_get_count(in, 3);
    if (topology->n_sockets == 0 || topology->n_sockets > SOCKETS_MAX)
        in->bad = true;
    topology->sockets = in->bad ? NULL : new_array(in, &status, topology->n_sockets, sizeof *topology->sockets);
    for (size_t s = 0; s < topology->n_sockets && !in->bad; s++) {
        topology->sockets[s].id = (unsigned)bytes_get_varint(in, INT_MAX);
        topology->sockets[s].excluded = (unsigned)bytes_get_varint(in, CPUS_MAX);
        topology->sockets[s].whole_cores = bytes_get_varint(in, 1) == 1;
    }
    topology->maximum_frequency_hz = bytes_get_double(in);
    topology->n_cores = (size_t)bytes_get_varint(in, CPUS_MAX);
    topology->n_cpus = bytes_get_count(in, 3);
    if (topology->n_cpus == 0 || topology->n_cpus > CPUS_MAX || topology->n_cores == 0 ||
        !(topology->maximum_frequency_hz >= 0 && topology->maximum_frequency_hz < 1e12))
        in->bad = true;
    topology->cpus = in->bad ? NULL : new_array(in, &status, topology->n_cpus, sizeof *topology->cpus);
    return status < 0 ? status : get_cpus(in, topology);
}

static int get_box_facts(struct bytes_cursor *in, struct topology *topology) {
    int status = 0;
    size_t n = bytes_get_count(in, 3);
    in->bad = in->bad || n > CPUS_MAX;
    struct topology_box *facts = in->bad ? NULL : new_array(in, &status, n, sizeof *facts);
    char pmu[RECORDING_TEXT_MAX + 1];
    for (size_t i = 0; i < n && !in->bad; i++) {
        bytes_get_text(in, pmu);
        int64_t cpu = bytes_get_signed(in), node = bytes_get_signed(in);
        in->bad =
            in->bad || strlen(pmu) >= TOPOLOGY_PMU_MAX || cpu < -1 || cpu > INT_MAX || node < -1 || node > INT_MAX;
        if (in->bad)
            break;
        facts[i] = (struct topology_box){.cpu = (int)cpu, .node = (int)node};
        memcpy(facts[i].pmu, pmu, strlen(pmu) + 1);
    }
    if (!in->bad && n > 0 && topology_set_boxes(topology, facts, n) < 0) {
        status = -ENOMEM;
        in->bad = true;
    }
    free(facts);
    return status;
}

int recording_get_topology_boxes(struct bytes_cursor *in, struct topology *topology) {
    topology->boxes = true;
    for (size_t s = 0; s < topology->n_sockets && !in->bad; s++) {
        double peak = bytes_get_double(in);
        in->bad = in->bad || !(peak >= 0 && peak < HUGE_VAL);
        topology->sockets[s].memory_bytes_per_second = peak;
        topology->sockets[s].peak = (enum topology_peak)bytes_get_varint(in, TOPOLOGY_PEAKS_N - 1);
    }
    return get_box_facts(in, topology);
}
