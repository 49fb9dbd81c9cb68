// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a web configuration that is refused with an error, or accepted and
// consistent.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/web/web_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void check_tls(const struct web_tls_settings *tls) {
    require(tls->certificate.path && tls->key.path && strncmp(tls->certificate.path, "", 1) != 0);
    require(tls->min_version <= tls->max_version && tls->n_curves <= WEB_CURVES_MAX);
    require(tls->n_suites <= WEB_SUITES_MAX);
    require((tls->client_ca.path != NULL) == (tls->client_auth >= WEB_CLIENT_VERIFY_IF_GIVEN));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors = {0};
    struct web_settings *settings = NULL;
    char line[ERROR_LINE_MAX];
    int r = web_config_parse("/etc/fuzz.yml", (const char *)data, size, &errors, &settings);
    require(r == 0 ? errors.n == 0 && settings : r == -EINVAL && errors.n > 0 && !settings);
    for (size_t i = 0; i < errors.n; i++)
        require(error_format(&errors.items[i], line, sizeof line) < sizeof line);
    if (!settings)
        return 0;
    if (settings->tls.wanted)
        check_tls(&settings->tls);
    require(settings->n_users <= WEB_USERS_MAX && settings->n_headers <= WEB_HEADERS_MAX);
    for (size_t i = 0; i < settings->n_users; i++)
        require(strlen(settings->users[i].hash) == WEB_HASH_BYTES && settings->users[i].name[0] != '\0' &&
                strlen(settings->users[i].name) <= WEB_USER_BYTES_MAX);
    for (size_t i = 0; i < settings->n_headers; i++)
        require(!strpbrk(settings->headers[i].value, "\r\n"));
    web_settings_free(settings);
    return 0;
}
