/* Energies and powers of a model. */
#include "model/assembly.h"

#include <string.h>

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

static void gather_twists(const ga_element *element, const ga_element_state *state,
                          double *twists)
{
    for (int k = 0; k < element->node_count; ++k) {
        const ga_frame *frame = state->frames + element->nodes[k];
        memcpy(twists + GA_TWIST * k, frame->u, 3 * sizeof *twists);
        memcpy(twists + GA_TWIST * k + 3, frame->w, 3 * sizeof *twists);
    }
}

/* Power of multipliers times rows on the twists. */
static double reaction_power(int rows, int side, const double *B, const double *multipliers,
                             const double *twists)
{
    double power = 0;
    for (int r = 0; r < rows; ++r) power -= multipliers[r] * dot(side, B + r * side, twists);
    return power;
}

static void element_powers(ga_assembly *a, const ga_element *element,
                           const ga_element_state *state, ga_powers *powers)
{
    const ga_element_type *type = element->type;
    int side = GA_TWIST * element->node_count;
    double *twists = a->f + side;
    if (type->kinetic) powers->kinetic += type->kinetic(element, state);
    if (type->potential) powers->potential += type->potential(element, state);
    if (type->dissipation) powers->dissipation += type->dissipation(element, state);
    if (type->power) powers->work += type->power(element, state);
    bool outside = type->force && !type->potential && !type->dissipation && !type->power;
    if (!outside && !element->rheonomic) return;
    gather_twists(element, state, twists);
    if (outside) {
        memset(a->f, 0, (size_t)side * sizeof *a->f);
        type->force(element, state, a->f);
        powers->work += dot(side, a->f, twists);
    }
    if (element->rheonomic && element->rows && state->lambda) {
        type->gradient(element, state, a->A);
        powers->work +=
            reaction_power(element->rows, side, a->A, state->lambda + element->row, twists);
    }
    if (element->rheonomic && element->speed_rows && state->psi) {
        type->speed_gradient(element, state, a->A);
        powers->work += reaction_power(element->speed_rows, side, a->A,
                                       state->psi + element->speed_row, twists);
    }
}

static void flat_energies(const ga_assembly *a, ga_powers *powers)
{
    const double *restrict mass = a->mass, *restrict inertia = a->inertia;
    const double g[2] = {a->model->gravity[0], a->model->gravity[1]};
    double kinetic = 0, potential = 0;
    for (int i = 0; i < a->model->node_count; ++i) {
        const ga_plane *p = a->planes + i;
        kinetic += 0.5 * (mass[i] * (p->v[0] * p->v[0] + p->v[1] * p->v[1]) +
                          inertia[i] * p->w * p->w);
        potential -= mass[i] * (g[0] * p->x[0] + g[1] * p->x[1]);
    }
    powers->kinetic = kinetic;
    powers->potential = potential;
}

/* J w for a symmetric J */
static void inertia_times(const double *J, const double *w, double *Jw)
{
    for (int i = 0; i < 3; ++i) Jw[i] = J[i] * w[0] + J[3 + i] * w[1] + J[6 + i] * w[2];
}

static void energies(const ga_assembly *a, ga_powers *powers)
{
    for (int i = 0; i < a->model->node_count; ++i) {
        const ga_frame *frame = a->frames + i;
        double Jw[3];
        inertia_times(a->inertia + 9 * (size_t)i, frame->w, Jw);
        powers->kinetic +=
            0.5 * (a->mass[i] * dot(3, frame->u, frame->u) + dot(3, frame->w, Jw));
        powers->potential -= a->mass[i] * dot(3, a->model->gravity, frame->x);
    }
}

void ga_assembly_powers(ga_assembly *a, const ga_element_state *state, ga_powers *powers)
{
    memset(powers, 0, sizeof *powers);
    if (a->planes)
        flat_energies(a, powers);
    else
        energies(a, powers);
    for (int r = 0; r < a->rest_count; ++r) element_powers(a, a->rest[r], state, powers);
}
