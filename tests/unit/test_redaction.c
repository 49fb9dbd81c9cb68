// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/bundle/redaction.h"

// What a bundle takes out of its texts, and what it leaves.

static struct redaction known(void) {
    struct redaction known = {0}, *redaction = &known;
    redaction_add(redaction, "db-17", "HOST");
    redaction_add(redaction, "db-17.corp.example", "HOST");
    redaction_add(redaction, "alice", "USER");
    redaction_add(redaction, "/etc/ssl/server.key", "SECRET");
    redaction_add(redaction, "x", "NEVER");
    redaction_add(redaction, "", "NEVER");
    redaction_add(redaction, NULL, "NEVER");
    assert_false(known.failed);
    return known;
}

static void expect(const char *text, const char *expected) {
    struct redaction redaction = known();
    struct text out = {0};
    redaction_text(&redaction, text, strlen(text), &out);
    text_append(&out, "", 1);
    assert_false(out.failed);
    assert_string_equal(out.data, expected);
    text_free(&out);
    redaction_deinit(&redaction);
}

static void test_names_are_taken_out_as_whole_words(void **state) {
    (void)state;
    expect("host db-17.corp.example (db-17), DB-17", "host HOST (HOST), HOST");
    expect("alice's malice of alice_2", "USER's malice of alice_2");
    expect("key=/etc/ssl/server.key.", "key=SECRET.");
    expect("\"alice\":\"db-17\"", "\"USER\":\"HOST\"");
    expect("x", "x");
    expect("", "");
}

static void test_homes_and_hashes_are_taken_out(void **state) {
    (void)state;
    expect("/home/bob.b/recording and /home/", "/home/USER/recording and /home/");
    expect("prometheus: '$2y$10$Qp7vYz3kLm9sXw2bNc5dRe/fGhJkLpOiUyTrEwQaZxCvBnMqWsEd.'", "prometheus: 'HASH'");
    expect("costs $5 or $2$ and $1", "costs $5 or $2$ and $1");
}

static void test_addresses_are_taken_out_and_the_loopback_stays(void **state) {
    (void)state;
    expect("10.1.2.3:9100, 127.0.0.1:10813, 0.0.0.0 and [::1]", "ADDRESS:9100, 127.0.0.1:10813, 0.0.0.0 and [::1]");
    expect("[2001:db8::17]:80 fe80::1 1:2:3:4:5:6:7:8", "[ADDRESS]:80 ADDRESS ADDRESS");
    expect("card 52:54:00:12:34:56", "card ADDRESS");
    expect("::ffff:10.1.2.3 and [::ffff:192.168.17.4]:9100", "ADDRESS and [ADDRESS]:9100");
    expect("2001:db8:1:2:3:4:5:6: refused; 52:54:00:12:34:56: down; 2001:db8::17: up.",
           "ADDRESS: refused; ADDRESS: down; ADDRESS: up.");
    expect("listen:          192.168.117.104\n- \n  10.1.2.3", "listen:          ADDRESS\n- \n  ADDRESS");
    expect("at 20:34:14, 0000:00:1f.0, 6.1.0-18, 1.2.3.4.5, 300.1.2.3, ffffffff,00000001",
           "at 20:34:14, 0000:00:1f.0, 6.1.0-18, 1.2.3.4.5, 300.1.2.3, ffffffff,00000001");
}

static void test_words_may_be_many_and_long(void **state) {
    (void)state;
    enum { USERS = 1000, KEY_BYTES = 2000 };
    struct redaction redaction = {0};
    struct text in = {0}, out = {0};
    char user[16], key[KEY_BYTES + 1];
    memset(key, 'k', KEY_BYTES);
    key[KEY_BYTES] = '\0';
    redaction_add(&redaction, key, "KEY");
    for (int i = 0; i < USERS; i++) {
        (void)snprintf(user, sizeof user, "user-%d", i);
        redaction_add(&redaction, user, "U");
        text_format(&in, "%s ", user);
    }
    text_string(&in, key);
    assert_false(redaction.failed || in.failed);
    redaction_text(&redaction, in.data, in.length, &out);
    assert_false(out.failed);
    assert_int_equal(out.length, USERS * 2 + 3);
    assert_memory_equal(out.data, "U U U U ", 8);
    assert_memory_equal(out.data + (size_t)USERS * 2, "KEY", 3);
    text_free(&in);
    text_free(&out);
    redaction_deinit(&redaction);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_taken_out_as_whole_words),
        cmocka_unit_test(test_homes_and_hashes_are_taken_out),
        cmocka_unit_test(test_addresses_are_taken_out_and_the_loopback_stays),
        cmocka_unit_test(test_words_may_be_many_and_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
