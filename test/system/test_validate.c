/* Every way a system definition may be wrong: the status, and a sentence that says what. */
#include "test/support/cases.h"

#include <limits.h>

/* A valid system with every callback and every pattern: R^3 and SO(3), two constraints. */

static ga_eval nothing(void *user, const ga_point *at, double *out)
{
    (void)user, (void)at, (void)out;
    return GA_EVAL_OK;
}

enum { NV = 6, NC = 2 };
static const ga_node nodes[2] = {GA_NODE(GA_GROUP_RN, 3), GA_NODE(GA_GROUP_SO3, 0)};
static const int square_row[NV] = {0, 1, 2, 3, 4, 5}, square_col[NV] = {5, 4, 3, 2, 1, 0};
static const int wide_row[4] = {0, 0, 1, 1}, wide_col[4] = {0, 5, 1, 5};
#define SQUARE                                                                                 \
    {                                                                                          \
        .count = NV, .row = square_row, .col = square_col                                      \
    }
#define WIDE                                                                                   \
    {                                                                                          \
        .count = 4, .row = wide_row, .col = wide_col                                           \
    }

static ga_system valid(void)
{
    return (ga_system){
        .struct_size = sizeof(ga_system),
        .node_count = 2,
        .nodes = nodes,
        .constraint_count = NC,
        .mass = nothing,
        .mass_pattern = SQUARE,
        .force = nothing,
        .force_uses_multipliers = true,
        .reactions = GA_REACTIONS_IN_FORCE,
        .constraint = nothing,
        .gradient = nothing,
        .gradient_pattern = WIDE,
        .constraint_rate = nothing,
        .constraint_uses_time = true,
        .acceleration_rhs = nothing,
        .stiffness = nothing,
        .stiffness_pattern = SQUARE,
        .damping = nothing,
        .damping_pattern = SQUARE,
        .velocity_stiffness = nothing,
        .velocity_stiffness_pattern = WIDE,
        .force_multipliers = nothing,
        .force_multipliers_pattern = {.count = 4, .row = wide_col, .col = wide_row}};
}

/* Refused with GA_ERR_SYSTEM and a sentence that holds both words; by create as well; and a
 * null report changes nothing. */
static void refused(const ga_system *s, const char *word, const char *other)
{
    ga_report report;
    memset(&report, 0x55, sizeof report);
    assert_status(ga_system_validate(s, &report), GA_ERR_SYSTEM, report);
    assert_int_equal(report.status, GA_ERR_SYSTEM);
    assert_message(report, word);
    assert_message(report, other);
    assert_int_equal(ga_system_validate(s, NULL), GA_ERR_SYSTEM);
}

static void accepted(const ga_system *s)
{
    ga_report report;
    memset(&report, 0x55, sizeof report);
    assert_status(ga_system_validate(s, &report), GA_OK, report);
    assert_int_equal(report.status, GA_OK);
    assert_string_equal(report.message, "");
    assert_int_equal(ga_system_validate(s, NULL), GA_OK);
}

static void test_valid(void **state)
{
    (void)state;
    ga_system s = valid();
    accepted(&s);
    assert_int_equal(ga_system_nq(&s), 7);
    assert_int_equal(ga_system_nv(&s), NV);

    const ga_system least = {.struct_size = sizeof(ga_system),
                             .node_count = 1,
                             .nodes = nodes,
                             .mass = nothing,
                             .force = nothing};
    accepted(&least);

    s = valid();
    s.reactions = GA_REACTIONS_ADDED;
    accepted(&s);
    s.force_uses_multipliers = false;
    s.force_multipliers = NULL;
    accepted(&s);
    s.gradient = s.acceleration_rhs = s.stiffness = s.damping = s.velocity_stiffness = NULL;
    accepted(&s); /* patterns without callbacks: for difference quotients */
}

static void test_every_problem_is_valid(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        accepted(&p->system);
        pb_destroy(p);
    }
}

static void test_null(void **state)
{
    (void)state;
    ga_report report;
    assert_status(ga_system_validate(NULL, &report), GA_ERR_ARGUMENT, report);
    assert_message(report, "null");
    assert_int_equal(ga_system_validate(NULL, NULL), GA_ERR_ARGUMENT);
}

