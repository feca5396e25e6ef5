/* What an integration is and what it has learned, as bytes: for `save` and `load` of one-step
 * methods. A method lists the pieces of memory that are written and read as they are; what can
 * be computed from them is not among them. */
#ifndef GA_INTEGRATE_SAVE_H
#define GA_INTEGRATE_SAVE_H

#include "integrate/onestep.h"

typedef struct ga_piece {
    void *data;
    size_t size;
} ga_piece;

enum { GA_MOST_PIECES = 80, GA_MOST_FACTORS = 3 };

typedef struct ga_pieces {
    ga_piece list[GA_MOST_PIECES];
    int count;
    ga_factor *factor[GA_MOST_FACTORS]; /* whose choice of pivots is written, too */
    int factors;
} ga_pieces;

void ga_pieces_add(ga_pieces *p, void *data, size_t size);
void ga_pieces_add_numbers(ga_pieces *p, double *x, int n);
/* A number, a flag or a struct without pointers. */
#define GA_PIECE(p, member) ga_pieces_add(p, &(member), sizeof(member))
/* The choice of pivots of a factor; null: nothing. */
void ga_pieces_add_factor(ga_pieces *p, ga_factor *factor);
/* What was found out about constraints, sizes of states, and the pivots of the saddle matrix.
 */
void ga_pieces_add_consistent(ga_pieces *p, ga_consistent *c);

/* The bytes of these pieces of m, with a heading of what must be equal where they are loaded:
 * the method, the sizes of the system, and a number of its own. */
size_t ga_pieces_save(const ga_pieces *p, const ga_onestep *m, int own, void *bytes);
ga_status ga_pieces_load(const ga_pieces *p, const ga_onestep *m, int own, const void *bytes,
                         size_t size);
/* The choice of pivots alone, once more: after factors have been made again, which counts. */
ga_status ga_pieces_load_pivots(const ga_pieces *p, const void *bytes, size_t size);

#endif
