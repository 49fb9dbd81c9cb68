// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_file.h"

#include <stdio.h>
#include <string.h>

#include "exporters/http/http_accept.h"
#include "exporters/http/http_respond.h"

static const char FOLDER[] = "/ui/";

const struct page_file *http_file_find(const char *path) {
    if (strcmp(path, "/") == 0)
        return page_files_find(PAGE_INDEX);
    const char *name = strncmp(path, FOLDER, strlen(FOLDER)) == 0 ? path + strlen(FOLDER) : "";
    return strcmp(name, PAGE_INDEX) == 0 ? NULL : page_files_find(name); // the document's links are relative to "/"
}

// A tag is weak: plain and compressed bytes, which are of one content, have the same (RFC 9110, section 8.8.1).
static const char WEAK[] = "W/";

// Whether a list of tags, or "*", names this one, whether or not somebody between took the mark of a weak tag away.
static bool lists_tag(const char *list, const char *tag) {
    return list && (strstr(list, tag) || strcmp(list, "*") == 0);
}

static struct MHD_Response *response_of(const struct page_file *file, enum http_coding coding, bool known) {
    const unsigned char *bytes = coding == HTTP_GZIP ? file->gzip : file->bytes;
    size_t length = known ? 0 : coding == HTTP_GZIP ? file->gzip_length : file->length;
    return MHD_create_response_from_buffer(length, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result http_file_respond(struct MHD_Connection *connection, const struct page_file *file) {
    struct http_accept accept = http_accept_read(connection);
    enum http_coding coding = http_accept_coding(&accept);
    if (coding == HTTP_CODING_NONE)
        return http_respond_not_acceptable(connection);
    bool known = lists_tag(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match"), file->tag);
    struct MHD_Response *response = response_of(file, coding, known);
    if (!response)
        return MHD_NO; // ends the connection
    enum MHD_Result r = MHD_NO;
    char tag[64];
    (void)snprintf(tag, sizeof tag, "%s%s", WEAK, file->tag);
    if (http_add_headers(response, http_web_of(connection), file->content_type, HTTP_ASK_AGAIN) &&
        MHD_add_response_header(response, "ETag", tag) == MHD_YES &&
        MHD_add_response_header(response, "Vary", "Accept-Encoding") == MHD_YES &&
        (coding != HTTP_GZIP || known || MHD_add_response_header(response, "Content-Encoding", "gzip") == MHD_YES))
        r = MHD_queue_response(connection, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return r;
}
