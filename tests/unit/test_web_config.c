// SPDX-License-Identifier: Apache-2.0
// Web configuration files: what the schema of Prometheus' exporters means here, and what is refused with which words.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/web/web_config.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define HASH "$2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze"
#define PAIR "cert_file: a, key_file: b"

static struct web_settings *parse(const char *text) {
    struct errors errors = {0};
    struct web_settings *settings = NULL;
    char line[ERROR_LINE_MAX] = "";
    if (web_config_parse("/etc/web/w.yml", text, strlen(text), &errors, &settings) < 0)
        (void)error_format(&errors.items[0], line, sizeof line);
    assert_string_equal(line, "");
    assert_int_equal(errors.n, 0);
    return settings;
}

static void test_a_whole_file_means_what_it_says(void **state) {
    (void)state;
    struct web_settings *s =
        parse("tls_server_config:\n"
              "  cert_file: server.pem\n"
              "  key_file: /keys/server.key\n"
              "  client_auth_type: RequireAndVerifyClientCert\n"
              "  client_ca_file: ../ca.pem\n"
              "  min_version: TLS10\n"
              "  max_version: TLS12\n"
              "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384,\n"
              "                  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]\n"
              "  prefer_server_cipher_suites: false\n"
              "  curve_preferences: [X25519, CurveP256]\n"
              "http_server_config:\n"
              "  http2: true\n"
              "  headers: {X-Frame-Options: deny, X-XSS-Protection: '', X-Content-Type-Options: nosniff}\n"
              "basic_auth_users:\n"
              "  alice: " HASH "\n"
              "  b.o b: '" HASH "'\n");
    assert_true(s->tls.wanted);
    assert_string_equal(s->file, "/etc/web/w.yml");
    assert_string_equal(s->tls.certificate.path, "/etc/web/server.pem");
    assert_int_equal(s->tls.certificate.line, 2);
    assert_int_equal(s->tls.certificate.column, 14);
    assert_string_equal(s->tls.key.path, "/keys/server.key");
    assert_string_equal(s->tls.client_ca.path, "/etc/web/../ca.pem");
    assert_int_equal(s->tls.client_auth, WEB_CLIENT_REQUIRE_AND_VERIFY);
    assert_int_equal(s->tls.min_version, WEB_TLS10);
    assert_int_equal(s->tls.max_version, WEB_TLS12);
    assert_false(s->tls.server_order);
    assert_int_equal(s->tls.n_curves, 2);
    assert_int_equal(s->tls.curves[0], WEB_CURVE_X25519);
    assert_int_equal(s->tls.curves[1], WEB_CURVE_P256);
    assert_int_equal(s->tls.n_suites, 2); // one that is there twice counts once
    assert_int_equal(s->tls.suites[0], WEB_SUITE_RSA_AES_128_GCM);
    assert_int_equal(s->tls.suites[1], WEB_SUITE_AES_256_GCM);
    assert_int_equal(s->n_headers, 2); // an empty one is as good as absent
    assert_string_equal(s->headers[0].name, "X-Content-Type-Options");
    assert_string_equal(s->headers[1].value, "deny");
    assert_int_equal(s->n_users, 2);
    assert_string_equal(s->users[0].name, "alice");
    assert_string_equal(s->users[1].name, "b.o b");
    assert_string_equal(s->users[1].hash, HASH);
    assert_null(web_settings_free(s));
}

static void test_what_is_absent_has_the_defaults_of_the_schema(void **state) {
    (void)state;
    static const char *const texts[] = {"", "---\n", "basic_auth_users:\ntls_server_config:\nhttp_server_config:\n",
                                        "http_server_config: {headers: }\n"};
    for (size_t i = 0; i < N_OF(texts); i++) {
        struct web_settings *s = parse(texts[i]);
        assert_false(s->tls.wanted);
        assert_int_equal(s->tls.min_version, WEB_TLS12);
        assert_int_equal(s->tls.max_version, WEB_TLS13);
        assert_int_equal(s->tls.client_auth, WEB_CLIENT_NONE);
        assert_true(s->tls.server_order);
        assert_int_equal(s->n_users + s->n_headers + s->tls.n_curves, 0);
        web_settings_free(s);
    }
    static const char *const own_suites[] = {"tls_server_config: {" PAIR ", cipher_suites: }",
                                             "tls_server_config: {" PAIR ", cipher_suites: []}"};
    for (size_t i = 0; i < N_OF(own_suites); i++) {
        struct web_settings *s = parse(own_suites[i]);
        assert_int_equal(s->tls.n_suites, 0);
        web_settings_free(s);
    }
    struct web_settings *s = parse("tls_server_config: {" PAIR "}");
    assert_true(s->tls.wanted);
    assert_null(s->tls.client_ca.path);
    web_settings_free(s);
}

