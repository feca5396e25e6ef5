/* Product rules. Values last where an output may be an input: the rules read old values. */
#include "element/dual.h"

void ga_dual_constant(int n, double value, ga_dual *out)
{
    out->value = value;
    for (int j = 0; j < n; ++j) out->d[j] = 0;
}

void ga_dual_chain(int n, double value, double slope, const ga_dual *x, ga_dual *out)
{
    for (int j = 0; j < n; ++j) out->d[j] = slope * x->d[j];
    out->value = value;
}

void ga_dual_axpy(int n, const ga_dual *a, double s, const ga_dual *b, ga_dual *out)
{
    for (int j = 0; j < n; ++j) out->d[j] = a->d[j] + s * b->d[j];
    out->value = a->value + s * b->value;
}

void ga_dual_product(int n, const ga_dual *a, const ga_dual *b, ga_dual *out)
{
    for (int j = 0; j < n; ++j) out->d[j] = a->d[j] * b->value + a->value * b->d[j];
    out->value = a->value * b->value;
}

void ga_dual3_constant(int n, ga_vec3 value, ga_dual3 *out)
{
    out->value = value;
    for (int j = 0; j < n; ++j) out->d[j] = (ga_vec3){0, 0, 0};
}

void ga_dual3_axpy(int n, const ga_dual3 *a, double s, const ga_dual3 *b, ga_dual3 *out)
{
    for (int j = 0; j < n; ++j) out->d[j] = ga_vec3_axpy(a->d[j], s, b->d[j]);
    out->value = ga_vec3_axpy(a->value, s, b->value);
}

void ga_dual3_scale(int n, const ga_dual *s, const ga_dual3 *a, ga_dual3 *out)
{
    for (int j = 0; j < n; ++j)
        out->d[j] = ga_vec3_axpy(ga_vec3_scale(s->d[j], a->value), s->value, a->d[j]);
    out->value = ga_vec3_scale(s->value, a->value);
}

void ga_dual3_add_scaled(int n, const ga_dual *s, const ga_dual3 *a, ga_dual3 *out)
{
    for (int j = 0; j < n; ++j) {
        out->d[j] = ga_vec3_axpy(out->d[j], s->d[j], a->value);
        out->d[j] = ga_vec3_axpy(out->d[j], s->value, a->d[j]);
    }
    out->value = ga_vec3_axpy(out->value, s->value, a->value);
}

void ga_dual3_dot(int n, const ga_dual3 *a, const ga_dual3 *b, ga_dual *out)
{
    for (int j = 0; j < n; ++j)
        out->d[j] = ga_vec3_dot(a->d[j], b->value) + ga_vec3_dot(a->value, b->d[j]);
    out->value = ga_vec3_dot(a->value, b->value);
}

void ga_dual3_cross(int n, const ga_dual3 *a, const ga_dual3 *b, ga_dual3 *out)
{
    for (int j = 0; j < n; ++j)
        out->d[j] =
            ga_vec3_add(ga_vec3_cross(a->d[j], b->value), ga_vec3_cross(a->value, b->d[j]));
    out->value = ga_vec3_cross(a->value, b->value);
}

void ga_dual3_join(int n, const ga_dual components[3], ga_dual3 *out)
{
    const ga_dual *c = components;
    for (int j = 0; j < n; ++j) out->d[j] = (ga_vec3){c[0].d[j], c[1].d[j], c[2].d[j]};
    out->value = (ga_vec3){c[0].value, c[1].value, c[2].value};
}
