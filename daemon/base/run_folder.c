// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/run_folder.h"

#include <stdlib.h>
#include <string.h>

char *run_folder_of_systemd(void) {
    const char *folders = getenv("RUNTIME_DIRECTORY");
    return folders && *folders ? strndup(folders, strcspn(folders, ":")) : NULL;
}

char *run_folder_of(const char *named) {
    char *made = named ? NULL : run_folder_of_systemd();
    return made ? made : strdup(named ? named : RUN_FOLDER);
}
