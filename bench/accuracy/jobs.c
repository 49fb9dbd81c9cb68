// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct queue {
    unsigned n;
    atomic_uint next;
    void (*run)(void *context, unsigned job);
    void *context;
};

static void *run_worker(void *context) {
    struct queue *queue = context;
    for (unsigned job = atomic_fetch_add(&queue->next, 1); job < queue->n; job = atomic_fetch_add(&queue->next, 1))
        queue->run(queue->context, job);
    return NULL;
}

void jobs_run(unsigned n, unsigned threads, void (*run)(void *context, unsigned job), void *context) {
    struct queue queue = {.n = n, .run = run, .context = context};
    pthread_t workers[JOBS_MAX];
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&workers[i], NULL, run_worker, &queue) != 0)
            abort();
    for (unsigned i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
}
