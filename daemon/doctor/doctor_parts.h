// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_DOCTOR_DOCTOR_PARTS_H
#define TOPDOWND_DAEMON_DOCTOR_DOCTOR_PARTS_H

// What the doctor looks at, a file for each kind of thing. A check adds one finding or more and never fails.

#include <sys/types.h>

#include "daemon/base/findings.h"
#include "daemon/source/setup.h"

enum { DOCTOR_NOT_ALLOWED = -1 };

// doctor_pmu.c: one core type's spec, the kernel's leave to count, and the counters that are free. A running daemon has
// them, so they are not counted then.
void doctor_check_type(const struct setup *setup, const struct core_type *type, pid_t daemon,
                       struct findings *findings);

// doctor_rights.c: whether the service may count, with the rights that its unit gives it.
void doctor_check_rights(const struct setup *setup, struct findings *findings);

// The same file: whether the daemon that runs has these rights. Says nothing where it has them, or nobody can tell.
void doctor_check_running_rights(const struct setup *setup, pid_t daemon, struct findings *findings);

// doctor_daemon.c: the process id of the topdownd that answers on the control socket; 0: none does;
// DOCTOR_NOT_ALLOWED: a socket is there, and this user may not ask.
pid_t doctor_find_daemon(const struct options *options);

// The same file: the daemon that runs, whether it counts what it is configured to count, and what is wrong with itself.
// *status is its answer, for doctor_check_ports; NULL: there is none. The caller frees it.
void doctor_check_daemon(const struct setup *setup, const struct options *options, pid_t daemon,
                         struct findings *findings, char **status);

// The same file: the addresses to listen to.
void doctor_check_ports(const struct setup *setup, pid_t daemon, const char *status, struct findings *findings);

// The same file: whether an address can be listened to, under the name of this check.
void doctor_check_free(const char *check, const struct config_listen *listen, struct findings *findings);

// doctor_web.c: whether probes are answered, and who may ask; `status` as above.
void doctor_check_probe(const struct setup *setup, pid_t daemon, const char *status, struct findings *findings);

// The same file: the certificate, and the file that --web.config.file names.
void doctor_check_web(const struct setup *setup, const struct options *options, const char *status,
                      struct findings *findings);

// doctor_host.c: who else counts, files and memory that event groups take, and what the platform is.
void doctor_check_host(const struct setup *setup, pid_t daemon, struct findings *findings);

// doctor_uncore.c: what is measured outside the cores, and what the configuration names there in vain.
void doctor_check_uncore(const struct setup *setup, const struct options *options, struct findings *findings);

// doctor_memory.c: what the kernel counts of memory.
void doctor_check_memory(const struct setup *setup, struct findings *findings);

#endif
