/* Numbers and vectors that carry their derivatives.
 *
 * A force law is written once, as a sequence of the operations below; with n = 0 it gives the
 * force, with n columns the exact tangent as well, so the two cannot disagree. Columns are
 * first the variations of the element's nodes, then their twists, six each (force.h).
 *
 * Outputs may be the same object as an input unless a comment says otherwise. Columns past n
 * are neither read nor written.
 */
#ifndef GA_ELEMENT_DUAL_H
#define GA_ELEMENT_DUAL_H

#include "element/element.h"
#include "lie/vec3.h"

enum { GA_DUAL_COLUMNS = 2 * GA_TWIST * GA_ELEMENT_MAX_NODES };

typedef struct ga_dual {
    double value;
    double d[GA_DUAL_COLUMNS];
} ga_dual;

typedef struct ga_dual3 {
    ga_vec3 value;
    ga_vec3 d[GA_DUAL_COLUMNS];
} ga_dual3;

void ga_dual_constant(int n, double value, ga_dual *out);
/* f(x) from f and f' at x. */
void ga_dual_chain(int n, double value, double slope, const ga_dual *x, ga_dual *out);
/* a + s b */
void ga_dual_axpy(int n, const ga_dual *a, double s, const ga_dual *b, ga_dual *out);
void ga_dual_product(int n, const ga_dual *a, const ga_dual *b, ga_dual *out);

void ga_dual3_constant(int n, ga_vec3 value, ga_dual3 *out);
void ga_dual3_axpy(int n, const ga_dual3 *a, double s, const ga_dual3 *b, ga_dual3 *out);
void ga_dual3_scale(int n, const ga_dual *s, const ga_dual3 *a, ga_dual3 *out);
/* out += s a; out is not a. */
void ga_dual3_add_scaled(int n, const ga_dual *s, const ga_dual3 *a, ga_dual3 *out);
void ga_dual3_dot(int n, const ga_dual3 *a, const ga_dual3 *b, ga_dual *out);
/* out is neither a nor b. */
void ga_dual3_cross(int n, const ga_dual3 *a, const ga_dual3 *b, ga_dual3 *out);
/* Vector from its components. */
void ga_dual3_join(int n, const ga_dual components[3], ga_dual3 *out);

#endif
