// SPDX-License-Identifier: Apache-2.0
#include "core/recording/recording_memory.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/recording/recording_bytes.h"

// A reading's record has all of it, what was before included, so that none depends on another one. Nearly all values
// are whole numbers that have grown little since: a few bytes each.

enum { VALUE_UNKNOWN, VALUE_DOUBLE, VALUE_WHOLE }; // and the number itself is added to the last one

static const double WHOLE_MAX = 9007199254740992; // up to here a double has every whole number

// ---- values ----

static bool is_whole(double value) { return value >= 0 && value <= WHOLE_MAX && !(floor(value) < value); }

static void put_double(struct recording_buffer *out, double value) {
    bytes_put_varint(out, (uint64_t)(isnan(value) ? VALUE_UNKNOWN : VALUE_DOUBLE));
    if (!isnan(value))
        bytes_put_double(out, value);
}

static void put_value(struct recording_buffer *out, double value) {
    if (is_whole(value))
        bytes_put_varint(out, VALUE_WHOLE + (uint64_t)value);
    else
        put_double(out, value);
}

// A value, and what it was before.
static void put_both(struct recording_buffer *out, double value, double before) {
    double growth = value - before;
    put_value(out, value);
    if (is_whole(value) && is_whole(before) && growth >= 0)
        put_value(out, growth);
    else
        put_double(out, before);
}

// No value that is counted is negative or infinite.
static double get_double(struct bytes_cursor *in) {
    double value = bytes_get_double(in);
    in->bad = in->bad || !(value >= 0 && value < HUGE_VAL);
    return value;
}

static double get_value(struct bytes_cursor *in) {
    uint64_t value = bytes_get_varint(in, VALUE_WHOLE + (uint64_t)WHOLE_MAX);
    return value == VALUE_UNKNOWN ? NAN : value == VALUE_DOUBLE ? get_double(in) : (double)(value - VALUE_WHOLE);
}

static void get_both(struct bytes_cursor *in, double *value, double *before) {
    *value = get_value(in);
    uint64_t growth = bytes_get_varint(in, VALUE_WHOLE + (uint64_t)WHOLE_MAX);
    *before = growth == VALUE_UNKNOWN  ? NAN
              : growth == VALUE_DOUBLE ? get_double(in)
                                       : *value - (double)(growth - VALUE_WHOLE);
    in->bad = in->bad || *before < 0 || (growth >= VALUE_WHOLE && isnan(*value));
}

// ---- writing ----

static void put_bytes(struct recording_buffer *out, const struct host_memory_bytes *bytes,
                      const struct host_memory_bytes *before) {
    put_both(out, bytes->local, before->local);
    put_both(out, bytes->remote, before->remote);
    put_both(out, bytes->all, before->all);
}

static void put_node(struct recording_buffer *out, const struct host_memory_node *node) {
    const struct host_memory_access *access = &node->access;
    bytes_put_varint(out, node->id);
    bytes_put_signed(out, node->socket);
    bytes_put_signed(out, node->tier);
    bytes_put_varint(out, node->kind);
    put_value(out, node->bytes);
    put_value(out, node->free_bytes);
    put_value(out, access->read_bytes_per_second);
    put_value(out, access->write_bytes_per_second);
    put_value(out, access->read_seconds);
    put_value(out, access->write_seconds);
    for (size_t i = 0; i < HOST_MEMORY_COUNTS_N; i++)
        put_both(out, node->counts[i], node->before[i]);
}

int recording_put_memory(struct recording_buffer *out, const struct host_memory *memory) {
    size_t begin = bytes_begin(out, RECORDING_MEMORY);
    if (!memory)
        return bytes_end(out, begin);
    bytes_put_double(out, memory->timestamp_seconds);
    bytes_put_double(out, memory->seconds);
    bytes_put_varint(out, memory->resctrl);
    bytes_put_text(out, memory->problem);
    bytes_put_varint(out, HOST_MEMORY_TOTALS_N);
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++)
        put_both(out, memory->totals[i], memory->totals_before[i]);
    bytes_put_varint(out, memory->n_nodes);
    for (size_t i = 0; i < memory->n_nodes; i++)
        put_node(out, &memory->nodes[i]);
    bytes_put_varint(out, memory->n_domains);
    for (size_t i = 0; i < memory->n_domains; i++) {
        const struct host_memory_domain *domain = &memory->domains[i];
        bytes_put_varint(out, domain->id);
        bytes_put_signed(out, domain->socket);
        put_bytes(out, &domain->bytes, &domain->before);
    }
    return bytes_end(out, begin);
}

