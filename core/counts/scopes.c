// SPDX-License-Identifier: Apache-2.0
#include "core/counts/scopes.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct scopes *scopes = self;
    scopes->cpus = block_take(block, 2 * scopes->topology->n_cpus, sizeof *scopes->cpus);
    scopes->socket = block_take(block, scopes->topology->n_sockets + 1, sizeof *scopes->socket);
}

struct scopes *scopes_new(const struct topology *topology) {
    struct scopes scopes = {.topology = topology, .n = scope_count(topology)};
    struct scopes *made = block_new(&scopes, sizeof scopes, lay_out);
    if (!made)
        return NULL;
    size_t n = 0;
    for (; n < topology->n_cpus; n++)
        made->cpus[n] = (unsigned)n;
    for (size_t socket = 0; socket < topology->n_sockets; socket++) {
        made->socket[socket] = n;
        for (unsigned cpu = 0; cpu < topology->n_cpus; cpu++)
            if (topology->cpus[cpu].socket == socket)
                made->cpus[n++] = cpu;
    }
    made->socket[topology->n_sockets] = n;
    return made;
}

struct scopes *scopes_free(struct scopes *scopes) {
    free(scopes);
    return NULL;
}

struct scope_cpus scopes_cpus(const struct scopes *scopes, size_t scope) {
    const struct topology *topology = scopes->topology;
    if (scope == 0)
        return (struct scope_cpus){scopes->cpus, topology->n_cpus};
    if (scope > topology->n_sockets)
        return (struct scope_cpus){scopes->cpus + (scope - scope_of_cpu(topology, 0)), 1};
    size_t socket = scope - scope_of_socket(0), begin = scopes->socket[socket];
    return (struct scope_cpus){scopes->cpus + begin, scopes->socket[socket + 1] - begin};
}

size_t scopes_n_cores(const struct scopes *scopes, size_t scope) {
    const struct topology *topology = scopes->topology;
    if (scope == 0)
        return topology->n_cores;
    return scope <= topology->n_sockets ? topology->sockets[scope - scope_of_socket(0)].cores : 1;
}
