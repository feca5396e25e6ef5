/* What elements share while they are prepared: messages, and where joints sit. */
#include "element/element.h"
#include "element/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The place of a.b in the element's map, or of what there is of it. */
static ga_place place_of(const ga_setup *setup, const ga_element *element, const char *field)
{
    ga_place place = element->place;
    const ga_value *value = setup->map;
    while (value && value->kind == GA_VALUE_MAP && *field) {
        size_t length = strcspn(field, ".[");
        const ga_value *next = NULL;
        for (int k = 0; k < value->count && !next; ++k)
            if (strlen(value->entries[k].key) == length &&
                strncmp(value->entries[k].key, field, length) == 0)
                next = &value->entries[k].value;
        if (!next) break;
        place = next->place;
        value = next;
        field += length + (field[length] == '.');
    }
    return place;
}

bool ga_element_error(const ga_setup *setup, const void *element, const char *field,
                      const char *text)
{
    ga_place place = place_of(setup, element, field);
    size_t mark = ga_reader_enter(setup->reader, field);
    ga_reader_error(setup->reader, place, "%s", text);
    ga_reader_leave(setup->reader, mark);
    return false;
}

void ga_element_warning(const ga_setup *setup, const void *element, const char *field,
                        const char *text)
{
    ga_place place = place_of(setup, element, field);
    size_t mark = ga_reader_enter(setup->reader, field);
    ga_reader_warning(setup->reader, place, "%s", text);
    ga_reader_leave(setup->reader, mark);
}

/* --- places --------------------------------------------------------------------------------
 */

enum { SIDE_SIZE = 64 };

/* A side as it stands in the file: `rod.end`, [0, 0, 1]. */
static void side_text(const ga_setup *setup, int k, const double x[3], char text[SIDE_SIZE])
{
    const ga_value *between = setup->map ? ga_value_get(setup->map, "between") : NULL;
    const ga_value *side = between && between->kind == GA_VALUE_LIST && between->count == 2
                               ? &between->entries[k].value
                               : NULL;
    if (side && side->kind == GA_VALUE_SCALAR)
        snprintf(text, SIDE_SIZE, "%.40s", side->text);
    else if (setup->dimension == 2)
        snprintf(text, SIDE_SIZE, "[%.5g, %.5g]", x[0], x[1]);
    else
        snprintf(text, SIDE_SIZE, "[%.5g, %.5g, %.5g]", x[0], x[1], x[2]);
}

/* `bare` is a body alone opposite a point. */
static bool refuse_bare(const ga_setup *setup, const void *element, int bare, double x[2][3])
{
    char side[2][SIDE_SIZE], text[600], body[SIDE_SIZE];
    for (int k = 0; k < 2; ++k) side_text(setup, k, x[k], side[k]);
    const char *alone = side[bare], *point = side[1 - bare];
    if (point[0] == '[')
        strcpy(body, "ground");
    else
        snprintf(body, sizeof body, "%.*s", (int)strcspn(point, "."), point);
    snprintf(text, sizeof text,
             "`%s` is a body, not a point, so it cannot coincide with `%s`; write `between: "
             "[%s%s, %s%s]` with a point of `%s`, or `between: [%s, %s], at: %s`",
             alone, point, side[0], bare == 0 ? ".POINT" : "", side[1],
             bare == 1 ? ".POINT" : "", alone, bare == 0 ? alone : body,
             bare == 0 ? body : alone, point);
    return ga_element_error(setup, element, "between", text);
}

bool ga_setup_turns(const ga_setup *setup, int node)
{
    return node < 0 || !setup->turns || setup->turns[node];
}

static double distance(const double a[3], const double b[3])
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Both sides at `at`. An arm from a point mass keeps its direction, because a point mass does
 * not turn: such a joint holds the mass, and a pendulum was perhaps meant. */
static bool sides_at(const ga_setup *setup, const void *element, const ga_anchor between[2],
                     const double at[3], bool meet, double origin[2][3])
{
    for (int k = 0; k < 2; ++k) {
        if (!between[k].whole)
            return ga_element_error(setup, element, "at",
                                    "gives the location of the joint, and so does a point in "
                                    "`between`; keep one of them, or give `between` two points "
                                    "that assembly brings together");
        const double arm = distance(origin[k], at);
        /* more than the round-off of coordinates in a file */
        if (between[k].is_point && meet && arm > 1e-6 * (1 + distance(at, (double[3]){0}))) {
            char text[160];
            snprintf(text, sizeof text,
                     "is %.3g m away from a point mass, which has no rotation and would be "
                     "fixed by this joint; for a pendulum use `distance`",
                     arm);
            ga_element_warning(setup, element, "at", text);
        }
        memcpy(origin[k], at, 3 * sizeof *at);
    }
    return true;
}

bool ga_setup_sides(const ga_setup *setup, const void *element, const ga_anchor between[2],
                    const double at[3], bool meet, double origin[2][3], int *centre_of)
{
    bool is_point[2], is_ground[2];
    *centre_of = GA_NOWHERE;
    for (int k = 0; k < 2; ++k) {
        const ga_frame *f = &setup->frames[between[k].node];
        ga_vec3_store(
            ga_vec3_add(ga_vec3_load(f->x), ga_rotate(f->R, ga_vec3_load(between[k].p))),
            origin[k]);
        is_point[k] = !between[k].whole || between[k].is_point;
        is_ground[k] = between[k].whole && between[k].node == GA_GROUND;
    }
    if (!isnan(at[0])) return sides_at(setup, element, between, at, meet, origin);
    if (is_point[0] && is_point[1]) return true;
    int leads = is_point[0] || is_ground[1] ? 0 : 1;
    if (is_point[leads] && !is_ground[1 - leads] && meet)
        return refuse_bare(setup, element, 1 - leads, origin);
    memcpy(origin[1 - leads], origin[leads], sizeof origin[0]);
    if (!is_point[leads]) *centre_of = between[leads].node;
    return true;
}
