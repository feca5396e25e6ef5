/* Which parts of a panel are taken, as a grid of cells: for putting legends and labels where
 * they cover nothing. */
#ifndef GA_PLOT_COVER_H
#define GA_PLOT_COVER_H

#include "plot/canvas.h"

typedef struct ga_cover {
    ga_box box;
    int columns, rows;
    unsigned char *taken;
    int *sums;  /* of taken cells above and left of each corner */
    bool stale; /* sums are older than taken */
} ga_cover;

ga_status ga_cover_create(ga_cover *cover, const ga_box *box);
void ga_cover_free(ga_cover *cover);
void ga_cover_stroke(ga_cover *cover, double x0, double y0, double x1, double y1);
void ga_cover_box(ga_cover *cover, const ga_box *box);
/* Taken cells that the box touches; what is outside the panel counts as taken. */
int ga_cover_count(ga_cover *cover, const ga_box *box);

/* A place for something of this size at the edge of the panel, corners first, that covers
 * least; returns how many cells. */
int ga_cover_place(ga_cover *cover, double width, double height, double gap, ga_box *place);

#endif
