// SPDX-License-Identifier: Apache-2.0
// When the server's certificate expires: what is said of it, and what follows a renewal. Certificates are made here, so
// that their ends are known to the second.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gnutls/x509.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/run/protection.h"

enum { DAY = 86400, PEM_MAX = 4096 };

static const time_t END = 1790000000; // 2026-09-21 14:13:20 UTC

struct folder {
    char path[32], web[64], certificate[64], key[64];
};

static void write_file(const char *path, const char *bytes, size_t n, const char *how) {
    FILE *file = fopen(path, how);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static gnutls_x509_privkey_t make_key(void) {
    gnutls_x509_privkey_t key;
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(
        gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0), 0);
    return key;
}

static gnutls_x509_crt_t make_certificate(const char *name, gnutls_x509_privkey_t key, time_t end) {
    gnutls_x509_crt_t made;
    assert_int_equal(gnutls_x509_crt_init(&made), 0);
    assert_int_equal(gnutls_x509_crt_set_version(made, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(made, "\1", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, name, (unsigned)strlen(name)),
                     0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(made, END - 4000 * DAY), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(made, end), 0);
    assert_int_equal(gnutls_x509_crt_set_key(made, key), 0);
    return made;
}

static void append_certificate(const struct folder *folder, gnutls_x509_crt_t certificate) {
    char pem[PEM_MAX];
    size_t n = sizeof pem;
    assert_int_equal(gnutls_x509_crt_export(certificate, GNUTLS_X509_FMT_PEM, pem, &n), 0);
    write_file(folder->certificate, pem, n, "a");
}

// Writes a chain of two: the server's own certificate, and that of its authority.
static void write_chain(const struct folder *folder, time_t own_end, time_t authority_end) {
    char pem[PEM_MAX];
    size_t n = sizeof pem;
    gnutls_x509_privkey_t own_key = make_key(), authority_key = make_key();
    gnutls_x509_crt_t authority = make_certificate("authority", authority_key, authority_end),
                      own = make_certificate("own", own_key, own_end);
    assert_int_equal(gnutls_x509_crt_set_ca_status(authority, 1), 0);
    assert_int_equal(gnutls_x509_crt_sign2(authority, authority, authority_key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_sign2(own, authority, authority_key, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_privkey_export(own_key, GNUTLS_X509_FMT_PEM, pem, &n), 0);
    write_file(folder->key, pem, n, "w");
    (void)unlink(folder->certificate);
    append_certificate(folder, own);
    append_certificate(folder, authority);
    gnutls_x509_crt_deinit(own);
    gnutls_x509_crt_deinit(authority);
    gnutls_x509_privkey_deinit(own_key);
    gnutls_x509_privkey_deinit(authority_key);
}

static void make_folder(struct folder *folder) {
    char text[256];
    strcpy(folder->path, "/tmp/topdownd-tls-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    (void)snprintf(folder->web, sizeof folder->web, "%s/web.yml", folder->path);
    (void)snprintf(folder->certificate, sizeof folder->certificate, "%s/own.pem", folder->path);
    (void)snprintf(folder->key, sizeof folder->key, "%s/own.key", folder->path);
    int n = snprintf(text, sizeof text, "tls_server_config: {cert_file: own.pem, key_file: own.key}\n");
    write_file(folder->web, text, (size_t)n, "w");
}

static void remove_folder(const struct folder *folder) {
    (void)unlink(folder->web);
    (void)unlink(folder->certificate);
    (void)unlink(folder->key);
    (void)rmdir(folder->path);
}

static struct web *load(const char *path) {
    struct errors errors = {0};
    const struct options options = {.web.config = path};
    struct web *web;
    assert_int_equal(protection_load(&options, &errors, &web), 0);
    return web;
}

static void assert_said(const struct web *web, double now_seconds, const char *said) {
    char text[ERROR_TEXT_MAX] = "";
    assert_int_equal(protection_describe_expiry(web, now_seconds, text, sizeof text), said != NULL);
    if (said && !strstr(text, said))
        fail_msg("\"%s\", not \"%s\"", text, said);
}

static void test_it_is_told_of_from_two_weeks_before(void **state) {
    (void)state;
    struct folder folder;
    make_folder(&folder);
    write_chain(&folder, END, END + 900 * DAY);
    struct web *web = load(folder.web);
    assert_true(protection_expiry_seconds(web) == (double)END);
    assert_said(web, (double)END - 14 * DAY - 1, NULL);
    assert_said(web, (double)END - 14 * DAY, "/own.pem: this certificate expires in 14.0 days, 2026-09-21 14:13 UTC");
    assert_said(web, (double)END - DAY / 2, "expires in 0.5 days");
    assert_said(web, (double)END, "/own.pem: this certificate has expired, 2026-09-21 14:13 UTC");
    assert_said(web, (double)END + 900 * DAY, "has expired");
    web_unref(web);
    remove_folder(&folder);
}

static void test_it_is_that_of_the_servers_own_certificate(void **state) {
    (void)state;
    struct folder folder;
    make_folder(&folder);
    write_chain(&folder, END, END - 900 * DAY); // as an old root that some authorities still send
    struct web *web = load(folder.web);
    assert_true(protection_expiry_seconds(web) == (double)END);
    web_unref(web);
    remove_folder(&folder);
}

static void test_without_tls_there_is_none(void **state) {
    (void)state;
    struct folder folder;
    make_folder(&folder);
    write_file(folder.web, "http_server_config:\n", 20, "w");
    struct web *web = load(folder.web);
    assert_true(isnan(protection_expiry_seconds(web)) && isnan(protection_expiry_seconds(NULL)));
    assert_said(web, (double)END, NULL);
    assert_said(NULL, (double)END, NULL);
    web_unref(web);
    remove_folder(&folder);
}

static void do_nothing(void *context) { (void)context; }
static void ignore_end(bool in_force, void *context) { (void)in_force, (void)context; }

static void test_a_renewed_certificate_takes_the_place_of_the_one_before(void **state) {
    (void)state;
    struct folder folder;
    struct errors errors = {0};
    double expiry_seconds = 0;
    const struct protection_caller caller = {do_nothing, ignore_end, NULL, &expiry_seconds};
    struct http_server *server;
    struct protection *protection;
    sd_event *loop;
    make_folder(&folder);
    write_chain(&folder, END, END);
    struct web *web = load(folder.web);
    const struct options options = {.web.config = folder.web};
    assert_int_equal(http_server_new(NULL, 0, &server), 0);
    assert_int_equal(protection_apply(server, web, &errors), 0);
    assert_true(sd_event_new(&loop) >= 0);
    assert_int_equal(protection_new(loop, &options, server, web, &caller, &protection), 0);
    assert_true(expiry_seconds == (double)END);
    web_unref(web);
    write_chain(&folder, END + 90 * DAY, END + 90 * DAY);
    web = load(folder.web);
    assert_int_equal(protection_change(protection, web, &errors), 0);
    assert_true(expiry_seconds == (double)END + 90 * DAY);
    web_unref(web);
    protection_free(protection);
    sd_event_unref(loop);
    http_server_free(server);
    remove_folder(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_told_of_from_two_weeks_before),
        cmocka_unit_test(test_it_is_that_of_the_servers_own_certificate),
        cmocka_unit_test(test_without_tls_there_is_none),
        cmocka_unit_test(test_a_renewed_certificate_takes_the_place_of_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
