/* strtod rounds correctly but wants the decimal point of the locale, so the text is handed to
 * it with the point exchanged.
 */
#include "data/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More digits than any double needs to be told from its neighbours exactly. */
enum { MAX_DIGITS = 800 };

static size_t digits(const char *text)
{
    size_t n = 0;
    while (text[n] >= '0' && text[n] <= '9') ++n;
    return n;
}

static size_t exponent(const char *text)
{
    if (*text != 'e' && *text != 'E') return 0;
    const size_t sign = text[1] == '+' || text[1] == '-';
    const size_t n = digits(text + 1 + sign);
    return n ? 1 + sign + n : 0;
}

size_t ga_number_scan(const char *text, double *x)
{
    const size_t sign = *text == '+' || *text == '-';
    const size_t whole = digits(text + sign);
    const size_t point = text[sign + whole] == '.';
    const size_t part = point ? digits(text + sign + whole + 1) : 0;
    if (whole + part == 0) return 0;
    const size_t mantissa = sign + whole + point + part;
    const size_t length = mantissa + exponent(text + mantissa);

    char copy[MAX_DIGITS + 32];
    const char *mark = localeconv()->decimal_point;
    const size_t width = strlen(mark);
    if (length + width >= sizeof copy) {
        *x = NAN; /* not what anybody writes */
        return length;
    }
    const size_t before = sign + whole;
    memcpy(copy, text, before);
    size_t n = before;
    if (point) {
        memcpy(copy + n, mark, width);
        n += width;
    }
    memcpy(copy + n, text + before + point, length - before - point);
    copy[n + length - before - point] = 0;
    *x = strtod(copy, NULL);
    return length;
}
