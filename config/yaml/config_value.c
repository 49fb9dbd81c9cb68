// SPDX-License-Identifier: Apache-2.0
//
// Every message shows what was written, what is allowed, and a valid example.
#include "config/yaml/config_value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/plan/plan.h"

enum { RESERVE_MAX = 31, SERIES_MAX = 10000000 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool value_refuse(struct errors *errors, const struct yaml_tree *value, const char *key, const char *remedy) {
    (void)yaml_tree_error(errors, &value->origin, "%s: \"%s\" %s", key, yaml_tree_word(value->text).text, remedy);
    return false;
}

bool config_value_is(const struct yaml_tree *value, enum yaml_tree_kind kind, const char *key, const char *example,
                     struct errors *errors) {
    static const char *const kinds[] = {"a single value", "a list", "a mapping"};
    if (yaml_tree_is_null(value)) {
        (void)yaml_tree_error(errors, &value->origin, "%s has no value: write one, such as %s, or remove the key", key,
                              example);
        return false;
    }
    if (value->kind == kind)
        return true;
    (void)yaml_tree_error(errors, &value->origin, "%s must be %s, such as %s, and is %s", key, kinds[kind], example,
                          kinds[value->kind]);
    return false;
}

bool config_value_name(const char *name, const struct config_origin *origin, const char *what, struct errors *errors) {
    size_t length = 0, words = 0;
    for (const char *c = name; *c != '\0'; c++) {
        bool word = is_letter(*c) || is_digit(*c);
        if (!word && *c != '_' && *c != '-' && *c != '.') {
            (void)yaml_tree_error(errors, origin, "%s name \"%s\": only letters, digits, '_', '-' and '.' are allowed",
                                  what, yaml_tree_word(name).text);
            return false;
        }
        length++;
        words += word;
    }
    if (words > 0 && length <= CONFIG_NAME_MAX)
        return true;
    (void)yaml_tree_error(errors, origin, "%s name \"%s\": %s", what, yaml_tree_word(name).text,
                          words > 0 ? "longer than 63 characters" : "it needs a letter or digit");
    return false;
}

bool config_value_text(const struct yaml_tree *value, const char *key, size_t max, const char *example,
                       struct errors *errors) {
    if (!config_value_is(value, YAML_TREE_SCALAR, key, example, errors))
        return false;
    size_t length = strlen(value->text);
    if (length > 0 && length <= max)
        return true;
    if (length == 0)
        (void)yaml_tree_error(errors, &value->origin, "%s is empty: write one, such as %s, or remove the key", key,
                              example);
    else
        (void)yaml_tree_error(errors, &value->origin, "%s is longer than %zu bytes", key, max);
    return false;
}

struct limits {
    double min_ns, max_ns;
    const char *text;
};

static bool is_within(double duration_ns, const struct limits *limits) {
    return duration_ns >= limits->min_ns && duration_ns <= limits->max_ns;
}

// Says which units make the number a duration within the limits.
static bool refuse_unit(const struct yaml_tree *value, const char *key, const struct limits *limits,
                        struct errors *errors) {
    static const char *const units[] = {"ms", "s"};
    char remedy[200] = "has no unit: write", word[100];
    size_t length = strlen(remedy), n = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double duration_ns;
        int made = snprintf(word, sizeof word, "%s%s", value->text, units[i]);
        if (made >= (int)sizeof word || decimal_read_duration(word, &duration_ns) < 0 ||
            !is_within(duration_ns, limits))
            continue;
        length += (size_t)snprintf(remedy + length, sizeof remedy - length, "%s %s", n++ > 0 ? " or" : "", word);
    }
    if (n == 0)
        (void)snprintf(remedy, sizeof remedy, "has no unit, and is out of range with any: %s are allowed",
                       limits->text);
    return value_refuse(errors, value, key, remedy);
}

static bool read_duration(const struct yaml_tree *value, const char *key, const struct limits *limits, uint64_t *out,
                          struct errors *errors) {
    double duration_ns;
    char remedy[100];
    int r = decimal_read_duration(value->text, &duration_ns);
    if (r == -EDOM)
        return refuse_unit(value, key, limits, errors);
    if (r < 0)
        return value_refuse(errors, value, key, "is not a duration: write a number and ms or s, such as 200ms");
    (void)snprintf(remedy, sizeof remedy, "is out of range: %s are allowed", limits->text);
    if (!is_within(duration_ns, limits))
        return value_refuse(errors, value, key, remedy);
    *out = (uint64_t)(duration_ns + 0.5);
    return true;
}

