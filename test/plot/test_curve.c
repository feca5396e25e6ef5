/* Strokes: extremes survive, gaps stay gaps, nothing runs far outside, few corners. */
#include "plot/cover.h"
#include "plot/curve.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdlib.h>

enum { MANY = 200000 };

typedef struct seen {
    int moves, lines;
    double low, high, left, right;
    double last_x, last_y, worst; /* distance of strokes from a circle */
} seen;

static void see(seen *s, double x, double y)
{
    s->low = fmin(s->low, y), s->high = fmax(s->high, y);
    s->left = fmin(s->left, x), s->right = fmax(s->right, x);
    s->last_x = x, s->last_y = y;
}

static void move(void *user, double x, double y)
{
    ((seen *)user)->moves++;
    see(user, x, y);
}

static void line(void *user, double x, double y)
{
    seen *s = user;
    s->lines++;
    const double mx = (s->last_x + x) / 2 - 200, my = (s->last_y + y) / 2 - 150;
    s->worst = fmax(s->worst, fabs(hypot(mx, my) - 100));
    see(s, x, y);
}

static const ga_box box = {0, 0, 400, 300};

static seen trace(const ga_plot_series *series, const ga_axis *x, const ga_axis *y)
{
    seen s = {.low = INFINITY, .high = -INFINITY, .left = INFINITY, .right = -INFINITY};
    const ga_strokes strokes = {move, line, &s};
    ga_curve_trace(series, x, y, &box, &strokes);
    return s;
}

static const ga_axis unit_x = {GA_SCALE_LINEAR, 0, 400, 0, 400};
static const ga_axis unit_y = {GA_SCALE_LINEAR, 0, 300, 0, 300};

static void extremes_survive(void **state)
{
    (void)state;
    double *x = calloc(MANY, sizeof *x), *y = calloc(MANY, sizeof *y);
    for (int k = 0; k < MANY; ++k) x[k] = 400.0 * k / MANY, y[k] = 150 + 50 * sin(k);
    y[123457] = 290;
    y[77] = 3;
    const seen s = trace(
        &(ga_plot_series){.struct_size = sizeof(ga_plot_series), .count = MANY, .x = x, .y = y},
        &unit_x, &unit_y);
    assert_int_equal(s.moves, 1);
    assert_true(s.low == 3 && s.high == 290);
    assert_true(s.left == 0 && s.right == x[MANY - 1]);
    /* Four points in each half point of width. */
    assert_true(s.lines < 4 * 800 + 10);
    free(x), free(y);
}

static void circles_stay_round(void **state)
{
    (void)state;
    double *x = calloc(MANY, sizeof *x), *y = calloc(MANY, sizeof *y);
    for (int k = 0; k < MANY; ++k)
        x[k] = 200 + 100 * cos(k * 0.001), y[k] = 150 + 100 * sin(k * 0.001);
    const seen s = trace(
        &(ga_plot_series){.struct_size = sizeof(ga_plot_series), .count = MANY, .x = x, .y = y},
        &unit_x, &unit_y);
    /* The columns' width and the cone's tolerance, both in points. */
    assert_true(s.worst < 0.1 + 0.04);
    assert_true(s.lines < MANY / 40);
    free(x), free(y);
}

static void straight_lines_are_one_stroke(void **state)
{
    (void)state;
    double x[1000], y[1000];
    for (int k = 0; k < 1000; ++k) x[k] = 0.3 * k, y[k] = 0.2 * k;
    const seen s = trace(
        &(ga_plot_series){.struct_size = sizeof(ga_plot_series), .count = 1000, .x = x, .y = y},
        &unit_x, &unit_y);
    assert_int_equal(s.lines, 1);
    assert_true(fabs(s.last_x - x[999]) <= 1e-12);
}

static void gaps_and_cuts(void **state)
{
    (void)state;
    const double x[] = {10, 20, 30, 40, NAN, 60, 70, 80}, y[] = {1, 2, NAN, 4, 5, 6, -1e9, 8};
    const seen s = trace(
        &(ga_plot_series){.struct_size = sizeof(ga_plot_series), .count = 8, .x = x, .y = y},
        &unit_x, &unit_y);
    assert_int_equal(s.moves, 4); /* 10-20, a dot at 40, 60 down, 80 up */
    assert_true(s.low >= -40);
    const ga_axis log_y = {GA_SCALE_LOG, 1, 10, 300, 0};
    const double ly[] = {1, 2, 0, 3, -1, 4, 5, 6};
    const double lx[] = {10, 20, 30, 40, 50, 60, 70, 80};
    assert_int_equal(trace(&(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                             .count = 8,
                                             .x = lx,
                                             .y = ly},
                           &unit_x, &log_y)
                         .moves,
                     3);
    /* A segment that passes the box though both ends are outside. */
    const double ax[] = {-1e12, 1e12}, ay[] = {150, 150};
    const seen a = trace(
        &(ga_plot_series){.struct_size = sizeof(ga_plot_series), .count = 2, .x = ax, .y = ay},
        &unit_x, &unit_y);
    assert_true(a.moves == 1 && a.left == -40 && a.right == 440);
    assert_int_equal(
        trace(&(ga_plot_series){.struct_size = sizeof(ga_plot_series)}, &unit_x, &unit_y).moves,
        0);
}

static void legends_avoid_curves(void **state)
{
    (void)state;
    ga_cover cover;
    ga_box place;
    assert_int_equal(ga_cover_create(&cover, &box), GA_OK);
    assert_int_equal(ga_cover_place(&cover, 80, 40, 6, &place), 0);
    assert_true(place.right == 394 && place.top == 6); /* the upper right corner comes first */
    ga_cover_stroke(&cover, 0, 300, 400, 0);
    assert_int_equal(ga_cover_place(&cover, 80, 40, 6, &place), 0);
    assert_true(place.left == 6 && place.top == 6);
    ga_cover_box(&cover, &(ga_box){0, 0, 60, 60});
    assert_int_equal(ga_cover_place(&cover, 80, 40, 6, &place), 0);
    assert_true(place.right == 394 && place.bottom == 294);
    for (int k = 0; k < 400; k += 20) ga_cover_stroke(&cover, k, 0, k, 300);
    assert_true(ga_cover_place(&cover, 80, 40, 6, &place) > 0);
    assert_true(ga_cover_place(&cover, 800, 40, 6, &place) > 0);
    ga_cover_free(&cover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes_survive),
        cmocka_unit_test(circles_stay_round),
        cmocka_unit_test(straight_lines_are_one_stroke),
        cmocka_unit_test(gaps_and_cuts),
        cmocka_unit_test(legends_avoid_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
