// SPDX-License-Identifier: Apache-2.0
#include "exporters/web/web.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COST_AT = 4, COST_DIGITS = 2, HEADER_BYTES_MAX = 600 };

int web_new(struct web_settings *settings, struct errors *errors, struct web **out) {
    struct web *web = calloc(1, sizeof *web);
    int r = web ? 0 : -ENOMEM;
    if (r == 0 && settings->tls.wanted)
        r = web_tls_new(settings, errors, &web->tls);
    if (r < 0) {
        web_settings_free(settings);
        free(web);
        return r;
    }
    web->references = 1;
    web->settings = settings;
    *out = web;
    return 0;
}

struct web *web_ref(struct web *web) {
    if (web)
        atomic_fetch_add(&web->references, 1);
    return web;
}

void web_unref(struct web *web) {
    if (!web || atomic_fetch_sub(&web->references, 1) > 1)
        return;
    web_tls_free(web->tls);
    web_settings_free(web->settings);
    free(web);
}

// "name:password", without zero bytes.
static bool split(const gnutls_datum_t *text, struct web_credentials *out) {
    const char *colon = memchr(text->data, ':', text->size);
    size_t name = colon ? (size_t)(colon - (const char *)text->data) : 0;
    if (!colon || memchr(text->data, '\0', text->size) || name > WEB_USER_BYTES_MAX ||
        text->size - name - 1 > WEB_PASSWORD_BYTES_MAX)
        return false;
    *out = (struct web_credentials){0};
    memcpy(out->name, text->data, name);
    memcpy(out->password, colon + 1, text->size - name - 1);
    return true;
}

bool web_credentials_read(const char *header, struct web_credentials *out) {
    static const char scheme[] = "Basic ";
    gnutls_datum_t text = {0};
    if (strncasecmp(header, scheme, strlen(scheme)) != 0 || strlen(header) > HEADER_BYTES_MAX)
        return false;
    header += strlen(scheme);
    const gnutls_datum_t encoded = {(unsigned char *)(uintptr_t)header, (unsigned)strlen(header)};
    bool read = gnutls_base64_decode2(&encoded, &text) == 0 && split(&text, out);
    gnutls_free(text.data);
    return read;
}

const struct web_user *web_find_user(const struct web *web, const char *name) {
    for (size_t i = 0; i < web->settings->n_users; i++)
        if (strcmp(web->settings->users[i].name, name) == 0)
            return &web->settings->users[i];
    return NULL;
}

void web_nobodys_hash(const struct web *web, char out[WEB_HASH_BYTES + 1]) {
    const char *cost = "04";
    for (size_t i = 0; i < web->settings->n_users; i++)
        if (strncmp(web->settings->users[i].hash + COST_AT, cost, COST_DIGITS) > 0)
            cost = web->settings->users[i].hash + COST_AT;
    (void)snprintf(out, WEB_HASH_BYTES + 1, "$2y$%.2s$%053d", cost, 0);
}
