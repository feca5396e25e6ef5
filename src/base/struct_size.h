/* Structs that users fill begin with their size, which the functions that give defaults set, or
 * the users where there are none. A program compiled with the headers of another version, or
 * one that did without defaults, is refused instead of being misread. Members of such structs
 * need none of their own. */
#ifndef GA_BASE_STRUCT_SIZE_H
#define GA_BASE_STRUCT_SIZE_H

#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The size that a program knows comes with it, so that nothing is written beyond its struct: of
 * another size it becomes zero, up to its size, by which it is refused where it is used. */
static inline bool ga_is_own_size(void *def, size_t given, size_t own)
{
    if (given == own) return true;
    memset(def, 0, given);
    if (given >= sizeof given) memcpy(def, &given, sizeof given);
    return false;
}

static inline ga_status ga_check_size(const char *name, size_t given, size_t own,
                                      ga_report *report)
{
    if (given == own) return GA_OK;
    return ga_fail(report, GA_ERR_ARGUMENT,
                   "%s.struct_size is %zu, expected %zu: it must come from the function that "
                   "gives its defaults, with the headers of this version of galpha",
                   name, given, own);
}

/* Without such a function. */
static inline ga_status ga_check_own_size(const char *name, size_t given, size_t own,
                                          ga_report *report)
{
    if (given == own) return GA_OK;
    return ga_fail(
        report, GA_ERR_ARGUMENT,
        "%s.struct_size is %zu, expected %zu: set it to sizeof(%s), with the headers "
        "of this version of galpha",
        name, given, own, name);
}

#endif
