// SPDX-License-Identifier: Apache-2.0
#include "core/uncore/uncore_most.h"

#include <math.h>
#include <string.h>

#include "core/uncore/uncore.h"

static bool is_dram(enum traffic traffic) {
    return traffic == TRAFFIC_MEMORY_READ || traffic == TRAFFIC_MEMORY_WRITE || traffic == TRAFFIC_MEMORY_ALL;
}

// Of an event that the configuration names, of which the kernel says what a count is.
static double most_of_chosen(const struct catalog *catalog, unsigned event) {
    for (size_t m = 0; m < catalog->n_metrics && catalog->product.chosen; m++) {
        const struct catalog_metric *metric = &catalog->metrics[m];
        const struct formula_sum *sum = &metric->formula->numerator;
        double most = strcmp(metric->units, "joules") == 0  ? UNCORE_MOST_WATTS
                      : strcmp(metric->units, "bytes") == 0 ? UNCORE_MOST_BYTES_A_SECOND
                                                            : INFINITY;
        double k;
        if (catalog_metric_ratio(metric, &k) && k > 0 && sum->n == 1 && sum->terms[0].variable == event)
            return most / (k * sum->terms[0].coefficient);
    }
    return INFINITY;
}

double uncore_most(const struct catalog *catalog, unsigned event, const struct topology_socket *socket) {
    double bytes = 0;
    enum traffic traffic = uncore_traffic(catalog, event, &bytes);
    bool known = socket->peak == TOPOLOGY_PEAK_HOST;
    if (traffic == TRAFFIC_NONE || !(bytes > 0))
        return most_of_chosen(catalog, event);
    return (is_dram(traffic) && known && socket->memory_bytes_per_second > 0
                ? UNCORE_MOST_PEAKS * socket->memory_bytes_per_second
                : UNCORE_MOST_BYTES_A_SECOND) /
           bytes;
}
