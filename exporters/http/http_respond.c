// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_respond.h"

#include <string.h>

#include "exporters/text/json_writer.h"
#include "exporters/text/text.h"

struct http_connection *http_slot_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

const struct web *http_web_of(struct MHD_Connection *connection) {
    const struct http_connection *slot = http_slot_of(connection);
    return slot ? slot->web : NULL;
}

static bool set_header(struct MHD_Response *response, const char *name, const char *value) {
    const char *before = MHD_get_response_header(response, name);
    if (before)
        (void)MHD_del_response_header(response, name, before);
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

bool http_add_headers(struct MHD_Response *response, const struct web *web, const char *content_type,
                      enum http_keeping keeping) {
    bool added = MHD_add_response_header(response, "Content-Type", content_type) == MHD_YES &&
                 MHD_add_response_header(response, "Cache-Control",
                                         keeping == HTTP_ASK_AGAIN ? "no-cache" : "no-store") == MHD_YES &&
                 MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") == MHD_YES &&
                 MHD_add_response_header(response, "Content-Security-Policy",
                                         "default-src 'none'; script-src 'self'; style-src 'self'; "
                                         "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
                                         "form-action 'none'; frame-ancestors 'none'") == MHD_YES;
    for (size_t i = 0; web && i < web->settings->n_headers; i++)
        added = added && set_header(response, web->settings->headers[i].name, web->settings->headers[i].value);
    return added;
}

enum MHD_Result http_respond(struct MHD_Connection *connection, unsigned status, const char *content_type,
                             const char *body, const char *name, const char *value) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(body), (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO; // ends the connection
    enum MHD_Result r = MHD_NO;
    if (http_add_headers(response, http_web_of(connection), content_type, HTTP_KEEP_NONE) &&
        (!name || MHD_add_response_header(response, name, value) == MHD_YES))
        r = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return r;
}

enum MHD_Result http_respond_text(struct MHD_Connection *connection, unsigned status, const char *body) {
    return http_respond(connection, status, "text/plain; charset=utf-8", body, NULL, NULL);
}

enum MHD_Result http_respond_not_acceptable(struct MHD_Connection *connection) {
    return http_respond_text(connection, MHD_HTTP_NOT_ACCEPTABLE,
                             "Accept-Encoding refuses every coding that there is: allow gzip or identity.\n");
}

enum MHD_Result http_respond_busy(struct MHD_Connection *connection) {
    return http_respond(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain; charset=utf-8",
                        "Answers that are still being read take all memory for them: try again in a second.\n",
                        "Retry-After", "1");
}

enum MHD_Result http_respond_error(struct MHD_Connection *connection, const char *error) {
    struct text text = {0};
    text_string(&text, "{\"error\":");
    json_put_string(&text, error);
    text_append(&text, "}\n", 3); // with the terminating zero
    enum MHD_Result r = text.failed
                            ? MHD_NO
                            : http_respond(connection, MHD_HTTP_BAD_REQUEST, "application/json", text.data, NULL, NULL);
    text_free(&text);
    return r;
}
