// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_WEB_WEB_GATE_H
#define TOPDOWND_EXPORTERS_WEB_WEB_GATE_H

// Checks passwords. bcrypt takes long on purpose, so a thread of its own computes it while the server answers others.
//
// Answers are remembered, right and wrong ones, by a keyed hash of what was asked: a client that scrapes with a right
// password costs bcrypt once, and one that tries the same wrong password for ever costs it once, too. Other wrong
// passwords cannot cost much either: after each the thread rests for three times as long as it has computed. Clients
// take turns meanwhile (web_queue.h). A name that nobody has is computed as any other.

#include <stdint.h>

#include "exporters/web/web.h"
#include "exporters/web/web_queue.h"

enum web_verdict {
    WEB_GRANTED,
    WEB_DENIED,
    WEB_BUSY, // too many passwords wait, or this one has waited for too long: try again later
    WEB_WAIT  // the answer comes later, from web_gate_answer
};

struct web_gate; // private

// Starts the thread. It writes to the eventfd, which the caller keeps open, when answers have come. Returns 0, -ENOMEM,
// -ENOENT if libcrypt is not installed, or another negative errno.
int web_gate_new(int wake_fd, struct web_gate **out);

struct web_question {
    const struct web *web; // with users
    const struct web_credentials *credentials;
    const uint8_t *client; // WEB_CLIENT_BYTES: its address
    void *who;             // for web_gate_answer
};
enum web_verdict web_gate_ask(struct web_gate *gate, const struct web_question *question);

// An answer that has come since: returns true, with `who` waited for it. WEB_BUSY if it was given up.
bool web_gate_answer(struct web_gate *gate, void **who, enum web_verdict *verdict);

// Gives up all questions; web_gate_answer has them now.
void web_gate_give_up(struct web_gate *gate);

// Ends the thread, after the password that it computes. Nobody may wait any more.
struct web_gate *web_gate_free(struct web_gate *gate);

#endif
