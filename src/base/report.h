/* Filling a ga_report. */
#ifndef GA_BASE_REPORT_H
#define GA_BASE_REPORT_H

#include <galpha/status.h>

/* Clears the report (may be null), stores status and a printf-style sentence, and returns
 * status: `return ga_fail(report, GA_ERR_ARGUMENT, "step %g is not positive", h);` */
ga_status ga_fail(ga_report *report, ga_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of a failure at time t, in this row; -1: in none. */
ga_status ga_fail_at(ga_report *report, double t, int row, ga_status status, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));

/* Appends to a text of GA_MESSAGE_SIZE; what does not fit is cut off. */
void ga_message_add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define GA_TRY(expression)                                                                     \
    do {                                                                                       \
        ga_status ga_try_status_ = (expression);                                               \
        if (ga_try_status_ != GA_OK) return ga_try_status_;                                    \
    } while (0)

#endif
