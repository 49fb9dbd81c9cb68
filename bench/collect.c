// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of collection: the sampler, readings, derive and snapshots.
//
//     bench_collect [--spec FILE]
//
// Comparisons with a peer whose rounds alternate with topdownd's, so that both meet the same machine. The ratio of the
// CPU times of a round is limited: of the medians on this host, of the least at 1,024 CPUs. The limits are set so that
// a regression of a quarter fails on a machine that is as busy as ./test makes it; on a quiet one the ratios are lower.
// collect/host.c: on this host's CPUs, with a real sleep before each step, against the same system calls alone, once
// with software events as shipped, which need no rotation, and once with the event groups of a Neoverse V2, which
// rotate (its events replaced by software events, so that they can be opened anywhere). FILE names the spec of this
// host's own PMU instead of all that. collect/large.c: what is computed for 1,024 CPUs, against as many exact sums as a
// snapshot has values.

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/collect/collect.h"

static const char *parse(int n_words, char **words) {
    static const struct option known[] = {{"spec", required_argument, NULL, 's'}, {0}};
    const char *spec = NULL;
    for (int option; (option = getopt_long(n_words, words, "", known, NULL)) != -1;) {
        if (option != 's') {
            (void)fprintf(stderr, "usage: bench_collect [--spec FILE]\n");
            exit(EXIT_FAILURE);
        }
        spec = optarg;
    }
    return spec;
}

int main(int n_words, char **words) {
    const char *spec = parse(n_words, words);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    bool large = spec || collect_large(), host = collect_host(spec);
    return large && host ? EXIT_SUCCESS : EXIT_FAILURE;
}
