/* Built without KLU: complex.c makes full matrices of sparse ones and asks for nothing. */
#include "la/complex_klu.h"

#include <stddef.h>

ga_status ga_complex_klu_create(const ga_matrix *pattern, ga_complex_klu **klu)
{
    (void)pattern;
    *klu = NULL;
    return GA_ERR_ARGUMENT;
}

void ga_complex_klu_destroy(ga_complex_klu *klu) { (void)klu; }

ga_status ga_complex_klu_factor(ga_complex_klu *klu, double *values)
{
    (void)klu, (void)values;
    return GA_ERR_ARGUMENT;
}

void ga_complex_klu_forget(ga_complex_klu *klu) { (void)klu; }

double *ga_complex_klu_pivots(ga_complex_klu *klu, int *count)
{
    (void)klu;
    *count = 0;
    return NULL;
}

ga_status ga_complex_klu_recall(ga_complex_klu *klu)
{
    (void)klu;
    return GA_OK;
}

void ga_complex_klu_solve(const ga_complex_klu *klu, double *x) { (void)klu, (void)x; }

void ga_complex_klu_solve_transposed(const ga_complex_klu *klu, double *x)
{
    (void)klu, (void)x;
}
