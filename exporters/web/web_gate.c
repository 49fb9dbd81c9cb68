// SPDX-License-Identifier: Apache-2.0
#include "exporters/web/web_gate.h"

#include <crypt.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

// REST_FACTOR: a flood of wrong passwords takes at most a quarter of one CPU.
enum { KEY_BYTES = 32, JOBS_MAX = WEB_QUEUE_PLACES, RIGHT_MAX = 16, WRONG_MAX = 64, REST_FACTOR = 3, NICE = 10 };
enum { NS_PER_MS = 1000000 };

struct key {
    uint8_t bytes[KEY_BYTES];
};

// The last answers of one kind; the oldest is replaced.
struct memory {
    struct key keys[WRONG_MAX];
    size_t n, next, size;
};

enum job_state { JOB_FREE, JOB_WAITS, JOB_DONE };

struct job {
    enum job_state state;
    struct key key;
    char password[WEB_PASSWORD_BYTES_MAX + 1];
    char hash[WEB_HASH_BYTES + 1];
    void *who;
    enum web_verdict verdict;
};

typedef char *crypt_function(const char *password, const char *setting, struct crypt_data *data);

struct web_gate {
    void *library;
    crypt_function *crypt;
    int wake_fd;
    uint8_t salt[KEY_BYTES];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news; // by the monotonic clock
    bool stopping;       // under the lock, like all below
    struct job jobs[JOBS_MAX];
    struct web_queue queue; // of the jobs that wait; its places are theirs
    struct memory right, wrong;
    struct crypt_data work; // the thread's
};

// ---- what was answered before ----

// Takes the same time whatever is equal.
static bool remembers(const struct memory *memory, const struct key *key) {
    bool found = false;
    for (size_t i = 0; i < memory->n; i++)
        found |= gnutls_memcmp(memory->keys[i].bytes, key->bytes, KEY_BYTES) == 0;
    return found;
}

static void remember(struct memory *memory, const struct key *key) {
    memory->keys[memory->next] = *key;
    memory->next = (memory->next + 1) % memory->size;
    memory->n += memory->n < memory->size;
}

// Name, hash and password, none of which has a zero byte, so that a changed hash makes another question.
static int make_key(const struct web_gate *gate, const struct web_credentials *credentials, const char *hash,
                    struct key *out) {
    char text[sizeof *credentials + WEB_HASH_BYTES + 3];
    size_t n = 0;
    const char *const parts[] = {credentials->name, hash, credentials->password};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i]) + 1;
        memcpy(text + n, parts[i], length);
        n += length;
    }
    int r = gnutls_hmac_fast(GNUTLS_MAC_SHA256, gate->salt, KEY_BYTES, text, n, out->bytes);
    explicit_bzero(text, sizeof text);
    return r < 0 ? -EIO : 0;
}

// The number of a name that the queue knows it by. Takes as long, and tells as little, whether somebody has it or not.
static int number_name(const struct web_gate *gate, const char *name, size_t *out) {
    struct key key;
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, gate->salt, KEY_BYTES, name, strlen(name), key.bytes) < 0)
        return -EIO;
    *out = key.bytes[0] % WEB_QUEUE_NAMES;
    return 0;
}

// ---- questions ----

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ms(void) { return clock_ns(CLOCK_MONOTONIC) / NS_PER_MS; }

static void finish(struct job *job, enum web_verdict verdict) {
    job->state = JOB_DONE;
    job->verdict = verdict;
    explicit_bzero(job->password, sizeof job->password);
}

static enum web_verdict enqueue(struct web_gate *gate, const struct web_question *question, const struct key *key,
                                const char *hash) {
    struct web_queue_asker asker = {.address = question->client};
    struct job *job = gate->jobs;
    while (job < gate->jobs + JOBS_MAX && job->state != JOB_FREE)
        job++;
    if (job == gate->jobs + JOBS_MAX || number_name(gate, question->credentials->name, &asker.name) < 0)
        return WEB_BUSY; // answers wait to be taken
    size_t place = (size_t)(job - gate->jobs);
    int refused = web_queue_add(&gate->queue, place, &asker, now_ms());
    if (refused == (int)place)
        return WEB_BUSY;
    if (refused >= 0) {
        finish(&gate->jobs[refused], WEB_BUSY);
        eventfd_write(gate->wake_fd, 1);
    }
    *job = (struct job){.state = JOB_WAITS, .key = *key, .who = question->who};
    strcpy(job->password, question->credentials->password);
    strcpy(job->hash, hash);
    pthread_cond_signal(&gate->news);
    return WEB_WAIT;
}

enum web_verdict web_gate_ask(struct web_gate *gate, const struct web_question *question) {
    const struct web_user *user = web_find_user(question->web, question->credentials->name);
    char hash[WEB_HASH_BYTES + 1];
    struct key key;
    if (user)
        strcpy(hash, user->hash);
    else
        web_nobodys_hash(question->web, hash);
    if (make_key(gate, question->credentials, hash, &key) < 0)
        return WEB_BUSY;
    pthread_mutex_lock(&gate->lock);
    enum web_verdict verdict = remembers(&gate->right, &key)   ? WEB_GRANTED
                               : remembers(&gate->wrong, &key) ? WEB_DENIED
                                                               : enqueue(gate, question, &key, hash);
    pthread_mutex_unlock(&gate->lock);
    return verdict;
}

bool web_gate_answer(struct web_gate *gate, void **who, enum web_verdict *verdict) {
    bool found = false;
    pthread_mutex_lock(&gate->lock);
    for (size_t i = 0; i < JOBS_MAX && !found; i++) {
        struct job *job = &gate->jobs[i];
        if (job->state != JOB_DONE)
            continue;
        *who = job->who;
        *verdict = job->verdict;
        explicit_bzero(job, sizeof *job);
        found = true;
    }
    pthread_mutex_unlock(&gate->lock);
    return found;
}

