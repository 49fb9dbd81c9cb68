// SPDX-License-Identifier: Apache-2.0
#include "top/run/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"

enum { FD_MAX = 1 << 20 };

static int refuse(const char *text, const char *word) {
    (void)fprintf(stderr, "topdownd: %s%s%s\n", text, word ? ": " : "", word ? word : "");
    return -EINVAL;
}

static int read_password(const char *path, struct args *args) {
    FILE *file = fopen(path, "re");
    if (!file)
        return refuse(strerror(errno), path);
    bool read = fgets(args->password, sizeof args->password, file);
    (void)fclose(file);
    args->password[strcspn(args->password, "\r\n")] = '\0';
    return read && args->password[0] != '\0' ? 0 : refuse("the file's first line must be the password", path);
}

static int number_of(const char *word, int *out) {
    char *end;
    errno = 0;
    long number = strtol(word, &end, 10);
    if (errno != 0 || *end != '\0' || end == word || number < 0 || number > FD_MAX * 16L)
        return refuse("not a number", word);
    *out = (int)number;
    return 0;
}

static int speed_of(const char *word, double *out) {
    struct decimal number;
    if (!decimal_read(&word, &number) || *word != '\0')
        return refuse("not a number", word);
    *out = decimal_value(number);
    return 0;
}

static int check(struct args *args, const char *password_file) {
    const char *password = getenv("TOPDOWND_PASSWORD");
    int r = password_file ? read_password(password_file, args) : 0;
    if (r == 0 && !password_file && password)
        (void)snprintf(args->password, sizeof args->password, "%s", password);
    if (r == 0 && args->from.user && args->password[0] == '\0')
        r = refuse("--user needs a password, in the environment variable TOPDOWND_PASSWORD or in --password-file FILE",
                   NULL);
    args->from.password = args->password;
    if (r == 0 && !args->from.url)
        r = refuse("call it as 'topdownd top': that says what there is to look at", NULL);
    return r;
}

int args_read(int argc, char **argv, struct args *out) {
    static const struct option options[] = {{"url", required_argument, NULL, 'u'},
                                            {"cacert", required_argument, NULL, 'c'},
                                            {"user", required_argument, NULL, 'n'},
                                            {"password-file", required_argument, NULL, 'p'},
                                            {"source", required_argument, NULL, 's'},
                                            {"once", no_argument, NULL, 'o'},
                                            {"child", required_argument, NULL, 'd'},
                                            {"child-log", required_argument, NULL, 'l'},
                                            {"steps", required_argument, NULL, 't'},
                                            {"speed", required_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    const char *password_file = NULL;
    int r = 0, option;
    *out = (struct args){.child_log = -1, .steps = -1, .speed = 1};
    while (r == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'u')
            out->from.url = optarg;
        else if (option == 'c')
            out->from.cacert = optarg;
        else if (option == 'n')
            out->from.user = optarg;
        else if (option == 'p')
            password_file = optarg;
        else if (option == 's')
            out->source = optarg;
        else if (option == 'o')
            out->once = true;
        else if (option == 'd')
            r = number_of(optarg, &out->child);
        else if (option == 'l')
            r = number_of(optarg, &out->child_log);
        else if (option == 't')
            r = number_of(optarg, &out->steps);
        else
            r = option == 'v' ? speed_of(optarg, &out->speed) : -EINVAL;
    }
    r = r == 0 ? check(out, password_file) : r;
    if (r == 0 && !out->source)
        out->source = out->from.url;
    return r;
}
