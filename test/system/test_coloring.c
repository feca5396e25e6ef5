/* Colourings: valid, and as few colours as known optima. */
#include "system/coloring.h"
#include "test/la/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static ga_coloring paint(const ga_coords *A)
{
    ga_coloring c;
    assert_int_equal(ga_coloring_create(A, &c), GA_OK);
    return c;
}

/* Naive: all pairs of entries. */
static void assert_valid(const ga_coords *A, const ga_coloring *c)
{
    int *length = zeroed(A->cols, sizeof(int)), *used = zeroed(c->colors, sizeof(int));
    for (int k = 0; k < A->count; ++k) length[A->col[k]]++;
    for (int j = 0; j < A->cols; ++j) {
        if (length[j] == 0) {
            assert_int_equal(c->color[j], -1);
            continue;
        }
        assert_in_range(c->color[j], 0, c->colors - 1);
        used[c->color[j]] = 1;
    }
    for (int color = 0; color < c->colors; ++color) assert_int_equal(used[color], 1);
    for (int k = 0; k < A->count; ++k)
        for (int e = 0; e < k; ++e)
            if (A->row[e] == A->row[k] && A->col[e] != A->col[k])
                assert_int_not_equal(c->color[A->col[e]], c->color[A->col[k]]);
    free(length), free(used);
}

static ga_coords band(int n, int half)
{
    int count = 0, room = n * (2 * half + 1);
    int *row = zeroed(room, sizeof(int)), *col = zeroed(room, sizeof(int));
    for (int j = 0; j < n; ++j)
        for (int i = j - half; i <= j + half; ++i)
            if (i >= 0 && i < n) row[count] = i, col[count++] = j;
    ga_coords A;
    assert_int_equal(ga_coords_create(n, n, count, row, col, &A), GA_OK);
    free(row), free(col);
    return A;
}

static void bands_are_optimal(void **state)
{
    (void)state;
    for (int half = 0; half < 4; ++half) {
        ga_coords A = band(200, half);
        ga_coloring c = paint(&A);
        assert_int_equal(c.colors, 2 * half + 1);
        assert_valid(&A, &c);
        ga_coloring_destroy(&c);
        ga_coords_destroy(&A);
    }
}

static void random_ones_are_valid(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int s = 0; s < 30; ++s) {
        int rows = 1 + random_below(&seed, 60), cols = 1 + random_below(&seed, 60);
        ga_coords A = random_coords(&seed, rows, cols, random_below(&seed, 4 * cols));
        ga_coloring c = paint(&A);
        assert_valid(&A, &c);
        ga_coloring_destroy(&c);
        ga_coords_destroy(&A);
    }
}

static void special_shapes(void **state)
{
    (void)state;
    int shape[][3] = {{5, 7, 7}, {7, 5, 5}, {0, 4, 0}, {4, 0, 0},
                      {0, 0, 0}, {1, 9, 9}, {9, 1, 1}};
    for (int s = 0; s < 7; ++s) {
        ga_coords A;
        assert_int_equal(ga_coords_create(shape[s][0], shape[s][1], 0, NULL, NULL, &A), GA_OK);
        ga_coords entries;
        assert_int_equal(ga_coords_entries(&A, &entries), GA_OK);
        ga_coloring c = paint(&A);
        assert_int_equal(c.colors, shape[s][2]);
        assert_valid(&entries, &c);
        ga_coloring_destroy(&c);
        assert_null(c.color);
        ga_coords_destroy(&A);
        ga_coords_destroy(&entries);
    }
}

/* One full row of 300000 entries: looking at all pairs of its columns would take minutes. */
static void full_row_takes_linear_time(void **state)
{
    (void)state;
    int n = 300000;
    int *row = zeroed(2 * n, sizeof(int)), *col = zeroed(2 * n, sizeof(int));
    for (int j = 0; j < n; ++j) {
        col[j] = col[n + j] = j;
        row[n + j] = j;
    }
    ga_coords A;
    assert_int_equal(ga_coords_create(n, n, 2 * n, row, col, &A), GA_OK);
    ga_coloring c = paint(&A);
    assert_int_equal(c.colors, n);
    ga_coloring_destroy(&c);
    ga_coords_destroy(&A);
    free(row), free(col);
}

static void marks_first_entries(void **state)
{
    (void)state;
    uint64_t seed = 2;
    ga_coords A = random_coords(&seed, 9, 7, 100);
    ga_coloring c = paint(&A);
    for (int k = 0; k < A.count; ++k) {
        bool expected = true;
        for (int e = 0; e < k; ++e)
            if (A.row[e] == A.row[k] && A.col[e] == A.col[k]) expected = false;
        assert_int_equal(c.first[k], expected);
    }
    ga_coloring_destroy(&c);
    ga_coords_destroy(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_optimal),          cmocka_unit_test(marks_first_entries),
        cmocka_unit_test(random_ones_are_valid),      cmocka_unit_test(special_shapes),
        cmocka_unit_test(full_row_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
