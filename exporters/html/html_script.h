// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_HTML_SCRIPT_H
#define TOPDOWND_EXPORTERS_HTML_HTML_SCRIPT_H

// exporters/html/page.js and page.css, which the build puts into the program.

#include <stddef.h>

extern const unsigned char html_script[];
extern const size_t html_script_length;
extern const unsigned char html_style[];
extern const size_t html_style_length;

#endif
