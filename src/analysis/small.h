/* Matrices of four rows and columns, row by row; smaller ones are filled up with zeros. */
#ifndef GA_ANALYSIS_SMALL_H
#define GA_ANALYSIS_SMALL_H

enum { GA_SMALL = 4 };

typedef struct ga_small {
    double x[GA_SMALL][GA_SMALL];
} ga_small;

ga_small ga_small_identity(void);
ga_small ga_small_product(const ga_small *A, const ga_small *B);
double ga_small_frobenius(const ga_small *A); /* between the 2-norm and twice it */
double ga_small_norm(const ga_small *A);      /* 2-norm */
/* Spectral radius. Where k eigenvalues coincide it is good to the k-th root of round-off. */
double ga_small_radius(const ga_small *A);

#endif