// ---- reading ----

// A number of which -1 says that it is not known.
static int get_known(struct bytes_cursor *in) {
    int64_t number = bytes_get_signed(in);
    in->bad = in->bad || number < -1 || number > INT_MAX;
    return in->bad ? -1 : (int)number;
}

static void get_bytes(struct bytes_cursor *in, struct host_memory_bytes *bytes, struct host_memory_bytes *before) {
    get_both(in, &bytes->local, &before->local);
    get_both(in, &bytes->remote, &before->remote);
    get_both(in, &bytes->all, &before->all);
}

static void get_node(struct bytes_cursor *in, struct host_memory_node *node) {
    struct host_memory_access *access = &node->access;
    node->id = (unsigned)bytes_get_varint(in, UINT_MAX);
    node->socket = get_known(in);
    node->tier = get_known(in);
    node->kind = (enum host_memory_kind)bytes_get_varint(in, HOST_MEMORY_WITHOUT_CPUS);
    node->bytes = get_value(in);
    node->free_bytes = get_value(in);
    access->read_bytes_per_second = get_value(in);
    access->write_bytes_per_second = get_value(in);
    access->read_seconds = get_value(in);
    access->write_seconds = get_value(in);
    for (size_t i = 0; i < HOST_MEMORY_COUNTS_N; i++)
        get_both(in, &node->counts[i], &node->before[i]);
}

static void get_nodes(struct bytes_cursor *in, struct host_memory *memory) {
    memory->n_nodes = (size_t)bytes_get_varint(in, HOST_MEMORY_NODES_MAX);
    for (size_t i = 0; i < memory->n_nodes && !in->bad; i++) {
        get_node(in, &memory->nodes[i]);
        in->bad = in->bad || (i > 0 && memory->nodes[i].id <= memory->nodes[i - 1].id);
    }
}

static void get_domains(struct bytes_cursor *in, struct host_memory *memory) {
    memory->n_domains = (size_t)bytes_get_varint(in, HOST_MEMORY_DOMAINS_MAX);
    for (size_t i = 0; i < memory->n_domains && !in->bad; i++) {
        struct host_memory_domain *domain = &memory->domains[i];
        domain->id = (unsigned)bytes_get_varint(in, UINT_MAX);
        domain->socket = get_known(in);
        get_bytes(in, &domain->bytes, &domain->before);
    }
}

static void get_reading(struct bytes_cursor *in, struct host_memory *memory) {
    char problem[RECORDING_TEXT_MAX + 1];
    memory->timestamp_seconds = get_double(in);
    memory->seconds = get_double(in);
    memory->resctrl = (enum resctrl_state)bytes_get_varint(in, RESCTRL_STATES_N - 1);
    bytes_get_text(in, problem);
    in->bad = in->bad || strlen(problem) >= sizeof memory->problem;
    size_t n = (size_t)bytes_get_varint(in, HOST_MEMORY_TOTALS_N);
    for (size_t i = 0; i < n && !in->bad; i++)
        get_both(in, &memory->totals[i], &memory->totals_before[i]);
    get_nodes(in, memory);
    get_domains(in, memory);
    if (!in->bad)
        memcpy(memory->problem, problem, strlen(problem) + 1);
}

int recording_get_memory(const struct recording_record *record, struct host_memory **out) {
    struct bytes_cursor in = {.at = record->bytes, .end = record->bytes + record->n};
    if (record->n == 0) {
        *out = NULL;
        return 0;
    }
    struct host_memory *memory = host_memory_new();
    if (!memory)
        return -ENOMEM;
    get_reading(&in, memory);
    if (!bytes_done(&in)) {
        host_memory_unref(memory);
        return -EBADMSG;
    }
    host_memory_sum_sockets(memory);
    *out = memory;
    return 0;
}
