// SPDX-License-Identifier: Apache-2.0
// Passwords are computed by a thread, remembered, and bounded. Hashes are of the least cost, so that a computation
// takes a millisecond, and of cost 11 where one must take long.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "exporters/web/web_gate.h"

// both of "secret"
#define QUICK "$2y$04$9hWVWUlMW.dwRhwsmpp9uukXx7aOXVfO8ENR/B0F3m27LpB8fYnrC"
#define SLOW "$2y$11$sujWIoO8xk/5v9Qrna0y9OOuUXmI5kACjeJYQyOEsg.dZUw7vbOZO"

enum { PATIENCE_MS = 60000 };

struct fixture {
    int wake_fd;
    struct web_gate *gate;
    struct web *web;
};

static struct web *make_web(const char *alice, const char *bob) {
    struct errors errors = {0};
    struct web_settings *settings = calloc(1, sizeof *settings);
    struct web *web;
    assert_non_null(settings);
    settings->users = calloc(2, sizeof *settings->users);
    settings->users[settings->n_users++] = (struct web_user){strdup("alice"), strdup(alice)};
    if (bob)
        settings->users[settings->n_users++] = (struct web_user){strdup("bob"), strdup(bob)};
    assert_int_equal(web_new(settings, &errors, &web), 0);
    return web;
}

static uint64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Whether a password that was asked before then has had the time that it may wait.
static bool waited_in_vain(uint64_t asked_ns) {
    return now_ns(CLOCK_MONOTONIC) - asked_ns >= (uint64_t)(WEB_QUEUE_WAIT_MS - 1) * 1000000;
}

static int begin(struct fixture *f, const char *hash) {
    f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    f->web = make_web(hash, NULL);
    return web_gate_new(f->wake_fd, &f->gate);
}

static void end(struct fixture *f) {
    assert_null(web_gate_free(f->gate));
    web_unref(f->web);
    close(f->wake_fd);
}

static enum web_verdict ask(const struct fixture *f, const char *name, const char *password, uint8_t client,
                            void *who) {
    struct web_credentials credentials = {0};
    const uint8_t address[WEB_CLIENT_BYTES] = {client};
    (void)snprintf(credentials.name, sizeof credentials.name, "%s", name);
    (void)snprintf(credentials.password, sizeof credentials.password, "%s", password);
    return web_gate_ask(f->gate, &(struct web_question){f->web, &credentials, address, who});
}

static enum web_verdict wait_for(const struct fixture *f, void **who) {
    enum web_verdict verdict;
    struct pollfd woken = {.fd = f->wake_fd, .events = POLLIN};
    eventfd_t n;
    while (!web_gate_answer(f->gate, who, &verdict)) {
        assert_int_equal(poll(&woken, 1, PATIENCE_MS), 1);
        (void)eventfd_read(f->wake_fd, &n);
    }
    return verdict;
}

static void test_an_answer_comes_later_and_then_at_once(void **state) {
    static const struct {
        const char *name, *password;
        enum web_verdict verdict;
    } asked[] = {{"alice", "secret", WEB_GRANTED},
                 {"alice", "Secret", WEB_DENIED},
                 {"alice", "", WEB_DENIED},
                 {"carol", "secret", WEB_DENIED},
                 {"", "", WEB_DENIED}};
    struct fixture f;
    (void)state;
    assert_int_equal(begin(&f, QUICK), 0);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        void *who = NULL;
        assert_int_equal(ask(&f, asked[i].name, asked[i].password, 1, &f), WEB_WAIT);
        assert_int_equal(wait_for(&f, &who), asked[i].verdict);
        assert_ptr_equal(who, &f);
        assert_int_equal(ask(&f, asked[i].name, asked[i].password, 2, &f), asked[i].verdict);
    }
    end(&f);
}

static void test_a_changed_hash_makes_a_new_question(void **state) {
    struct fixture f;
    void *who;
    (void)state;
    assert_int_equal(begin(&f, QUICK), 0);
    assert_int_equal(ask(&f, "alice", "secret", 1, &f), WEB_WAIT);
    assert_int_equal(wait_for(&f, &who), WEB_GRANTED);
    web_unref(f.web);
    f.web = make_web("$2y$04$HSVQHjtgzwGztUCP0q2ENuKDUnDfewJ8jgp7UGVWMxZYTmRtzRGZ6", NULL); // of something else
    assert_int_equal(ask(&f, "alice", "secret", 1, &f), WEB_WAIT);
    assert_int_equal(wait_for(&f, &who), WEB_DENIED);
    end(&f);
}

