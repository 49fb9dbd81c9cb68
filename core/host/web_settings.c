// SPDX-License-Identifier: Apache-2.0
#include "core/host/web_settings.h"

#include <stdlib.h>

struct web_settings *web_settings_free(struct web_settings *settings) {
    if (!settings)
        return NULL;
    for (size_t i = 0; i < settings->n_headers; i++)
        free(settings->headers[i].value);
    for (size_t i = 0; i < settings->n_users; i++) {
        free(settings->users[i].name);
        free(settings->users[i].hash);
    }
    free(settings->users);
    free(settings->tls.certificate.path);
    free(settings->tls.key.path);
    free(settings->tls.client_ca.path);
    free(settings->file);
    free(settings);
    return NULL;
}
