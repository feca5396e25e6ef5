/* Numbers as keys that integers can be compared by, four at a time: for finding pivots. */
#ifndef GA_LA_KEYS_H
#define GA_LA_KEYS_H

#include "la/fours.h"

#include <stdbool.h>
#include <stdint.h>

/* Rows have numbers that fit into what a key of a pivot has left for them. */
enum { LAST = 0xffff };

/* Keys of four numbers: larger for larger ones, and of equal ones for the first. The last bits
 * of a number make room for how many rows are left, so that one comparison tells both. Zero,
 * the smallest of all, for rows that are not free. Sizes are all bits but the sign: infinity
 * and NaN are the largest. */
#if defined(__GNUC__)
typedef quad_mask keys;
KERNEL void set_left(keys *left, int row)
{
    *left = (keys){LAST - row, LAST - row - 1, LAST - row - 2, LAST - row - 3};
}
KERNEL void set_sizes(keys *most) { *most = (keys){0}; }
KERNEL void set_free(keys *free) { *free = (keys){-1, -1, -1, -1}; }
KERNEL void raise_free(keys *most, const keys *left, const quad *x, const keys *free)
{
    const keys key = (((keys)*x & (INT64_MAX & ~(long long)LAST)) | *left) & *free;
    const keys more = key > *most;
    *most = (key & more) | (*most & ~more);
}
KERNEL void next_rows(keys *left) { *left -= 4; }
KERNEL void raise_sizes(keys *most, const quad *x)
{
    const keys size = (keys)*x & INT64_MAX, more = size > *most;
    *most = (size & more) | (*most & ~more);
}
/* From now on row is not free, if it is one of these. */
KERNEL void occupy(const keys *left, int row, keys *free)
{
    const long long key = LAST - row;
    *free &= *left != key;
}
KERNEL void keep_free(quad *x, const keys *free) { *x = (quad)((keys)*x & *free); }
KERNEL int64_t key_at(const keys *most, int v) { return (*most)[v]; }
#else
typedef struct keys {
    int64_t at[4];
} keys;
KERNEL void set_left(keys *left, int row) { EACH left->at[v] = LAST - row - v; }
KERNEL void set_sizes(keys *most) { EACH most->at[v] = 0; }
KERNEL void set_free(keys *free) { EACH free->at[v] = -1; }
KERNEL void raise_free(keys *most, const keys *left, const quad *x, const keys *free)
{
    int64_t bits[4];
    memcpy(bits, x, sizeof bits);
    EACH bits[v] = ((bits[v] & (INT64_MAX & ~(int64_t)LAST)) | left->at[v]) & free->at[v];
    EACH most->at[v] = bits[v] > most->at[v] ? bits[v] : most->at[v];
}
KERNEL void next_rows(keys *left) { EACH left->at[v] -= 4; }
KERNEL void raise_sizes(keys *most, const quad *x)
{
    int64_t bits[4];
    memcpy(bits, x, sizeof bits);
    EACH bits[v] &= INT64_MAX;
    EACH most->at[v] = bits[v] > most->at[v] ? bits[v] : most->at[v];
}
KERNEL void occupy(const keys *left, int row, keys *free)
{
    EACH if (left->at[v] == LAST - row) free->at[v] = 0;
}
KERNEL void keep_free(quad *x, const keys *free) { EACH x->at[v] = free->at[v] ? x->at[v] : 0; }
KERNEL int64_t key_at(const keys *most, int v) { return most->at[v]; }
#endif

KERNEL bool is_any(const keys *x)
{
    return (key_at(x, 0) | key_at(x, 1) | key_at(x, 2) | key_at(x, 3)) != 0;
}

KERNEL int64_t largest_key(const keys *most)
{
    const int64_t a = key_at(most, 0), b = key_at(most, 1), c = key_at(most, 2),
                  d = key_at(most, 3), x = a > b ? a : b, y = c > d ? c : d;
    return x > y ? x : y;
}

KERNEL int row_of(const keys *most) { return LAST - (int)(largest_key(most) & LAST); }

#endif
