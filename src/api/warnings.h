/* The warnings of a simulation: what a user should know about a run that did not fail. All
 * there are stand in warning.def. */
#ifndef GA_API_WARNINGS_H
#define GA_API_WARNINGS_H

#include <galpha/sim.h>
#include <stdbool.h>

typedef enum ga_warning_kind {
#define GA_WARNING(name, ...) GA_WARN_##name,
#include "api/warning.def"
#undef GA_WARNING
    GA_WARNING_KINDS
} ga_warning_kind;

enum { GA_WARNINGS_MAX = 32 };

typedef struct ga_warnings {
    bool fixed_steps; /* remedies are those for steps of fixed size */
    int count;
    int left_off; /* warnings there was no room for */
    struct {
        ga_warning_kind kind;
        const char *element; /* borrowed */
        double time;
        char message[GA_MESSAGE_SIZE];
    } items[GA_WARNINGS_MAX];
} ga_warnings;

/* Adds a warning. element: a name that outlives the list, or null; time: NAN if it is about no
 * particular one. The message is a sentence without a full stop that names the element, too. */
void ga_warn(ga_warnings *warnings, ga_warning_kind kind, const char *element, double time,
             const char *format, ...) __attribute__((format(printf, 5, 6)));

bool ga_warnings_have(const ga_warnings *warnings, ga_warning_kind kind);

/* The k-th; its code is null past the last. */
ga_warning ga_warnings_get(const ga_warnings *warnings, int k);

#endif
