/* Tables of the elements there are; and where joints put their markers. */
#include "test/element/rig.h"

/* One of them in planar models only, the other in spatial ones. */
static bool apart(const ga_field *f, const ga_field *g)
{
    return f->where != g->where && f->where != GA_ANYWHERE && g->where != GA_ANYWHERE;
}

static void check_fields(const ga_element_type *type, const ga_field *fields)
{
    for (const ga_field *f = fields; f->name; ++f) {
        assert_true(f->kind > GA_KIND_NONE && f->kind < GA_KIND_COUNT);
        assert_true(f->help && *f->help);
        assert_true(!f->choices == (f->kind != GA_KIND_CHOICE));
        assert_true(!f->group == (f->kind != GA_KIND_GROUP));
        for (const ga_field *g = fields; g != f; ++g)
            if (strcmp(f->name, g->name) == 0 && !apart(f, g))
                fail_msg("%s: %s twice", type->name, f->name);
        if (f->group) check_fields(type, f->group);
    }
}

static void tables(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    int k = 0;
    for (; (type = ga_element_type_get(k)); ++k) {
        assert_ptr_equal(ga_element_type_find(type->section, type->name), type);
        assert_true(type->help && type->size >= sizeof(ga_element) && type->prepare);
        check_fields(type, type->fields);
        for (const ga_channel_type *c = type->channels; c && c->name; ++c) {
            assert_true(c->help && c->value);
            assert_true((c->count > 0) == !c->size);
        }
    }
    assert_true(k > 10);
    assert_null(ga_element_type_find("joints", "hinge"));
    assert_null(ga_element_type_find("motions", "revolute"));
}

static void world_of(const rig *r, const ga_joint *joint, int k, double out[3])
{
    const ga_frame *f = &r->state.frames[joint->element.nodes[k]];
    const ga_vec3 arm = ga_rotate(f->R, ga_vec3_load(joint->marker[k].p));
    ga_vec3_store(ga_vec3_add(ga_vec3_load(f->x), arm), out);
}

static void expect(const double *a, const double *b)
{
    for (int i = 0; i < 3; ++i) assert_true(fabs(a[i] - b[i]) < 1e-13);
}

/* Who names no point goes where the other is; `at` rules both. Ground may always be alone, a
 * body opposite a point only on a line or plane. */
static void markers(void **unused)
{
    (void)unused;
    for (int first_named = 0; first_named < 2; ++first_named)
        for (int second_named = 0; second_named < 2; ++second_named)
            for (int grounded = 0; grounded < 3; ++grounded)
                for (int at = 0; at < 2; ++at) {
                    if (at && (first_named || second_named)) continue; /* refused */
                    rig r;
                    rig_init(&r, 3, 21);
                    const bool bare = (first_named && !second_named && grounded != 2) ||
                                      (!first_named && second_named && grounded != 1);
                    ga_joint *joint = rig_new(
                        ga_element_type_find("joints", bare ? "cylindrical" : "revolute"));
                    rig_join(joint, grounded == 1 ? GA_GROUND : 0,
                             grounded == 2 ? GA_GROUND : 1);
                    joint->between[0].whole = !first_named;
                    joint->between[1].whole = !second_named;
                    if (first_named) joint->between[0].p[0] = 0.3;
                    if (second_named) joint->between[1].p[1] = 0.6;
                    const double place[3] = {1, 2, 3};
                    if (at) memcpy(joint->at, place, sizeof place);
                    double named[2][3], got[2][3];
                    for (int k = 0; k < 2; ++k) {
                        const ga_frame *f = &r.state.frames[joint->between[k].node];
                        const ga_vec3 arm = ga_rotate(f->R, ga_vec3_load(joint->between[k].p));
                        ga_vec3_store(ga_vec3_add(ga_vec3_load(f->x), arm), named[k]);
                    }
                    rig_add(&r, joint);
                    for (int k = 0; k < 2; ++k) world_of(&r, joint, k, got[k]);
                    if (at) {
                        expect(got[0], place);
                        expect(got[1], place);
                    } else if (first_named && second_named) {
                        expect(got[0], named[0]);
                        expect(got[1], named[1]);
                    } else {
                        const bool first = first_named || (!second_named && grounded == 2);
                        expect(got[0], named[first ? 0 : 1]);
                        expect(got[1], named[first ? 0 : 1]);
                    }
                    rig_free(&r);
                }
}

/* Axes: z where nothing is said, x in the plane; y of the marker out of the plane there. */
static void axes(void **unused)
{
    (void)unused;
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    for (int dimension = 2; dimension <= 3; ++dimension)
        for (int i = 0; i < 3; ++i) {
            static const char *const names[] = {"revolute", "prismatic", "fixed"};
            rig r;
            rig_init(&r, dimension, 3);
            ga_joint *joint = rig_new(ga_element_type_find("joints", names[i]));
            rig_join(joint, 0, 1);
            rig_add(&r, joint);
            const bool in_plane = dimension == 2 && i == 1;
            expect(joint->E + 6, in_plane ? x : z);
            expect(joint->E + 3, in_plane ? z : y);
            rig_free(&r);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(markers),
                                       cmocka_unit_test(axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
