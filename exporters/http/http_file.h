// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_FILE_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_FILE_H

// Answers with files of the page, which lie in the program: no answer takes memory, and a client that has the same
// bytes already gets none (RFC 9110, 13.1.2).

#include <microhttpd.h>

#include "exporters/page/page_files.h"

// The file that a path stands for; NULL: none.
const struct page_file *http_file_find(const char *path);

enum MHD_Result http_file_respond(struct MHD_Connection *connection, const struct page_file *file);

#endif
