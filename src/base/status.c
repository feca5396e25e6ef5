#include "base/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ga_status_name(ga_status status)
{
    static const char *const names[] = {
#define GA_STATUS_NAME(code, text) #code,
        GA_STATUS_LIST(GA_STATUS_NAME)};
    size_t k = (size_t)status;
    return k < sizeof names / sizeof *names ? names[k] : "unknown status";
}

const char *ga_status_text(ga_status status)
{
    static const char *const texts[] = {
#define GA_STATUS_TEXT(code, text) text,
        GA_STATUS_LIST(GA_STATUS_TEXT)};
    size_t k = (size_t)status;
    return k < sizeof texts / sizeof *texts ? texts[k] : "unknown status";
}

__attribute__((format(printf, 3, 0))) static void fill(ga_report *report, ga_status status,
                                                       const char *format, va_list args)
{
    memset(report, 0, sizeof *report);
    report->status = status;
    report->row = report->column = -1;
    if (status == GA_OK) return; /* nothing to say, at every step */
    vsnprintf(report->message, sizeof report->message, format, args);
}

ga_status ga_fail(ga_report *report, ga_status status, const char *format, ...)
{
    if (!report) return status;
    va_list args;
    va_start(args, format);
    fill(report, status, format, args);
    va_end(args);
    return status;
}

ga_status ga_fail_at(ga_report *report, double t, int row, ga_status status, const char *format,
                     ...)
{
    if (!report) return status;
    va_list args;
    va_start(args, format);
    fill(report, status, format, args);
    va_end(args);
    report->time = t;
    report->row = row;
    return status;
}

void ga_message_add(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, GA_MESSAGE_SIZE - used, format, args);
    va_end(args);
}
