/* Arrays of numbers that live and die together. A function lists them once, for creation and
 * for destruction:
 *
 *     static bool for_arrays(thing *x, ga_arrays_do *act)
 *     {
 *         const ga_arrays list[] = {{x->n, {&x->q, &x->v}}, {2 * x->n, {&x->work}}};
 *         return act(sizeof list / sizeof *list, list);
 *     }
 */
#ifndef GA_BASE_ARRAYS_H
#define GA_BASE_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>

enum { GA_ARRAYS_MOST = 16 };

typedef struct ga_arrays {
    int length;
    double **array[GA_ARRAYS_MOST]; /* those of this length; the rest is null */
} ga_arrays;

typedef bool ga_arrays_do(size_t groups, const ga_arrays *list);
/* Zeroed arrays; false if memory is out, then those that exist are still to be destroyed. */
ga_arrays_do ga_arrays_create;
ga_arrays_do ga_arrays_create_whole; /* written to soon from end to end: ga_alloc_whole */
ga_arrays_do ga_arrays_destroy;      /* null pointers are fine; true */

/* One after the other in this memory, so that a copy is one copy; returns how many numbers that
 * takes. Null: no memory yet. */
size_t ga_arrays_place(size_t groups, const ga_arrays *list, double *memory);

#endif
