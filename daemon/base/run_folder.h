// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_RUN_FOLDER_H
#define TOPDOWND_DAEMON_BASE_RUN_FOLDER_H

// The folder for what lives as long as the service: the control socket, and the speed of the memory.

#define RUN_FOLDER "/run/topdownd"

// The first of the folders that systemd has made for topdownd, for free(); NULL if there is none.
char *run_folder_of_systemd(void);

// The folder that --path.run names, otherwise systemd's, otherwise RUN_FOLDER; for free(). NULL if out of memory.
char *run_folder_of(const char *named);

#endif
