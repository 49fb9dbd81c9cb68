// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/measure/lease.h"

// A measurement asks the daemon for the counters (daemon/measure/lease.h). The daemon is a child that answers each
// request with the next of the given lines, and then exits with the number of requests that were not as expected.

struct exchange {
    const char *request, *answer;
};

struct daemon {
    char folder[64];
    int fd;
    pid_t child;
};

static bool reads(int fd, const char *wanted) {
    char request[128] = "";
    size_t length = 0;
    while (length + 1 < sizeof request && !strchr(request, '\n')) {
        ssize_t n = read(fd, request + length, sizeof request - 1 - length);
        if (n <= 0)
            break;
        length += (size_t)n;
        request[length] = '\0';
    }
    return strcmp(request, wanted) == 0;
}

static void answer_all(int fd, const struct exchange *exchanges) {
    int wrong = 0;
    (void)alarm(60); // if nobody asks
    for (; exchanges->request; exchanges++) {
        int client = accept(fd, NULL, NULL);
        wrong += client < 0 || !reads(client, exchanges->request) ||
                 write(client, exchanges->answer, strlen(exchanges->answer)) < 0;
        (void)close(client);
    }
    _exit(wrong);
}

static struct daemon begin_daemon(const struct exchange *exchanges) {
    struct daemon daemon = {.folder = "/tmp/topdownd-beside-XXXXXX"};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_non_null(mkdtemp(daemon.folder));
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/control.sock", daemon.folder);
    daemon.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(daemon.fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(daemon.fd, 8), 0);
    daemon.child = fork();
    assert_true(daemon.child >= 0);
    if (daemon.child == 0)
        answer_all(daemon.fd, exchanges);
    return daemon;
}

static void end_daemon(struct daemon *daemon) {
    char path[128];
    int status;
    assert_int_equal(waitpid(daemon->child, &status, 0), daemon->child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    (void)close(daemon->fd);
    (void)snprintf(path, sizeof path, "%s/control.sock", daemon->folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(daemon->folder), 0);
}

static struct lease begin(struct daemon *daemon) {
    struct lease lease;
    struct options options = {.pmu = PMU_AUTO, .paths.run = daemon->folder};
    assert_int_equal(lease_begin(&lease, &options), 0);
    return lease;
}

static void test_a_daemon_that_yields_is_told_when_the_measurement_ends(void **state) {
    static const struct exchange all[] = {{"lease 15\n", "ok 15\n"}, {"lease 0\n", "ok 0\n"}, {NULL, NULL}};
    (void)state;
    struct daemon daemon = begin_daemon(all);
    struct lease lease = begin(&daemon);
    assert_int_equal(lease.state, LEASE_YIELDED);
    lease_end(&lease);
    end_daemon(&daemon);
}

// Ten seconds after the last time, so that one that is late by five does not find the counters taken.
static void test_a_lease_is_renewed_when_it_is_time(void **state) {
    static const struct exchange all[] = {
        {"lease 15\n", "ok 15\n"}, {"lease 15\n", "ok 15\n"}, {"lease 0\n", "ok 0\n"}, {NULL, NULL}};
    (void)state;
    struct daemon daemon = begin_daemon(all);
    struct lease lease = begin(&daemon);
    lease_renew(&lease); // not yet
    lease.renewed_ns -= LEASE_RENEW_SECONDS * UINT64_C(1000000000);
    lease_renew(&lease);
    lease_renew(&lease);
    lease_end(&lease);
    end_daemon(&daemon);
}

// It holds no counters, or has its own reasons: what it measures goes on, and the result must not say "yielded".
static void test_a_daemon_that_refuses_has_not_yielded(void **state) {
    static const char *const answers[] = {"error this daemon holds no counters\n", "ok\n", "220 mail.example\n"};
    (void)state;
    for (size_t i = 0; i < N_OF(answers); i++) {
        const struct exchange all[] = {{"lease 15\n", answers[i]}, {NULL, NULL}};
        struct daemon daemon = begin_daemon(all);
        struct lease lease = begin(&daemon);
        assert_int_equal(lease.state, LEASE_ALONE);
        lease_renew(&lease);
        lease_end(&lease);
        end_daemon(&daemon);
    }
}

static void test_where_nobody_listens_a_measurement_is_alone(void **state) {
    (void)state;
    struct lease lease;
    struct options options = {.pmu = PMU_AUTO, .paths.run = (char *)(uintptr_t) "/nowhere"};
    assert_int_equal(lease_begin(&lease, &options), 0);
    assert_int_equal(lease.state, LEASE_ALONE);
    lease_end(&lease);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_daemon_that_yields_is_told_when_the_measurement_ends),
        cmocka_unit_test(test_a_lease_is_renewed_when_it_is_time),
        cmocka_unit_test(test_a_daemon_that_refuses_has_not_yielded),
        cmocka_unit_test(test_where_nobody_listens_a_measurement_is_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