static void test_nodes(void **state)
{
    (void)state;
    ga_system s = valid();
    s.node_count = 0;
    refused(&s, "node", "at least one");
    s.node_count = -3;
    refused(&s, "node", "at least one");
    s.node_count = INT_MIN;
    refused(&s, "node", "at least one");
    s = valid();
    s.nodes = NULL;
    refused(&s, "node", "at least one");
    s = valid();
    s.node_count = INT_MAX; /* must not read the array to find out */
    refused(&s, "node_count", "too large");

    ga_node bad[2] = {GA_NODE(GA_GROUP_RN, 3), GA_NODE((ga_group)99, 3)};
    s = valid();
    s.nodes = bad;
    refused(&s, "node 1", "99");
    bad[1] = (ga_node)GA_NODE((ga_group)-1, 3);
    refused(&s, "node 1", "-1");
    const int sizes[] = {0, -1, INT_MIN};
    for (int k = 0; k < 3; ++k) {
        bad[1] = (ga_node)GA_NODE(GA_GROUP_RN, sizes[k]);
        refused(&s, "node 1", "n < 1");
    }
}

/* Huge counts: refused before anything is computed from them. */
static void test_huge(void **state)
{
    (void)state;
    ga_node huge[3] = {GA_NODE(GA_GROUP_RN, INT_MAX), GA_NODE(GA_GROUP_RN, INT_MAX),
                       GA_NODE(GA_GROUP_RN, INT_MAX)};
    ga_system s = {.struct_size = sizeof(ga_system),
                   .node_count = 3,
                   .nodes = huge,
                   .mass = nothing,
                   .force = nothing};
    refused(&s, "coordinates", "too many");

    huge[0].n = 100000; /* fits, but a full matrix of this order does not */
    s.node_count = 1;
    refused(&s, "mass", "100000 x 100000");
    s.mass_pattern = s.stiffness_pattern = (ga_pattern)SQUARE;
    refused(&s, "damping_pattern", "large");
    s.damping_pattern = (ga_pattern)SQUARE;
    accepted(&s);

    s.constraint = nothing;
    s.constraint_count = INT_MAX;
    refused(&s, "constraint_count", "2147483647");
    s.constraint_count = 90000;
    refused(&s, "gradient", "90000 x 100000");
    s.gradient_pattern = (ga_pattern)WIDE;
    accepted(&s);
    s.velocity_stiffness = nothing;
    refused(&s, "velocity_stiffness", "90000 x 100000");
    s.velocity_stiffness_pattern = (ga_pattern)WIDE;
    s.force_uses_multipliers = true;
    refused(&s, "force_multipliers", "100000 x 90000");
}

static void test_callbacks(void **state)
{
    (void)state;
    ga_system s = valid();
    s.mass = NULL;
    refused(&s, "mass", "missing");
    s = valid();
    s.force = NULL;
    refused(&s, "force", "missing");
    s = valid();
    s.constraint = NULL;
    refused(&s, "constraint", "missing");
    s = valid();
    s.constraint_count = -1;
    refused(&s, "constraint_count", "-1");
    s.constraint_count = INT_MIN;
    refused(&s, "constraint_count", "impossible");
}

static void test_constraints_that_are_not_counted(void **state)
{
    (void)state;
    const ga_system least = {.struct_size = sizeof(ga_system),
                             .node_count = 1,
                             .nodes = nodes,
                             .mass = nothing,
                             .force = nothing};
    ga_system s[6] = {least, least, least, least, least, least};
    s[0].constraint = nothing;
    s[1].gradient = nothing;
    s[2].constraint_rate = nothing;
    s[3].acceleration_rhs = nothing;
    s[4].velocity_stiffness = nothing;
    s[5].constraint_uses_time = true;
    for (int k = 0; k < 6; ++k) refused(&s[k], "constraints are described", "constraint_count");
}

static void test_lambda_in_force(void **state)
{
    (void)state;
    ga_system s = valid();
    s.force_uses_multipliers = false;
    refused(&s, "force_multipliers", "force_uses_multipliers");
    s.force_multipliers = NULL;
    refused(&s, "reactions", "force_uses_multipliers");
    s = valid();
    s.reactions = (ga_reactions)2;
    refused(&s, "reactions", "2");
    s.reactions = (ga_reactions)-1;
    refused(&s, "reactions", "-1");
    s = (ga_system){.struct_size = sizeof(ga_system),
                    .node_count = 1,
                    .nodes = nodes,
                    .mass = nothing,
                    .force = nothing,
                    .force_uses_multipliers = true};
    refused(&s, "force_uses_multipliers", "no constraints");
}

