/* Which mistake the library is to make: GALPHA_FAULT in the environment names it. */
#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

bool ga_fault_is(const char *name)
{
    const char *wanted = getenv("GALPHA_FAULT");
    return wanted && strcmp(wanted, name) == 0;
}
