/* Full blocks of a full matrix. */
#ifndef GA_LA_FULL_H
#define GA_LA_FULL_H

/* to += scale x: rows x cols numbers, column by column; columns of `to` are ld apart. */
void ga_full_add(int rows, int cols, double scale, const double *x, int ld, double *to);
/* The same with x row by row. */
void ga_full_add_rows(int rows, int cols, double scale, const double *x, int ld, double *to);

#endif
