// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include "daemon/base/log.h"

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *context) {
    (void)context;
    log_info("ending: %s", strsignal((int)info->ssi_signo));
    (void)sd_notify(0, "STOPPING=1");
    return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_failure(sd_event_source *source, const struct signalfd_siginfo *info, void *context) {
    (void)context;
    log_error("ending with a failure: %s", strsignal((int)info->ssi_signo));
    (void)sd_notify(0, "STOPPING=1");
    return sd_event_exit(sd_event_source_get_event(source), -EINTR);
}

static int on_ignored(sd_event_source *source, const struct signalfd_siginfo *info, void *context) {
    (void)source;
    (void)context;
    log_info("%s: ignored", strsignal((int)info->ssi_signo));
    return 0;
}

static const struct {
    int number;
    sd_event_signal_handler_t action;
} signals[] = {
    {SIGTERM, on_end},     {SIGINT, on_end},      {SIGQUIT, on_failure}, {SIGXCPU, on_failure},
    {SIGUSR1, on_ignored}, {SIGUSR2, on_ignored}, {SIGALRM, on_ignored}, {SIGVTALRM, on_ignored},
    {SIGPROF, on_ignored}, {SIGIO, on_ignored},   {SIGPWR, on_ignored},  {SIGSTKFLT, on_ignored},
};

enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

int signals_open(sd_event *loop, sd_event_signal_handler_t reload, void *context) {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaddset(&blocked, signals[i].number);
    sigaddset(&blocked, SIGHUP);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaddset(&blocked, number);
    if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0)
        return -errno;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); // write reports a recording's size limit instead
    int r = sd_event_add_signal(loop, NULL, SIGHUP, reload, context);
    for (size_t i = 0; i < N_SIGNALS && r >= 0; i++)
        r = sd_event_add_signal(loop, NULL, signals[i].number, signals[i].action, NULL);
    for (int number = SIGRTMIN; number <= SIGRTMAX && r >= 0; number++)
        r = sd_event_add_signal(loop, NULL, number, on_ignored, NULL);
    return r < 0 ? r : 0;
}
