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
enum { KEY_BYTES = 32, JOBS_MAX = 16, RIGHT_MAX = 16, WRONG_MAX = 64, REST_FACTOR = 3, NICE = 10 };

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
    uint8_t client[WEB_CLIENT_BYTES];
    char password[WEB_PASSWORD_BYTES_MAX + 1];
    char hash[WEB_HASH_BYTES + 1];
    void *who;
    uint64_t number; // counts questions
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
    uint64_t n_questions;
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

// ---- questions ----

// The number of different passwords that wait, of one client or of all.
static size_t count_waiting(const struct web_gate *gate, const uint8_t *client) {
    size_t n = 0;
    for (size_t i = 0; i < JOBS_MAX; i++) {
        const struct job *job = &gate->jobs[i];
        bool counts = job->state == JOB_WAITS && (!client || memcmp(job->client, client, WEB_CLIENT_BYTES) == 0);
        for (size_t k = 0; k < i && counts; k++)
            counts =
                gate->jobs[k].state != JOB_WAITS || memcmp(gate->jobs[k].key.bytes, job->key.bytes, KEY_BYTES) != 0;
        n += counts;
    }
    return n;
}

static bool waits(const struct web_gate *gate, const struct key *key) {
    bool found = false;
    for (size_t i = 0; i < JOBS_MAX; i++)
        found |= gate->jobs[i].state == JOB_WAITS && gnutls_memcmp(gate->jobs[i].key.bytes, key->bytes, KEY_BYTES) == 0;
    return found;
}

static enum web_verdict enqueue(struct web_gate *gate, const struct web_question *question, const struct key *key,
                                const char *hash) {
    struct job *job = gate->jobs;
    while (job < gate->jobs + JOBS_MAX && job->state != JOB_FREE)
        job++;
    if (job == gate->jobs + JOBS_MAX)
        return WEB_BUSY;
    if (!waits(gate, key) && (count_waiting(gate, NULL) >= WEB_WAITING_MAX ||
                              count_waiting(gate, question->client) >= WEB_CLIENT_WAITING_MAX))
        return WEB_BUSY;
    *job = (struct job){.state = JOB_WAITS, .key = *key, .who = question->who, .number = gate->n_questions++};
    memcpy(job->client, question->client, WEB_CLIENT_BYTES);
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
            gate->jobs[i].state = JOB_DONE;
            gate->jobs[i].verdict = WEB_BUSY;
        }
    pthread_mutex_unlock(&gate->lock);
}

// ---- the thread ----

static const struct job *oldest_question(const struct web_gate *gate) {
    const struct job *oldest = NULL;
    for (size_t i = 0; i < JOBS_MAX; i++)
        if (gate->jobs[i].state == JOB_WAITS && (!oldest || gate->jobs[i].number < oldest->number))
            oldest = &gate->jobs[i];
    return oldest;
}

// Answers all who asked the same.
static void settle(struct web_gate *gate, const struct key *key, bool right) {
    remember(right ? &gate->right : &gate->wrong, key);
    for (size_t i = 0; i < JOBS_MAX; i++) {
        struct job *job = &gate->jobs[i];
        if (job->state != JOB_WAITS || memcmp(job->key.bytes, key->bytes, KEY_BYTES) != 0)
            continue;
        job->state = JOB_DONE;
        job->verdict = right ? WEB_GRANTED : WEB_DENIED;
    }
    eventfd_write(gate->wake_fd, 1);
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Questions wait meanwhile. Under the lock.
static void rest(struct web_gate *gate, uint64_t rest_ns) {
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + rest_ns;
    const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000)};
    while (!gate->stopping && pthread_cond_timedwait(&gate->news, &gate->lock, &end) == 0) {
    }
}

// Computes the oldest question, without the lock meanwhile.
static void answer_oldest(struct web_gate *gate, const struct job *oldest) {
    struct job job = *oldest;
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
        const struct job *oldest = oldest_question(gate);
        if (oldest)
            answer_oldest(gate, oldest);
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
    int r = getrandom(gate->salt, KEY_BYTES, 0) == KEY_BYTES ? 0 : -EIO;
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
