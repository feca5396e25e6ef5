#include "api/warnings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *code, *when, *remedy, *remedy_fixed;
} kinds[GA_WARNING_KINDS] = {
#define GA_WARNING(name, code, when, remedy, fixed) {code, when, remedy, fixed},
#include "api/warning.def"
#undef GA_WARNING
};

void ga_warn(ga_warnings *warnings, ga_warning_kind kind, const char *element, double time,
             const char *format, ...)
{
    if (warnings->count == GA_WARNINGS_MAX) {
        ++warnings->left_off;
        return;
    }
    const int k = warnings->count++;
    warnings->items[k].kind = kind;
    warnings->items[k].element = element;
    warnings->items[k].time = time;
    va_list args;
    va_start(args, format);
    vsnprintf(warnings->items[k].message, GA_MESSAGE_SIZE, format, args);
    va_end(args);
}

bool ga_warnings_have(const ga_warnings *warnings, ga_warning_kind kind)
{
    for (int k = 0; k < warnings->count; ++k)
        if (warnings->items[k].kind == kind) return true;
    return false;
}

ga_warning ga_warnings_get(const ga_warnings *warnings, int k)
{
    if (k < 0 || k >= warnings->count) return (ga_warning){.time = NAN};
    const ga_warning_kind kind = warnings->items[k].kind;
    const bool fixed = warnings->fixed_steps && kinds[kind].remedy_fixed;
    return (ga_warning){.code = kinds[kind].code,
                        .message = warnings->items[k].message,
                        .remedy = fixed ? kinds[kind].remedy_fixed : kinds[kind].remedy,
                        .element = warnings->items[k].element,
                        .time = warnings->items[k].time};
}

ga_warning_code ga_warning_code_get(int k)
{
    if (k < 0 || k >= GA_WARNING_KINDS) return (ga_warning_code){NULL, NULL};
    return (ga_warning_code){kinds[k].code, kinds[k].when};
}
