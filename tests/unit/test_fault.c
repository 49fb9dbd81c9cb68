// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>

// Callers distinguish faults by their kind: each maker of faults sets it.

static void test_a_fault_is_of_an_entry_unless_it_says_otherwise(void **state) {
    (void)state;
    struct fault fault = {.kind = FAULT_EVENT, .column = 7};
    assert_int_equal(fault_set(&fault, "the %s %s stands twice", "event", "A"), -EINVAL);
    assert_int_equal(fault.kind, FAULT_ENTRY);
    assert_int_equal(fault.column, 0);
    assert_string_equal(fault.text, "the event A stands twice");
    assert_int_equal(fault_set_kind(&fault, FAULT_FORMULA, 3, "')' is missing"), -EINVAL);
    assert_int_equal(fault.kind, FAULT_FORMULA);
    assert_int_equal(fault.column, 3);
    assert_string_equal(fault.text, "')' is missing");
}

static void test_a_text_that_is_too_long_is_cut(void **state) {
    (void)state;
    char text[FAULT_TEXT_MAX + 100];
    struct fault fault;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)fault_set(&fault, "%s", text);
    assert_int_equal(strlen(fault.text), FAULT_TEXT_MAX - 1);
}

static int add_metric(struct catalog_builder *builder, const char *name, const char *formula, struct fault *fault) {
    return catalog_builder_add_metric(builder, &(struct catalog_metric_text){.name = name, .formula = formula}, fault);
}

static void test_a_catalog_tells_a_formulas_mistakes_from_an_entrys(void **state) {
    (void)state;
    static const char *const events[] = {"A", "B"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    struct fault fault;
    assert_int_equal(add_metric(builder, "m", "A / (B", &fault), -EINVAL);
    assert_int_equal(fault.kind, FAULT_FORMULA);
    assert_int_equal(fault.column, 7);
    assert_int_equal(add_metric(builder, "m", "A / NOPE", &fault), -EINVAL);
    assert_int_equal(fault.kind, FAULT_FORMULA);
    assert_int_equal(fault.column, 5);
    assert_int_equal(add_metric(builder, "formula, column 1: ", "A / B", &fault), -EINVAL); // a name with spaces
    assert_int_equal(fault.kind, FAULT_ENTRY);
    assert_int_equal(add_metric(builder, "m", "A / B", &fault), 0);
    assert_int_equal(add_metric(builder, "m", "A / B", &fault), -EINVAL);
    assert_int_equal(fault.kind, FAULT_ENTRY);
    assert_int_equal(catalog_builder_set_threshold(builder, 0, "m >", &fault), -EINVAL);
    assert_int_equal(fault.kind, FAULT_FORMULA);
    catalog_builder_free(builder);
}

// What a resolver says stays as it is.
static int refuse_event(void *context, const char *name, struct fault *fault) {
    (void)context;
    return fault_set_kind(fault, FAULT_EVENT, 0, "needs the event %s", name);
}

static void test_a_resolvers_fault_keeps_its_kind(void **state) {
    (void)state;
    static const char *const events[] = {"A"};
    const struct catalog_resolver resolver = {.resolve = refuse_event};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    struct fault fault;
    catalog_builder_set_resolver(builder, &resolver);
    assert_int_equal(add_metric(builder, "m", "A / NOPE", &fault), -EINVAL);
    assert_int_equal(fault.kind, FAULT_EVENT);
    assert_string_equal(fault.text, "needs the event A");
    catalog_builder_free(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fault_is_of_an_entry_unless_it_says_otherwise),
        cmocka_unit_test(test_a_text_that_is_too_long_is_cut),
        cmocka_unit_test(test_a_catalog_tells_a_formulas_mistakes_from_an_entrys),
        cmocka_unit_test(test_a_resolvers_fault_keeps_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
