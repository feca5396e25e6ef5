#include "plot/scale.h"

#include <math.h>

/* Beyond this, differences of numbers are no longer finite. */
static const double LARGEST = 1e300, SMALLEST = 1e-300;
/* A range narrower than this part of its numbers is round-off, and shown as a constant. */
static const double NARROWEST = 1e-12;

ga_range ga_range_empty(void) { return (ga_range){INFINITY, -INFINITY}; }

void ga_range_add(ga_range *range, ga_plot_scale scale, double x)
{
    if (!isfinite(x) || (scale == GA_SCALE_LOG && x <= 0)) return;
    range->low = fmin(range->low, x);
    range->high = fmax(range->high, x);
}

static ga_range fit_log(ga_range r, double margin)
{
    if (r.low > r.high) return (ga_range){0.1, 10};
    double low = log10(fmin(fmax(r.low, SMALLEST), LARGEST));
    double high = log10(fmin(fmax(r.high, SMALLEST), LARGEST));
    const double narrowest = 0.05; /* decades */
    if (high - low < narrowest) low -= 0.5, high += 0.5, margin = 0;
    const double more = margin * (high - low);
    const double farthest = 306; /* decades */
    return (ga_range){pow(10, fmax(low - more, -farthest)),
                      pow(10, fmin(high + more, farthest))};
}

static ga_range fit_linear(ga_range r, double margin)
{
    if (r.low > r.high) return (ga_range){0, 1};
    const double low = fmin(fmax(r.low, -LARGEST), LARGEST);
    const double high = fmin(fmax(r.high, -LARGEST), LARGEST);
    const double size = fmax(fabs(low), fabs(high));
    if (size < SMALLEST) return (ga_range){-1, 1};
    if (high - low < NARROWEST * size) {
        const double middle = (low + high) / 2, half = 0.1 * size;
        return (ga_range){middle - half, middle + half};
    }
    const double more = margin * (high - low);
    return (ga_range){low - more, high + more};
}

ga_range ga_range_fit(ga_range range, ga_plot_scale scale, double margin)
{
    return scale == GA_SCALE_LOG ? fit_log(range, margin) : fit_linear(range, margin);
}

bool ga_axis_shows(const ga_axis *axis, double x)
{
    return isfinite(x) && (axis->scale != GA_SCALE_LOG || x > 0);
}

double ga_axis_place(const ga_axis *a, double x)
{
    double part;
    if (a->scale == GA_SCALE_LOG)
        part = (log(x) - log(a->low)) / (log(a->high) - log(a->low));
    else
        part = (x / 2 - a->low / 2) / (a->high / 2 - a->low / 2); /* halves do not overflow */
    return a->start + part * (a->end - a->start);
}

double ga_axis_number(const ga_axis *a, double place)
{
    const double part = (place - a->start) / (a->end - a->start);
    if (a->scale == GA_SCALE_LOG) return exp(log(a->low) + part * (log(a->high) - log(a->low)));
    return a->low + part * (a->high - a->low);
}