void web_gate_give_up(struct web_gate *gate) {
    pthread_mutex_lock(&gate->lock);
    for (size_t i = 0; i < JOBS_MAX; i++)
        if (gate->jobs[i].state == JOB_WAITS) {
            web_queue_remove(&gate->queue, i, false);
            finish(&gate->jobs[i], WEB_BUSY);
        }
    pthread_mutex_unlock(&gate->lock);
}

// ---- the thread ----

// Refuses the questions that have waited for too long.
static void refuse_expired(struct web_gate *gate) {
    int place = web_queue_expire(&gate->queue, now_ms());
    if (place >= 0)
        eventfd_write(gate->wake_fd, 1);
    for (; place >= 0; place = web_queue_expire(&gate->queue, now_ms()))
        finish(&gate->jobs[place], WEB_BUSY);
}

// Answers all who asked the same.
static void settle(struct web_gate *gate, const struct key *key, bool right) {
    remember(right ? &gate->right : &gate->wrong, key);
    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &gate->jobs[i];
        if (job->state != JOB_WAITS || memcmp(job->key.bytes, key->bytes, KEY_BYTES) != 0)
            continue;
        web_queue_remove(&gate->queue, i, right);
        finish(job, right ? WEB_GRANTED : WEB_DENIED);
    }
    eventfd_write(gate->wake_fd, 1);
}

// Questions wait meanwhile, and no longer than they may. Under the lock.
static void rest(struct web_gate *gate, uint64_t rest_ns) {
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + rest_ns;
    while (!gate->stopping && clock_ns(CLOCK_MONOTONIC) < end_ns) {
        uint64_t until_ms = web_queue_end_ms(&gate->queue);
        uint64_t until_ns = until_ms < end_ns / NS_PER_MS ? until_ms * NS_PER_MS : end_ns;
        const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                       .tv_nsec = (long)(until_ns % 1000000000)};
        (void)pthread_cond_timedwait(&gate->news, &gate->lock, &until);
        refuse_expired(gate);
    }
}

// Computes the question whose turn it is, without the lock meanwhile.
static void answer(struct web_gate *gate, const struct job *next) {
    struct job job = *next;
    pthread_mutex_unlock(&gate->lock);
    uint64_t begun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const char *computed = gate->crypt(job.password, job.hash, &gate->work);
    bool right =
        computed && strlen(computed) == WEB_HASH_BYTES && gnutls_memcmp(computed, job.hash, WEB_HASH_BYTES) == 0;
    uint64_t used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
    explicit_bzero(&gate->work, sizeof gate->work);
    explicit_bzero(job.password, sizeof job.password);
    pthread_mutex_lock(&gate->lock);
    settle(gate, &job.key, right);
    if (!right)
        rest(gate, used_ns * REST_FACTOR);
}

static void *check_passwords(void *context) {
    struct web_gate *gate = context;
    (void)setpriority(PRIO_PROCESS, 0, NICE); // of this thread; where the service may not, the rests must do
    pthread_mutex_lock(&gate->lock);
    while (!gate->stopping) {
        refuse_expired(gate);
        int place = web_queue_take(&gate->queue);
        if (place >= 0)
            answer(gate, &gate->jobs[place]);
        else
            pthread_cond_wait(&gate->news, &gate->lock);
    }
    pthread_mutex_unlock(&gate->lock);
    return NULL;
}

// ---- beginning and end ----

// The library is loaded only where there are passwords: elsewhere it would take memory for nothing.
static int load_library(struct web_gate *gate) {
    static const char *const names[] = {"libcrypt.so.1", "libcrypt.so.2"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !gate->library; i++)
        gate->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    void *symbol = gate->library ? dlsym(gate->library, "crypt_r") : NULL;
    if (!symbol)
        return -ENOENT;
    memcpy(&gate->crypt, &symbol, sizeof symbol); // ISO C has no cast from data to functions
    return 0;
}

static int start(struct web_gate *gate) {
    pthread_condattr_t monotonic;
    sigset_t all, before;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&gate->lock, NULL);
    sigfillset(&all); // the daemon's main thread handles all signals
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&gate->thread, NULL, check_passwords, gate);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r == 0)
        return 0;
    pthread_mutex_destroy(&gate->lock);
    pthread_cond_destroy(&gate->news);
    return -r;
}

static void unload(struct web_gate *gate) {
    if (gate->library)
        dlclose(gate->library);
    free(gate);
}

int web_gate_new(int wake_fd, struct web_gate **out) {
    struct web_gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return -ENOMEM;
    gate->wake_fd = wake_fd;
    gate->right.size = RIGHT_MAX;
    gate->wrong.size = WRONG_MAX;
    uint64_t seed = 0;
    int r =
        getrandom(gate->salt, KEY_BYTES, 0) == KEY_BYTES && getrandom(&seed, sizeof seed, 0) == sizeof seed ? 0 : -EIO;
    web_queue_init(&gate->queue, seed);
    if (r == 0)
        r = load_library(gate);
    if (r == 0)
        r = start(gate);
    if (r < 0)
        unload(gate);
    else
        *out = gate;
    return r;
}

struct web_gate *web_gate_free(struct web_gate *gate) {
    if (!gate)
        return NULL;
    pthread_mutex_lock(&gate->lock);
    gate->stopping = true;
    pthread_cond_signal(&gate->news);
    pthread_mutex_unlock(&gate->lock);
    pthread_join(gate->thread, NULL);
    pthread_mutex_destroy(&gate->lock);
    pthread_cond_destroy(&gate->news);
    explicit_bzero(gate->jobs, sizeof gate->jobs);
    unload(gate);
    return NULL;
}
