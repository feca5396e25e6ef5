/* What is rarely asked of fronts (front.h), in plain loops: solutions with the transposed
 * matrix, the growth of pivots; and the sizes of factors. */
#include "la/front.h"

#include <math.h>

/* Numbers in the panels before column c. */
static size_t forth_before(int k, int ld, int c)
{
    size_t size = 0;
    for (int q = 0; q < c; q += 4) size += (size_t)ga_front_panel(k, q) * (size_t)(ld - q);
    return size;
}

/* In the panels behind that of column c, and in front of all panels. */
static size_t back_before(int k, int r, int c)
{
    size_t size = (size_t)ga_front_padded(k) * (size_t)r;
    for (int q = (k - 1) & ~3; q > c; q -= 4)
        size += (size_t)ga_front_panel(k, q) * (size_t)(q + 4);
    return size;
}

size_t ga_front_forth_size(int k, int r)
{
    return forth_before(k, ga_front_padded(k + r), ga_front_padded(k));
}

size_t ga_front_back_size(int k, int r) { return back_before(k, r, -4); }

void ga_front_forward_transposed(int k, int m, const double *back, double *others, double *own)
{
    const int r = m - k;
    for (int c = 0; c < k; ++c) {
        const int first = c & ~3, w = ga_front_panel(k, first);
        const double *tile = back + back_before(k, r, first) + 4 * (c - first);
        for (int i = 0; i < first; ++i) own[c] -= tile[4 * w * (1 + i / 4) + i % 4] * own[i];
        for (int i = first; i < c; ++i) own[c] -= tile[i - first] * own[i];
        own[c] *= tile[c - first];
    }
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < k; ++i) others[j] -= back[4 * (i / 4 * r + j) + i % 4] * own[i];
}

void ga_front_backward_transposed(int k, int m, const double *forth, const double *others,
                                  double *own)
{
    for (int c = k - 1; c >= 0; --c) {
        const int first = c & ~3, w = ga_front_panel(k, first);
        const double *tile =
            forth + forth_before(k, ga_front_padded(m), first) + 4 * (c - first);
        for (int i = c + 1; i < m; ++i) {
            const int at = i - first;
            own[c] -= tile[4 * w * (at / 4) + at % 4] * (i < k ? own[i] : others[i - k]);
        }
    }
}

double ga_front_growth(int k, int m, const double *F)
{
    const int ld = ga_front_padded(m);
    double growth = 0;
    for (int p = 0; p < k; ++p) {
        double l = 0, u = 0;
        for (int i = k; i < m; ++i) {
            l = fmax(l, fabs(F[(ptrdiff_t)p * ld + i]));
            u = fmax(u, fabs(F[(ptrdiff_t)i * ld + p]));
        }
        growth = fmax(growth, l * u);
    }
    return growth;
}
