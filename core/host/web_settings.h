// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_WEB_SETTINGS_H
#define TOPDOWND_CORE_HOST_WEB_SETTINGS_H

// How the HTTP server is protected: what a web configuration file of Prometheus' exporters says.

#include <stdbool.h>
#include <stddef.h>

enum { WEB_USERS_MAX = 64, WEB_HEADERS_MAX = 8, WEB_CURVES_MAX = 4, WEB_SUITES_MAX = 13 };
enum { WEB_USER_BYTES_MAX = 127, WEB_HASH_BYTES = 60, WEB_PASSWORD_BYTES_MAX = 255, WEB_HEADER_BYTES_MAX = 4096 };

// A file that the settings name, and the place that names it.
struct web_file {
    char *path; // NULL: none
    unsigned line, column;
};

// What is asked of a client's certificate.
enum web_client_auth {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,         // may send one, and any will do
    WEB_CLIENT_REQUIRE,         // must send one, and any will do
    WEB_CLIENT_VERIFY_IF_GIVEN, // one that is sent must be of the CA
    WEB_CLIENT_REQUIRE_AND_VERIFY
};

enum web_version { WEB_TLS10, WEB_TLS11, WEB_TLS12, WEB_TLS13 };
enum web_curve { WEB_CURVE_P256, WEB_CURVE_P384, WEB_CURVE_P521, WEB_CURVE_X25519 };

// Cipher suites: those of TLS 1.3, then those with an ECDHE key exchange and a certificate of either kind.
enum web_suite {
    WEB_SUITE_AES_128_GCM,
    WEB_SUITE_AES_256_GCM,
    WEB_SUITE_CHACHA20,
    WEB_SUITE_ECDSA_AES_128_CBC,
    WEB_SUITE_ECDSA_AES_256_CBC,
    WEB_SUITE_RSA_AES_128_CBC,
    WEB_SUITE_RSA_AES_256_CBC,
    WEB_SUITE_ECDSA_AES_128_GCM,
    WEB_SUITE_ECDSA_AES_256_GCM,
    WEB_SUITE_RSA_AES_128_GCM,
    WEB_SUITE_RSA_AES_256_GCM,
    WEB_SUITE_RSA_CHACHA20,
    WEB_SUITE_ECDSA_CHACHA20
};

struct web_tls_settings {
    bool wanted;
    struct web_file certificate, key, client_ca;
    enum web_client_auth client_auth;
    enum web_version min_version, max_version;
    enum web_curve curves[WEB_CURVES_MAX]; // in order of preference
    size_t n_curves;                       // 0: the library's own
    enum web_suite suites[WEB_SUITES_MAX]; // in order of preference
    size_t n_suites;                       // 0: the library's own
    bool server_order;                     // of cipher suites
};

struct web_settings {
    char *file; // that says all this
    struct web_tls_settings tls;
    struct web_user {
        char *name;
        char *hash; // of the password, by bcrypt
    } * users;
    size_t n_users; // 0: everybody is welcome
    struct web_header {
        const char *name;
        char *value;
    } headers[WEB_HEADERS_MAX]; // of every answer
    size_t n_headers;
};

struct web_settings *web_settings_free(struct web_settings *settings); // returns NULL, takes NULL

#endif
