// SPDX-License-Identifier: Apache-2.0
#include "exporters/web/web_suites.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { TLS13_SUITES = 0x13 }; // the first byte of their numbers

// The library's words for a suite's parts, and its number (IANA, TLS Cipher Suites).
static const struct suite {
    const char *cipher, *code, *exchange; // NULL: TLS 1.3 has none
    unsigned char number[2];
} suites[WEB_SUITES_MAX] = {
    [WEB_SUITE_AES_128_GCM] = {"AES-128-GCM", "AEAD", NULL, {0x13, 0x01}},
    [WEB_SUITE_AES_256_GCM] = {"AES-256-GCM", "AEAD", NULL, {0x13, 0x02}},
    [WEB_SUITE_CHACHA20] = {"CHACHA20-POLY1305", "AEAD", NULL, {0x13, 0x03}},
    [WEB_SUITE_ECDSA_AES_128_CBC] = {"AES-128-CBC", "SHA1", "ECDHE-ECDSA", {0xc0, 0x09}},
    [WEB_SUITE_ECDSA_AES_256_CBC] = {"AES-256-CBC", "SHA1", "ECDHE-ECDSA", {0xc0, 0x0a}},
    [WEB_SUITE_RSA_AES_128_CBC] = {"AES-128-CBC", "SHA1", "ECDHE-RSA", {0xc0, 0x13}},
    [WEB_SUITE_RSA_AES_256_CBC] = {"AES-256-CBC", "SHA1", "ECDHE-RSA", {0xc0, 0x14}},
    [WEB_SUITE_ECDSA_AES_128_GCM] = {"AES-128-GCM", "AEAD", "ECDHE-ECDSA", {0xc0, 0x2b}},
    [WEB_SUITE_ECDSA_AES_256_GCM] = {"AES-256-GCM", "AEAD", "ECDHE-ECDSA", {0xc0, 0x2c}},
    [WEB_SUITE_RSA_AES_128_GCM] = {"AES-128-GCM", "AEAD", "ECDHE-RSA", {0xc0, 0x2f}},
    [WEB_SUITE_RSA_AES_256_GCM] = {"AES-256-GCM", "AEAD", "ECDHE-RSA", {0xc0, 0x30}},
    [WEB_SUITE_RSA_CHACHA20] = {"CHACHA20-POLY1305", "AEAD", "ECDHE-RSA", {0xcc, 0xa8}},
    [WEB_SUITE_ECDSA_CHACHA20] = {"CHACHA20-POLY1305", "AEAD", "ECDHE-ECDSA", {0xcc, 0xa9}},
};

static void append(char *text, const char *word) {
    strcat(text, ":+");
    strcat(text, word);
}

void web_suites_append(const struct web_tls_settings *settings, char *text) {
    if (settings->n_suites == 0)
        return;
    strcat(text, ":-CIPHER-ALL:-MAC-ALL:-KX-ALL");
    for (size_t i = 0; i < settings->n_suites; i++) {
        const struct suite *suite = &suites[settings->suites[i]];
        append(text, suite->cipher);
        append(text, suite->code);
        if (suite->exchange)
            append(text, suite->exchange);
    }
}

static bool is_named(const struct web_tls_settings *settings, const unsigned char number[2]) {
    for (size_t i = 0; i < settings->n_suites; i++)
        if (memcmp(suites[settings->suites[i]].number, number, 2) == 0)
            return true;
    return number[0] == TLS13_SUITES;
}

const char *web_suites_unnamed(const struct web_tls_settings *settings, void *priority) {
    unsigned index;
    int r = 0;
    for (unsigned i = 0; settings->n_suites > 0 && r != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE; i++) {
        unsigned char number[2];
        r = gnutls_priority_get_cipher_suite_index(priority, i, &index);
        const char *name = r < 0 ? NULL : gnutls_cipher_suite_info(index, number, NULL, NULL, NULL, NULL);
        if (name && !is_named(settings, number))
            return name;
    }
    return NULL;
}