/* Every pattern: the same mistakes, found with its name. */

typedef struct pattern_entry {
    const char *name;
    size_t offset;
    int rows, cols;
} pattern_entry;

static const pattern_entry patterns[] = {
    {"mass_pattern", offsetof(ga_system, mass_pattern), NV, NV},
    {"gradient_pattern", offsetof(ga_system, gradient_pattern), NC, NV},
    {"stiffness_pattern", offsetof(ga_system, stiffness_pattern), NV, NV},
    {"damping_pattern", offsetof(ga_system, damping_pattern), NV, NV},
    {"velocity_stiffness_pattern", offsetof(ga_system, velocity_stiffness_pattern), NC, NV},
    {"force_multipliers_pattern", offsetof(ga_system, force_multipliers_pattern), NV, NC},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static ga_pattern *pattern_of(ga_system *s, const pattern_entry *entry)
{
    return (ga_pattern *)((char *)s + entry->offset);
}

static void test_half_a_pattern(void **state)
{
    (void)state;
    for (int k = 0; k < PATTERNS; ++k) {
        ga_system s = valid();
        pattern_of(&s, &patterns[k])->row = NULL;
        refused(&s, patterns[k].name, "only one of row and col");
        s = valid();
        pattern_of(&s, &patterns[k])->col = NULL;
        refused(&s, patterns[k].name, "only one of row and col");
        s = valid();
        *pattern_of(&s, &patterns[k]) = (ga_pattern){.count = 3, .row = NULL, .col = NULL};
        refused(&s, patterns[k].name, "no arrays");
    }
}

/* The same where the callback is left out and the pattern is only a promise. */
static void test_half_a_pattern_without_callback(void **state)
{
    (void)state;
    for (int k = 1; k < PATTERNS; ++k) {
        ga_system s = valid();
        s.gradient = s.stiffness = s.damping = NULL;
        s.velocity_stiffness = s.force_multipliers = NULL;
        const ga_system without = s;
        pattern_of(&s, &patterns[k])->row = NULL;
        refused(&s, patterns[k].name, "only one of row and col");
        s = without;
        pattern_of(&s, &patterns[k])->col = NULL;
        refused(&s, patterns[k].name, "only one of row and col");
        s = without;
        *pattern_of(&s, &patterns[k]) = (ga_pattern){.count = 3, .row = NULL, .col = NULL};
        refused(&s, patterns[k].name, "no arrays");
    }
}

static void test_impossible_count(void **state)
{
    (void)state;
    const int counts[] = {-1, INT_MIN, INT_MAX};
    for (int k = 0; k < PATTERNS; ++k)
        for (int i = 0; i < 3; ++i) {
            ga_system s = valid();
            pattern_of(&s, &patterns[k])->count = counts[i];
            refused(&s, patterns[k].name, "impossible count");
        }
}

static void test_entry_out_of_range(void **state)
{
    (void)state;
    for (int k = 0; k < PATTERNS; ++k) {
        const pattern_entry *e = &patterns[k];
        const int bad[][2] = {{e->rows, 0}, {0, e->cols}, {-1, 0},
                              {0, -1},      {INT_MAX, 0}, {0, INT_MIN}};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
            int row[3] = {0, bad[i][0], 0}, col[3] = {0, bad[i][1], 0};
            char place[64];
            ga_report report;
            ga_system s = valid();
            *pattern_of(&s, e) = (ga_pattern){.count = 3, .row = row, .col = col};
            snprintf(place, sizeof place, "entry 1 is (%d, %d)", bad[i][0], bad[i][1]);
            refused(&s, e->name, place);
            assert_int_equal(ga_system_validate(&s, &report), GA_ERR_SYSTEM);
            assert_int_equal(report.row, bad[i][0]);
            assert_int_equal(report.column, bad[i][1]);
        }
        /* the last place is inside; entries may share a place; no entries at all are fine */
        int row[2] = {e->rows - 1, e->rows - 1}, col[2] = {e->cols - 1, e->cols - 1};
        ga_system s = valid();
        *pattern_of(&s, e) = (ga_pattern){.count = 2, .row = row, .col = col};
        accepted(&s);
        *pattern_of(&s, e) = (ga_pattern){.count = 0, .row = row, .col = col};
        accepted(&s);
    }
}

