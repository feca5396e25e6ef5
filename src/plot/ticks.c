/* Linear: ticks at multiples of 1, 2 or 5 times a power of ten. A label is an integer n times
 * 10^e, so it is written from the integer and no rounding shows. Powers of ten that all labels
 * have in common, and a large number that all have in common, go into the factor of the axis.
 *
 * Logarithmic: ticks at powers of ten, at every second, third, ... if there are many, and at
 * 2 and 5 times a power of ten if there are few; below a factor of about three as if linear.
 */
#include "base/buffer.h"
#include "plot/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MINUS "\xe2\x88\x92"
#define TIMES "\xc3\x97"

static ga_tick *add(ga_ticks *ticks, double at, bool major)
{
    enum { ROOM = sizeof ticks->tick / sizeof ticks->tick[0] };
    if (ticks->count >= ROOM) return NULL;
    ga_tick *tick = &ticks->tick[ticks->count++];
    *tick = (ga_tick){.at = at, .major = major};
    return tick;
}

/* n * 10^e, exactly rounded also for negative e. */
static double scaled(double n, int e) { return e < 0 ? n / pow(10, -e) : n * pow(10, e); }

/* n * 10^-decimals; `n` has less than 16 digits. */
static void write_fixed(double n, int decimals, char text[GA_TICK_SIZE])
{
    char digits[32];
    snprintf(digits, sizeof digits, "%0*.0f", decimals + 1, fabs(n));
    const int whole = (int)strlen(digits) - decimals;
    snprintf(text, GA_TICK_SIZE, "%s%.*s%s%s", n < 0 ? MINUS : "", whole, digits,
             decimals > 0 ? "." : "", digits + whole);
}

static void write_power(int e, char text[GA_TICK_SIZE])
{
    snprintf(text, GA_TICK_SIZE, "10^{%s%d}", e < 0 ? MINUS : "", e < 0 ? -e : e);
}

static int exponent_of(double x) { return (int)floor(log10(x) + 1e-9); }

/* A step m * 10^e so that at most `most` ticks are in the range. */
static void choose_step(double range, int most, int *m, int *e)
{
    static const int nice[] = {1, 2, 5};
    const double least = range / (most > 1 ? most - 1 : 1);
    *e = (int)floor(log10(least));
    for (int k = 0; k < 6; ++k) {
        *m = nice[k % 3];
        if (scaled(*m, *e + k / 3) >= least * (1 - 1e-9)) {
            *e += k / 3;
            return;
        }
    }
    *m = 1, *e += 2; /* only by round-off */
}

/* Numbers that differ late in their digits: the part they have in common, as a multiple of
 * 10^e, or 0. */
static double common_part(double low, double high, int e)
{
    const double size = fmax(fabs(low), fabs(high));
    const int digits = exponent_of(size) - e + 1;
    if (digits <= 5) return 0;
    const int round_to = exponent_of(high - low) + 1;
    if (exponent_of(size) <= round_to) return 0;
    const double multiple = floor(scaled(low, -round_to) + 1e-9);
    return multiple * pow(10, round_to - e);
}

static void write_factor(double offset, int offset_e, int power, char text[GA_TICK_SIZE])
{
    char both[2 * GA_TICK_SIZE] = "";
    if (power != 0) {
        char tens[GA_TICK_SIZE];
        write_power(power, tens);
        snprintf(both, sizeof both, TIMES "%s", tens);
    }
    if (offset != 0) {
        char number[32];
        ga_number_write(fabs(scaled(offset, offset_e)), 15, number, sizeof number);
        const size_t length = strlen(both);
        snprintf(both + length, sizeof both - length, "%s%s%s", length ? " " : "",
                 offset < 0 ? MINUS : "+", number);
    }
    snprintf(text, GA_TICK_SIZE, "%.*s", GA_TICK_SIZE - 1, both);
}

/* The power of ten that labels up to n * 10^e leave to the axis. */
static int common_power(double n, int e)
{
    if (n <= 0) return 0;
    const int largest = exponent_of(n) + e;
    return largest >= 5 || largest <= -4 ? largest : 0;
}

static void find_linear(const ga_axis *axis, int most, ga_ticks *ticks)
{
    const double low = fmin(axis->low, axis->high), high = fmax(axis->low, axis->high);
    int m, e;
    choose_step(high - low, most, &m, &e);
    const double step = scaled(m, e), slack = 1e-6;
    const double first = ceil(low / step - slack), last = floor(high / step + slack);
    const double offset = common_part(low, high, e);
    const double largest = fmax(fabs(first * m - offset), fabs(last * m - offset));
    const int power = common_power(largest, e);
    const int decimals = power > e ? power - e : 0;
    for (double k = first; k <= last; ++k) {
        ga_tick *tick = add(ticks, scaled(k * m, e), true);
        const double n = k * m - offset;
        if (tick) write_fixed(power > e ? n : n * pow(10, e - power), decimals, tick->label);
    }
    write_factor(offset, e, power, ticks->factor);

    const int parts = m == 2 ? 4 : 5;
    for (double k = ceil(low / step * parts - slack); k <= high / step * parts + slack; ++k)
        if (fmod(k, parts) != 0) add(ticks, scaled(k * m / parts, e), false);
}

/* m * 10^e; plain where all labels of the axis can be. */
static void write_log_label(int m, int e, bool plain, char text[GA_TICK_SIZE])
{
    if (plain)
        write_fixed(scaled(m, e < 0 ? 0 : e), e < 0 ? -e : 0, text);
    else if (m == 1)
        write_power(e, text);
    else {
        char power[GA_TICK_SIZE];
        write_power(e, power);
        snprintf(text, GA_TICK_SIZE, "%d" TIMES "%.*s", m, GA_TICK_SIZE - 8, power);
    }
}

static void find_log(const ga_axis *axis, int most, ga_ticks *ticks)
{
    const double low = log10(axis->low), high = log10(axis->high), slack = 1e-6;
    if (high - low < 0.45) {
        find_linear(axis, most, ticks);
        return;
    }
    const int first = (int)floor(low + slack), last = (int)ceil(high - slack);
    const bool plain = first >= -2 && last <= 3;
    const int decades = (int)floor(high + slack) - (int)ceil(low - slack) + 1;
    const bool few = decades < 3 && most >= 3 * decades;
    int stride = 1;
    while ((decades + stride - 1) / stride > most) ++stride;
    const bool nines = (high - low) / stride <= 16 && stride == 1;
    for (int e = first; e <= last; ++e)
        for (int m = 1; m < 10; ++m) {
            const double at = scaled(m, e);
            if (log10(at) < low - slack || log10(at) > high + slack) continue;
            const bool major = m == 1 && e % stride == 0;
            const bool labeled = major || (few && stride == 1 && (m == 2 || m == 5));
            if (m > 1 && !nines) break;
            ga_tick *tick = add(ticks, at, major);
            if (tick && labeled) write_log_label(m, e, plain, tick->label);
        }
}

void ga_ticks_find(const ga_axis *axis, int most, ga_ticks *ticks)
{
    ticks->count = 0;
    ticks->factor[0] = '\0';
    if (most < 2) most = 2;
    if (most > GA_TICKS_MOST) most = GA_TICKS_MOST;
    if (axis->scale == GA_SCALE_LOG)
        find_log(axis, most, ticks);
    else
        find_linear(axis, most, ticks);
}
