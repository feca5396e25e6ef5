/* cmocka, and the headers it wants to find in place. The blank line keeps clang-format from
 * sorting them behind it. */
#ifndef GA_TEST_UNIT_H
#define GA_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
