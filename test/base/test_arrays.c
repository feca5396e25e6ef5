/* Arrays that live and die together. */
#include "base/arrays.h"
#include "test/support/cases.h"

typedef struct two {
    double *x, *y, *z;
} two;

static bool for_arrays(two *t, ga_arrays_do *act)
{
    const ga_arrays list[] = {{3, {&t->x, &t->y}}, {0, {&t->z}}};
    return act(2, list);
}

static void test_create(void **state)
{
    (void)state;
    two t = {NULL, NULL, NULL};
    assert_true(for_arrays(&t, ga_arrays_create));
    for (int i = 0; i < 3; ++i) assert_true(t.x[i] == 0 && t.y[i] == 0);
    t.x[2] = t.y[0] = 1;
    assert_non_null(t.z); /* empty, yet there */
    for_arrays(&t, ga_arrays_destroy);
    assert_true(!t.x && !t.y && !t.z);
    for_arrays(&t, ga_arrays_destroy);
}

static void test_place(void **state)
{
    (void)state;
    double memory[5], *a, *b, *c, *d;
    const ga_arrays list[] = {{2, {&a, &b}}, {0, {&c}}, {1, {&d}}};
    assert_int_equal(ga_arrays_place(3, list, NULL), 5);
    assert_null(a);
    assert_int_equal(ga_arrays_place(3, list, memory), 5);
    assert_true(a == memory && b == memory + 2 && c == memory + 4 && d == memory + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
