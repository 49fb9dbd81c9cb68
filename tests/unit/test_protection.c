// SPDX-License-Identifier: Apache-2.0
// The watch over web configuration files, where the clock of the host and those of its files disagree.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/run/protection.h"

enum { HOUR = 3600 };

static time_t set_back; // seconds

time_t time(time_t *out) { // in place of the C library's
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time_t seconds = now.tv_sec - set_back;
    if (out)
        *out = seconds;
    return seconds;
}

static void count_reading(void *context) { ++*(unsigned *)context; }

static void ignore_end(bool in_force, void *context) {
    (void)context;
    assert_true(in_force);
}

// How often a file that was written just before is read again at the first look.
static unsigned readings(void) {
    char path[] = "/tmp/topdownd-web-XXXXXX";
    int fd = mkstemp(path);
    unsigned n = 0;
    struct errors errors = {0};
    struct options options = {.web.config = path};
    struct web *web;
    struct http_server *server;
    struct protection *protection;
    sd_event *loop;
    double expiry_seconds = 0;
    const struct protection_caller caller = {count_reading, ignore_end, &n, &expiry_seconds};
    assert_true(fd >= 0 && write(fd, "http_server_config:\n", 20) == 20);
    assert_int_equal(protection_load(&options, &errors, &web), 0);
    assert_int_equal(http_server_new(NULL, 0, &server), 0);
    assert_int_equal(protection_apply(server, web, &errors), 0);
    assert_true(sd_event_new(&loop) >= 0);
    assert_int_equal(protection_new(loop, &options, server, web, &caller, &protection), 0);
    assert_true(sd_event_run(loop, 4 * (uint64_t)PROTECTION_LOOK_US) > 0);
    assert_true(isnan(expiry_seconds)); // there is no certificate
    protection_free(protection);
    sd_event_unref(loop);
    http_server_free(server);
    web_unref(web);
    close(fd);
    unlink(path);
    return n;
}

static void test_a_file_that_has_just_changed_is_read_once_more(void **state) {
    (void)state;
    set_back = 0;
    assert_int_equal(readings(), 1);
}

static void test_a_file_from_the_future_is_not_read_again_until_then(void **state) {
    (void)state;
    set_back = HOUR;
    assert_int_equal(readings(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_that_has_just_changed_is_read_once_more),
        cmocka_unit_test(test_a_file_from_the_future_is_not_read_again_until_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