bool config_value_slot(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    uint64_t *slot_ns = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "200ms", errors))
        return false;
    if (strcmp(value->text, "auto") == 0) {
        *slot_ns = 0;
        return true;
    }
    const struct limits limits = {10e6, 60e9, "10ms to 60s"};
    return read_duration(value, key, &limits, slot_ns, errors);
}

bool config_value_interval(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    const struct limits limits = {1e9, 60e9, "1s to 60s"};
    return config_value_is(value, YAML_TREE_SCALAR, key, "2s", errors) &&
           read_duration(value, key, &limits, out, errors);
}

bool config_value_idle(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    double *idle = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "10%", errors))
        return false;
    const char *unit = value->text;
    struct decimal number;
    if (!decimal_read(&unit, &number) || (*unit != '\0' && strcmp(unit, "%") != 0))
        return value_refuse(errors, value, key, "is not a share: write it as 10% or 0.1");
    number.places += *unit == '%' ? 2 : 0;
    if (decimal_value(number) > 0.9)
        return value_refuse(errors, value, key, "is out of range: 0% to 90% (0 to 0.9) are allowed");
    *idle = decimal_value(number);
    return true;
}

bool config_value_cpus(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    struct config_settings *settings = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "all or \"0-3,8\"", errors))
        return false;
    if (strcmp(value->text, "all") == 0) {
        settings->cpus_all = true;
        return true;
    }
    struct cpuset cpus;
    int r = cpuset_parse(value->text, &cpus);
    if (r == -ERANGE)
        return value_refuse(errors, value, key, "names a CPU above 8191, the highest there can be");
    if (r < 0)
        return value_refuse(errors, value, key,
                            "is not a list of CPUs: write all, or numbers and ranges such as 0-3,8");
    if (cpuset_count(&cpus) == 0)
        return value_refuse(errors, value, key, "names no CPU: to measure nothing, use a profile with groups: []");
    settings->cpus_all = false;
    settings->cpus = cpus;
    settings->cpus_origin = value->origin;
    return true;
}

static bool read_whole(const struct yaml_tree *value, uint64_t *out) {
    const char *end = value->text;
    struct decimal number;
    if (!decimal_read(&end, &number) || *end != '\0' || number.places > 0)
        return false;
    *out = number.digits;
    return true;
}

bool config_value_weight(const struct yaml_tree *value, unsigned *weight, struct errors *errors) {
    uint64_t number;
    if (!config_value_is(value, YAML_TREE_SCALAR, "weight", "3", errors))
        return false;
    if (!read_whole(value, &number))
        return value_refuse(errors, value, "weight", "is not a whole number: write how many slots a round, such as 3");
    if (number < 1 || number > PLAN_WEIGHT_MAX)
        return value_refuse(errors, value, "weight", "is out of range: 1 to 100 are allowed");
    *weight = (unsigned)number;
    return true;
}

bool config_value_reserve(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    unsigned *reserve = out;
    uint64_t number;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "1", errors))
        return false;
    if (!read_whole(value, &number))
        return value_refuse(errors, value, key, "is not a whole number: write how many counters, such as 1");
    if (number > RESERVE_MAX)
        return value_refuse(errors, value, key, "is out of range: 0 to 31 are allowed");
    *reserve = (unsigned)number;
    return true;
}

bool config_value_series(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    unsigned *series = out;
    uint64_t number;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "1000", errors))
        return false;
    if (strcmp(value->text, "none") == 0) {
        *series = 0;
        return true;
    }
    if (!read_whole(value, &number))
        return value_refuse(errors, value, key, "is not a whole number: write how many series, or none for no limit");
    if (number < 1 || number > SERIES_MAX)
        return value_refuse(errors, value, key, "is out of range: 1 to 10000000 are allowed, or none for no limit");
    *series = (unsigned)number;
    return true;
}

bool config_value_guests(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    enum config_guests *guests = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "auto", errors))
        return false;
    if (strcmp(value->text, "auto") == 0)
        *guests = CONFIG_GUESTS_AUTO;
    else if (strcmp(value->text, "share") == 0)
        *guests = CONFIG_GUESTS_SHARE;
    else
        return value_refuse(
            errors, value, key,
            "is neither: write auto to leave guests and their counters alone, or share to count them too");
    return true;
}

bool config_value_format(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    enum spec_format *format = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "perf", errors))
        return false;
    if (strcmp(value->text, "perf") == 0)
        *format = SPEC_FORMAT_PERF;
    else if (strcmp(value->text, "arm") == 0)
        *format = SPEC_FORMAT_ARM;
    else if (strcmp(value->text, "perfmon") == 0)
        *format = SPEC_FORMAT_PERFMON;
    else
        return value_refuse(errors, value, key,
                            "is none of these: perf for the files of Linux tools/perf/pmu-events, arm for Arm's "
                            "specifications, perfmon for the files of intel/perfmon");
    return true;
}

