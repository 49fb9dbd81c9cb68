// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/stepper.h"

#include <sys/socket.h>

void stepper_answer(struct stepper *stepper) {
    if (stepper->made)
        (void)send(stepper->fd, "s", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    stepper->asked = stepper->asked && !stepper->made;
    stepper->made = false;
}

bool stepper_may(struct stepper *stepper) {
    char request;
    stepper->asked = stepper->asked || recv(stepper->fd, &request, 1, MSG_DONTWAIT) == 1;
    return stepper->asked;
}

void stepper_end(struct stepper *stepper) {
    while (stepper_may(stepper)) {
        (void)send(stepper->fd, "e", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        stepper->asked = false;
    }
}