static void test_each_client_auth_type_has_its_name(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum web_client_auth type;
    } types[] = {
        {"tls_server_config: {" PAIR ", client_auth_type: NoClientCert}", WEB_CLIENT_NONE},
        {"tls_server_config: {" PAIR ", client_auth_type: RequestClientCert}", WEB_CLIENT_REQUEST},
        {"tls_server_config: {" PAIR ", client_auth_type: RequireAnyClientCert}", WEB_CLIENT_REQUIRE},
        {"tls_server_config: {" PAIR ", client_auth_type: VerifyClientCertIfGiven, client_ca_file: c}",
         WEB_CLIENT_VERIFY_IF_GIVEN},
    };
    for (size_t i = 0; i < N_OF(types); i++) {
        struct web_settings *s = parse(types[i].text);
        assert_int_equal(s->tls.client_auth, types[i].type);
        web_settings_free(s);
    }
}

static void refuse(const char *text, const char *expected) {
    struct errors errors = {0};
    struct web_settings untouched, *settings = &untouched;
    char line[ERROR_LINE_MAX] = "";
    assert_int_equal(web_config_parse("w.yml", text, strlen(text), &errors, &settings), -EINVAL);
    assert_ptr_equal(settings, &untouched);
    (void)error_format(&errors.items[0], line, sizeof line);
    assert_string_equal(line, expected);
    assert_int_equal(errors.n, 1);
}

