/* Random sparse matrices for the tests of src/la; a fixed seed gives a fixed matrix. */
#ifndef GA_TEST_LA_RANDOM_H
#define GA_TEST_LA_RANDOM_H

#include "la/coords.h"

#include <stdint.h>
#include <stdlib.h>

static inline uint32_t random_bits(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static inline int random_below(uint64_t *seed, int limit)
{
    return (int)(random_bits(seed) % (uint32_t)limit);
}

/* In [-1, 1). */
static inline double random_value(uint64_t *seed) { return random_bits(seed) * 0x1p-30 - 1; }

static inline void *zeroed(int count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    if (!p) abort();
    return p;
}

static inline double *doubles(int count) { return zeroed(count, sizeof(double)); }

static inline double *random_values(uint64_t *seed, int count)
{
    double *x = doubles(count);
    for (int k = 0; k < count; ++k) x[k] = random_value(seed);
    return x;
}

/* count entries at random places, duplicates included. */
static inline ga_coords random_coords(uint64_t *seed, int rows, int cols, int count)
{
    int *row = zeroed(count, sizeof(int)), *col = zeroed(count, sizeof(int));
    for (int k = 0; k < count; ++k) {
        row[k] = random_below(seed, rows);
        col[k] = random_below(seed, cols);
    }
    ga_coords coords;
    if (ga_coords_create(rows, cols, count, row, col, &coords) != GA_OK) abort();
    free(row);
    free(col);
    return coords;
}

/* Blocks of random sizes up to `most`, overlaps included; at least one fits. */
static inline ga_coords random_blocks(uint64_t *seed, int rows, int cols, int blocks, int most)
{
    ga_coords coords;
    if (ga_coords_reserve(rows, cols, blocks, &coords) != GA_OK) abort();
    for (int b = 0; b < blocks; ++b) {
        coords.row[b] = random_below(seed, rows);
        coords.col[b] = random_below(seed, cols);
        const int height = rows - coords.row[b], width = cols - coords.col[b];
        coords.height[b] = 1 + random_below(seed, height < most ? height : most);
        coords.width[b] = 1 + random_below(seed, width < most ? width : most);
    }
    if (ga_coords_start(&coords) != GA_OK) abort();
    return coords;
}

/* Column-major. */
static inline double *to_full(const ga_coords *A, const double *values)
{
    double *full = doubles(A->rows * A->cols);
    for (ga_matrix_entry e = ga_entry_first(A); e.k < A->count; ga_entry_next(A, &e))
        full[e.row + e.col * A->rows] += values[e.k];
    return full;
}

#endif
