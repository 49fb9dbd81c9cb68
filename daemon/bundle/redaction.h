// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BUNDLE_REDACTION_H
#define TOPDOWND_DAEMON_BUNDLE_REDACTION_H

// Takes out of a text what says who somebody is: known words (host and user names, paths of keys), the names of home
// folders, addresses of networks and cards, and hashes of passwords. Addresses of the loopback stay.

#include <stdbool.h>
#include <stddef.h>

#include "exporters/text/text.h"

// All zero at first.
struct redaction {
    struct redaction_word {
        char *from;
        const char *to; // a literal
    } * words;          // the longest first: a host's full name before its short one
    size_t n, capacity;
    bool failed; // out of memory: a word is missing, so nothing may be shown
};

void redaction_deinit(struct redaction *redaction);

// Adds a word, which is found where no letter, digit or underscore precedes or follows it. NULL, "" and words of one
// character are left out, and so is what is there already.
void redaction_add(struct redaction *redaction, const char *from, const char *to);

// Appends the text without what is to be taken out.
void redaction_text(const struct redaction *redaction, const char *text, size_t length, struct text *out);

#endif