bool config_value_mode(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    enum config_mode *mode = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "fixed", errors))
        return false;
    if (strcmp(value->text, "fixed") == 0)
        *mode = CONFIG_MODE_FIXED;
    else if (strcmp(value->text, "adaptive") == 0)
        *mode = CONFIG_MODE_ADAPTIVE;
    else
        return value_refuse(
            errors, value, key,
            "is neither: write fixed for the shares of time that the weights say, or adaptive for more of it "
            "where the bottleneck is");
    return true;
}

bool config_value_flag(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    bool *flag = out;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "true", errors))
        return false;
    if (strcmp(value->text, "true") != 0 && strcmp(value->text, "false") != 0)
        return value_refuse(errors, value, key, "is neither: write true or false");
    *flag = strcmp(value->text, "true") == 0;
    return true;
}

bool config_value_size(const struct yaml_tree *value, const char *key, void *out, struct errors *errors) {
    uint64_t *bytes = out;
    double size;
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "256M", errors))
        return false;
    if (decimal_read_size(value->text, &size) < 0)
        return value_refuse(errors, value, key, "is not a size: write a number and M or G, such as 256M");
    if (size < (double)CONFIG_RECORD_BYTES_MIN || size > (double)CONFIG_RECORD_BYTES_MAX)
        return value_refuse(errors, value, key, "is out of range: 1M to 1024G are allowed");
    *bytes = (uint64_t)size;
    return true;
}

static bool read_port(const char *text, uint16_t *port) {
    unsigned long number = 0;
    size_t n = strlen(text);
    if (n == 0 || n > 5)
        return false;
    for (; *text != '\0'; text++) {
        if (!is_digit(*text))
            return false;
        number = number * 10 + (unsigned long)(*text - '0');
    }
    if (number > UINT16_MAX)
        return false;
    *port = (uint16_t)number;
    return true;
}

static bool read_address(const char *text, size_t length, struct config_value_endpoint *endpoint) {
    bool brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
    char word[CONFIG_ADDRESS_MAX];
    unsigned char number[sizeof(struct in6_addr)];
    if (brackets) {
        text++;
        length -= 2;
    }
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    int family = brackets ? AF_INET6 : AF_INET;
    return inet_pton(family, word, number) == 1 &&
           inet_ntop(family, number, endpoint->address, sizeof endpoint->address);
}

// The remedy for an invalid address, based on what was probably meant.
static const char *address_remedy(const char *text, size_t length) {
    if (length == 0 || (length == 1 && *text == '*'))
        return "has no address: write 0.0.0.0 or [::] for all of this host's addresses";
    if (length == strlen("localhost") && strncmp(text, "localhost", length) == 0)
        return "has a name for its address: write the number, 127.0.0.1 or [::1]";
    if (memchr(text, ':', length) && *text != '[')
        return "is not an address: write IPv6 in brackets, such as \"[::1]:10813\"";
    return "is not an address: write a number, such as 127.0.0.1:10813 or \"[::1]:10813\"";
}

bool config_value_listen(const struct yaml_tree *value, const char *key, struct config_value_endpoint *endpoint,
                         struct errors *errors) {
    if (value->kind == YAML_TREE_LIST) {
        (void)yaml_tree_error(errors, &value->origin,
                              "%s: a list stands where an address should: put IPv6 in quotes, \"[::1]:10813\"", key);
        return false;
    }
    if (!config_value_is(value, YAML_TREE_SCALAR, key, "\"127.0.0.1:10813\"", errors))
        return false;
    struct config_value_endpoint result;
    const char *colon = strrchr(value->text, ':');
    if (!colon || strchr(colon, ']'))
        return value_refuse(errors, value, key, "needs an address and a port, such as 127.0.0.1:10813");
    size_t length = (size_t)(colon - value->text);
    if (!read_address(value->text, length, &result))
        return value_refuse(errors, value, key, address_remedy(value->text, length));
    if (strncmp(result.address, "::ffff:", strlen("::ffff:")) == 0 && strchr(result.address, '.'))
        return value_refuse(errors, value, key, "is an IPv4 address written as IPv6: write 127.0.0.1:10813 instead");
    if (!read_port(colon + 1, &result.port))
        return value_refuse(errors, value, key, "has no valid port: 1 to 65535 are allowed, and 0 for any free one");
    *endpoint = result;
    return true;
}