static void test_what_is_wrong_is_said_with_its_place_and_a_remedy(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"tls_server_conf: {}",
         "w.yml:1:1: unknown key \"tls_server_conf\": did you mean \"tls_server_config\"? known here are "
         "tls_server_config, http_server_config, basic_auth_users, rate_limit"},
        {"tls_server_config: {cert_file: a}",
         "w.yml:1:20: tls_server_config needs cert_file and key_file: write both, or "
         "remove it for HTTP without TLS"},
        {"tls_server_config: {}",
         "w.yml:1:20: tls_server_config needs cert_file and key_file: write both, or remove it "
         "for HTTP without TLS"},
        {"tls_server_config: {" PAIR ", client_ca_file: c}",
         "w.yml:1:20: client_ca_file is never used: write client_auth_type: RequireAndVerifyClientCert to have "
         "certificates of clients verified"},
        {"tls_server_config: {" PAIR ", client_auth_type: RequireAndVerifyClientCert}",
         "w.yml:1:20: client_auth_type verifies certificates of clients, but client_ca_file, their CA, is missing: add "
         "it"},
        {"tls_server_config: {" PAIR ", client_auth_type: Always}",
         "w.yml:1:66: client_auth_type: \"Always\" is none of these: NoClientCert, RequestClientCert, "
         "RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert"},
        {"tls_server_config: {" PAIR ", min_version: 1.2}",
         "w.yml:1:61: min_version: \"1.2\" is none of these: TLS10, TLS11, TLS12, TLS13"},
        {"tls_server_config: {" PAIR ", min_version: TLS13, max_version: TLS12}",
         "w.yml:1:20: min_version is above max_version: no client could connect"},
        {"tls_server_config: {" PAIR ", curve_preferences: [CurveP224]}",
         "w.yml:1:68: curve_preferences: \"CurveP224\" is none of these: CurveP256, CurveP384, CurveP521, X25519"},
        {"tls_server_config: {" PAIR ", cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265]}",
         "w.yml:1:64: cipher_suites: \"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265\" is not in Go's list of secure suites: "
         "did "
         "you mean \"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\"?"},
        {"tls_server_config: {" PAIR ", cipher_suites: [RC4]}",
         "w.yml:1:64: cipher_suites: \"RC4\" is not in Go's list of secure suites, see docs/web.md: remove it"},
        {"tls_server_config: {" PAIR ", cipher_suites: RC4}",
         "w.yml:1:63: cipher_suites must be a list, such as [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256], and is a single "
         "value"},
        {"tls_server_config: {" PAIR ", client_allowed_sans: [a]}",
         "w.yml:1:69: client_allowed_sans is not supported: topdownd does not look at names in certificates: use a CA "
         "for "
         "these clients alone"},
        {"tls_server_config: {" PAIR ", cert: x}",
         "w.yml:1:54: cert is not supported: write the certificate to a file and name it with cert_file"},
        {"rate_limit: {interval: 1s}", "w.yml:1:13: rate_limit is not supported: topdownd bounds connections and wrong "
                                       "passwords itself: remove the key"},
        {"http_server_config: {http2: yes}", "w.yml:1:29: http2: \"yes\" is neither: write true or false"},
        {"http_server_config: {headers: {X-Frame-Options: allow}}",
         "w.yml:1:49: X-Frame-Options: \"allow\" is none of these: deny sameorigin"},
        {"http_server_config: {headers: {Server: x}}",
         "w.yml:1:32: unknown key \"Server\": known here are Content-Security-Policy, Strict-Transport-Security, "
         "X-Content-Type-Options, X-Frame-Options, X-XSS-Protection"},
        {"http_server_config: {headers: {X-XSS-Protection: \"a\\r\\nb\"}}",
         "w.yml:1:50: X-XSS-Protection: \"a??b\" has characters that a header must not have: use ASCII alone"},
        {"basic_auth_users: {alice: secret}",
         "w.yml:1:27: basic_auth_users: the value of \"alice\" is no bcrypt hash of a "
         "password: make one with htpasswd -nBC 10 NAME"},
        {"basic_auth_users: {alice: " HASH "x}",
         "w.yml:1:27: basic_auth_users: the value of \"alice\" is no bcrypt hash of "
         "a password: make one with htpasswd -nBC 10 NAME"},
        {"basic_auth_users: {'a:b': " HASH "}",
         "w.yml:1:20: basic_auth_users: the name \"a:b\" must have 1 to 127 characters and no colon"},
        {"basic_auth_users: {al: $2y$15$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze}",
         "w.yml:1:24: basic_auth_users: the hash of \"al\" has cost 15: 4 to 14 are allowed, as each step doubles the "
         "CPU "
         "time of a guess"},
        {"basic_auth_users: [alice]",
         "w.yml:1:19: basic_auth_users must be a mapping, such as {alice: $2y$10$...}, and is a list"},
    };
    for (size_t i = 0; i < N_OF(wrong); i++)
        refuse(wrong[i].text, wrong[i].error);
}

static void test_too_many_users_are_refused(void **state) {
    (void)state;
    char text[8192] = "basic_auth_users:\n";
    for (size_t i = 0; i <= WEB_USERS_MAX; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "  u%zu: " HASH "\n", i);
    refuse(text, "w.yml:2:3: basic_auth_users: more than 64 users: certificates of clients suit many better");
}

static void test_a_file_that_cannot_be_read_is_said(void **state) {
    (void)state;
    struct errors errors = {0};
    struct web_settings *settings;
    assert_int_equal(web_config_load("tests/data/absent.yml", &errors, &settings), -EINVAL);
    assert_string_equal(errors.items[0].text, "cannot be read: No such file or directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_file_means_what_it_says),
        cmocka_unit_test(test_what_is_absent_has_the_defaults_of_the_schema),
        cmocka_unit_test(test_each_client_auth_type_has_its_name),
        cmocka_unit_test(test_what_is_wrong_is_said_with_its_place_and_a_remedy),
        cmocka_unit_test(test_too_many_users_are_refused),
        cmocka_unit_test(test_a_file_that_cannot_be_read_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
