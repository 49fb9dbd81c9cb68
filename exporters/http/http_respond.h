// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_RESPOND_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_RESPOND_H

// Answers that are made for one request and not kept.

#include <microhttpd.h>
#include <stdbool.h>

#include "exporters/http/http_connections.h"
#include "exporters/web/web.h"

// The place of the connection; NULL: it has none.
struct http_connection *http_slot_of(struct MHD_Connection *connection);

// Of the listener that the connection belongs to; NULL: none.
const struct web *http_web_of(struct MHD_Connection *connection);

// Whether a client may keep an answer: not at all, or so that it asks each time whether there is another.
enum http_keeping { HTTP_KEEP_NONE, HTTP_ASK_AGAIN };

// Adds the headers that all answers have, and those of the web configuration (NULL: none), which replace ours. False if
// out of memory.
bool http_add_headers(struct MHD_Response *response, const struct web *web, const char *content_type,
                      enum http_keeping keeping);

// A short answer; `body` is copied. Adds a header if `name` is not NULL.
enum MHD_Result http_respond(struct MHD_Connection *connection, unsigned status, const char *content_type,
                             const char *body, const char *name, const char *value);
enum MHD_Result http_respond_text(struct MHD_Connection *connection, unsigned status, const char *body);

// 400 and what is wrong with the request, as JSON.
enum MHD_Result http_respond_error(struct MHD_Connection *connection, const char *error);

// 406: no coding is left; 503: the budget of answers leaves no room.
enum MHD_Result http_respond_not_acceptable(struct MHD_Connection *connection);
enum MHD_Result http_respond_busy(struct MHD_Connection *connection);

#endif
