// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/steps.h"

#include <sys/socket.h>

void steps_answer(struct steps *steps) {
    if (steps->made)
        (void)send(steps->fd, "s", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    steps->asked = steps->asked && !steps->made;
    steps->made = false;
}

bool steps_may(struct steps *steps) {
    char request;
    steps->asked = steps->asked || recv(steps->fd, &request, 1, MSG_DONTWAIT) == 1;
    return steps->asked;
}

void steps_end(struct steps *steps) {
    while (steps_may(steps)) {
        (void)send(steps->fd, "e", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        steps->asked = false;
    }
}
