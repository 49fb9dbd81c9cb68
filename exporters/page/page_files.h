// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_PAGE_PAGE_FILES_H
#define TOPDOWND_EXPORTERS_PAGE_PAGE_FILES_H

// The files of the page for people, which the build puts into the program (cmake/page.cmake), compressed once there.
// The page is a program over the JSON API: nothing in these files depends on the host.

#include <stddef.h>

struct page_file {
    const char *name; // below /ui/; PAGE_INDEX: the document itself, at /
    const char *content_type;
    const char *tag; // of HTTP: another one for other bytes, with its quotation marks
    const unsigned char *bytes, *gzip;
    size_t length, gzip_length;
};

#define PAGE_INDEX "index.html"

extern const struct page_file page_files[];
extern const size_t page_files_n;

// NULL: there is none of this name.
const struct page_file *page_files_find(const char *name);

#endif
