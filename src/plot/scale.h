/* An axis: from numbers to places on paper, and where its ticks are. */
#ifndef GA_PLOT_SCALE_H
#define GA_PLOT_SCALE_H

#include <galpha/plot.h>
#include <stdbool.h>

/* A range of numbers while it is collected; empty: low > high. */
typedef struct ga_range {
    double low, high;
} ga_range;

ga_range ga_range_empty(void);
/* Takes what the scale can show, and leaves out the rest. */
void ga_range_add(ga_range *range, ga_plot_scale scale, double x);
/* A range that is not empty and not too narrow, with such a part of it as a margin on both
 * sides. */
ga_range ga_range_fit(ga_range range, ga_plot_scale scale, double margin);

typedef struct ga_axis {
    ga_plot_scale scale;
    double low, high;  /* numbers, low < high; both positive if logarithmic */
    double start, end; /* their places, in points */
} ga_axis;

bool ga_axis_shows(const ga_axis *axis, double x); /* finite, and positive if need be */
double ga_axis_place(const ga_axis *axis, double x);
double ga_axis_number(const ga_axis *axis, double place);

enum { GA_TICKS_MOST = 64, GA_TICK_SIZE = 40 };

typedef struct ga_tick {
    double at;
    char label[GA_TICK_SIZE]; /* marked-up text; "": none, a minor tick */
    bool major;
} ga_tick;

typedef struct ga_ticks {
    int count;
    ga_tick tick[4 * GA_TICKS_MOST];
    char factor[GA_TICK_SIZE]; /* what belongs to all labels, "x10^{-3}"; "": nothing */
} ga_ticks;

/* At most so many labels. */
void ga_ticks_find(const ga_axis *axis, int most, ga_ticks *ticks);

#endif
