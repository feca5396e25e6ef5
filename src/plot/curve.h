/* From the numbers of a curve to the strokes that show it. */
#ifndef GA_PLOT_CURVE_H
#define GA_PLOT_CURVE_H

#include "plot/canvas.h"
#include "plot/scale.h"

/* Where strokes go. */
typedef struct ga_strokes {
    void (*move)(void *user, double x, double y);
    void (*line)(void *user, double x, double y);
    void *user;
} ga_strokes;

/* Strokes through all points that the axes show, interrupted at gaps, cut off some way outside
 * the box, and with no more corners than can be seen. */
void ga_curve_trace(const ga_plot_series *series, const ga_axis *x, const ga_axis *y,
                    const ga_box *box, const ga_strokes *strokes);

/* Calls `at` for every marker inside the box. */
void ga_curve_markers(const ga_plot_series *series, const ga_axis *x, const ga_axis *y,
                      const ga_box *box, void (*at)(void *user, double x, double y),
                      void *user);

#endif