// More than may wait: each is answered all the same, and nobody is refused for what another client asks. On a machine
// so busy that the thread computes nothing for the time that a password may wait, the other client asks again.
static void test_few_passwords_wait_and_a_client_that_asks_much_is_refused(void **state) {
    struct fixture f;
    char password[8];
    int n = 0, busy = 0;
    (void)state;
    assert_int_equal(begin(&f, SLOW), 0);
    for (int i = 0; i < WEB_QUEUE_CLIENT_MAX + 24; i++) {
        (void)snprintf(password, sizeof password, "%d", i);
        enum web_verdict verdict = ask(&f, "alice", password, 1, NULL);
        assert_true(verdict == WEB_WAIT || verdict == WEB_BUSY);
        n += verdict == WEB_WAIT;
        busy += verdict == WEB_BUSY;
    }
    uint64_t asked_ns = now_ns(CLOCK_MONOTONIC);
    assert_int_equal(ask(&f, "alice", "secret", 2, &f), WEB_WAIT);
    void *who = NULL;
    enum web_verdict verdict = WEB_BUSY;
    while (!who || verdict == WEB_BUSY) { // those of the first client have no `who` here
        verdict = wait_for(&f, &who);
        n -= who == NULL;
        busy += !who && verdict == WEB_BUSY;
        if (!who || verdict != WEB_BUSY)
            continue;
        assert_true(waited_in_vain(asked_ns));
        asked_ns = now_ns(CLOCK_MONOTONIC);
        assert_int_equal(ask(&f, "alice", "secret", 2, &f), WEB_WAIT);
    }
    assert_int_equal(verdict, WEB_GRANTED);
    assert_true(busy > 0);
    web_gate_give_up(f.gate);
    for (; web_gate_answer(f.gate, &who, &verdict); n--)
        assert_true(verdict == WEB_BUSY || verdict == WEB_DENIED);
    assert_int_equal(n, 0);
    end(&f);
}

static void test_all_who_bring_one_password_get_its_answer(void **state) {
    struct fixture f;
    int who[5];
    bool seen[5] = {false};
    (void)state;
    assert_int_equal(begin(&f, SLOW), 0);
    assert_int_equal(ask(&f, "alice", "wrong", 1, NULL), WEB_WAIT); // takes long enough for the others to come
    uint64_t asked_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ask(&f, "alice", "secret", 1, &who[i]), WEB_WAIT);
    for (int i = 0; i < 6; i++) {
        void *of = NULL;
        enum web_verdict verdict = wait_for(&f, &of);
        if (of && verdict == WEB_BUSY)
            assert_true(waited_in_vain(asked_ns)); // the machine is so busy that the first one took as long
        else
            assert_int_equal(verdict, of ? WEB_GRANTED : WEB_DENIED);
        if (of)
            seen[(int *)of - who] = true;
    }
    for (int i = 0; i < 5; i++)
        assert_true(seen[i]);
    end(&f);
}

// CPU time of the process until the answer.
static double cost_of(const struct fixture *f, const char *name, const char *password) {
    void *who;
    uint64_t begun = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    assert_int_equal(ask(f, name, password, 1, NULL), WEB_WAIT);
    assert_int_equal(wait_for(f, &who), WEB_DENIED);
    return (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - begun);
}

static void test_a_name_that_nobody_has_costs_as_much_as_another(void **state) {
    struct fixture f;
    char password[8];
    double known = 0, unknown = 0;
    (void)state;
    assert_int_equal(begin(&f, SLOW), 0);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(password, sizeof password, "%d", i);
        known += cost_of(&f, "alice", password);
        unknown += cost_of(&f, "carol", password);
    }
    assert_true(unknown > known / 2 && unknown < known * 2);
    end(&f);
}

static void test_after_wrong_passwords_the_thread_rests(void **state) {
    struct fixture f;
    char password[8];
    void *who;
    (void)state;
    assert_int_equal(begin(&f, SLOW), 0);
    uint64_t begun = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(password, sizeof password, "%d", i);
        assert_int_equal(ask(&f, "alice", password, 1, NULL), WEB_WAIT);
        assert_int_equal(wait_for(&f, &who), WEB_DENIED);
    }
    double elapsed = (double)(now_ns(CLOCK_MONOTONIC) - begun), used = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    assert_true(used < 0.4 * elapsed); // four computations and three rests: 4 / 13
    end(&f);
}

static void test_what_is_no_basic_authorization_is_not_read(void **state) {
    static const char *const wrong[] = {"",
                                        "Basic",
                                        "Basic ",
                                        "Basic !",
                                        "Basic YWxpY2U=",           // alice, without a colon
                                        "Basic YWxpY2U6c2VjcmV0AA", // with a zero byte
                                        "Bearer YWxpY2U6c2VjcmV0"};
    struct web_credentials read = {.name = "untouched"};
    char longest[1024] = "Basic ";
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(web_credentials_read(wrong[i], &read));
    memset(longest + strlen(longest), 'Y', sizeof longest - strlen(longest) - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(web_credentials_read(longest, &read));
    assert_string_equal(read.name, "untouched");
    assert_true(web_credentials_read("basic YWxpY2U6c2U6Y3JldA==", &read));
    assert_string_equal(read.name, "alice");
    assert_string_equal(read.password, "se:cret");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_comes_later_and_then_at_once),
        cmocka_unit_test(test_a_changed_hash_makes_a_new_question),
        cmocka_unit_test(test_few_passwords_wait_and_a_client_that_asks_much_is_refused),
        cmocka_unit_test(test_all_who_bring_one_password_get_its_answer),
        cmocka_unit_test(test_a_name_that_nobody_has_costs_as_much_as_another),
        cmocka_unit_test(test_after_wrong_passwords_the_thread_rests),
        cmocka_unit_test(test_what_is_no_basic_authorization_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