/* What validate refuses, create and check refuse with the same words. */
static void test_same_words_elsewhere(void **state)
{
    (void)state;
    ga_report report, other;
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = (ga_integrator *)&def;
    ga_system s = valid();
    s.mass = NULL;
    assert_int_equal(ga_system_validate(&s, &report), GA_ERR_SYSTEM);
    assert_status(ga_integrator_create(&s, &def, &run, &other), GA_ERR_SYSTEM, other);
    assert_string_equal(report.message, other.message);
    assert_null(run);
    const double q[7] = {0, 0, 0, 1, 0, 0, 0}, v[6] = {0};
    const ga_derivative_check_def at = {sizeof at, 0, {0, q, v, NULL, NULL, NULL}};
    ga_derivative_check check;
    assert_status(ga_system_check(&s, &at, &check, &other), GA_ERR_SYSTEM, other);
    assert_string_equal(report.message, other.message);
}

/* Blocks that do not lie in the matrix, have no size, or half of one. */
static void test_broken_blocks(void **state)
{
    (void)state;
    for (int k = 0; k < PATTERNS; ++k) {
        const pattern_entry *e = &patterns[k];
        const struct {
            int row, col, height, width;
            const char *text;
        } bad[] = {{0, 0, 0, 1, "block 1 is 0 x 1"},
                   {0, 0, 1, -2, "block 1 is 1 x -2"},
                   {0, 0, e->rows + 1, 1, "outside the"},
                   {0, 1, 1, e->cols, "outside the"},
                   {-1, 0, 1, 1, "block 1 is 1 x 1 from (-1, 0) on"},
                   {e->rows - 1, 0, INT_MAX, 1, "outside the"},
                   {0, 0, INT_MAX, INT_MAX, "outside the"}};
        int row[2] = {0}, col[2] = {0}, height[2] = {1, 1}, width[2] = {1, 1};
        const ga_pattern blocks = {2, row, col, height, width};
        ga_system s = valid();
        *pattern_of(&s, e) = blocks;
        accepted(&s);
        height[1] = e->rows, width[1] = e->cols; /* all of it; blocks may overlap */
        accepted(&s);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
            row[1] = bad[i].row, col[1] = bad[i].col;
            height[1] = bad[i].height, width[1] = bad[i].width;
            refused(&s, e->name, bad[i].text);
        }
        row[1] = col[1] = 0, height[1] = width[1] = 1;
        pattern_of(&s, e)->height = NULL;
        refused(&s, e->name, "only one of height and width");
        *pattern_of(&s, e) = blocks;
        pattern_of(&s, e)->width = NULL;
        refused(&s, e->name, "only one of height and width");
        *pattern_of(&s, e) = blocks;
        pattern_of(&s, e)->row = pattern_of(&s, e)->col = NULL;
        refused(&s, e->name, "neither row nor col");
    }
}

static void test_pattern_size(void **state)
{
    (void)state;
    const int row[] = {0, 1}, col[] = {2, 0}, height[] = {2, 1}, width[] = {1, 3};
    assert_int_equal(ga_pattern_size(&(ga_pattern){0}, 3, 4), 12);
    assert_int_equal(ga_pattern_size(&(ga_pattern){.count = 2, .row = row, .col = col}, 3, 4),
                     2);
    assert_int_equal(ga_pattern_size(&(ga_pattern){2, row, col, height, width}, 3, 4), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_every_problem_is_valid),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_constraints_that_are_not_counted),
        cmocka_unit_test(test_lambda_in_force),
        cmocka_unit_test(test_half_a_pattern),
        cmocka_unit_test(test_half_a_pattern_without_callback),
        cmocka_unit_test(test_impossible_count),
        cmocka_unit_test(test_broken_blocks),
        cmocka_unit_test(test_pattern_size),
        cmocka_unit_test(test_entry_out_of_range),
        cmocka_unit_test(test_same_words_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
