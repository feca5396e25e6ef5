/* Arrays from the system: zeroed, whole or not. */
#include "base/memory.h"
#include "test/support/unit.h"

static void arrays_are_zeroed(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 1000, 1 << 17, (1 << 18) + 1, 1 << 20};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k) {
        double *whole = GA_NEW_WHOLE(double, counts[k]), *plain = GA_NEW(double, counts[k]);
        assert_non_null(whole);
        assert_non_null(plain);
        ga_take_pages(plain, counts[k] * sizeof *plain);
        for (size_t i = 0; i < counts[k]; ++i) {
            assert_true(whole[i] == 0 && plain[i] == 0);
            whole[i] = plain[i] = 1;
        }
        ga_free(whole);
        ga_free(plain);
    }
    ga_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_are_zeroed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
