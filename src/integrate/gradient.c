/* Gradients of the constraints are needed in several roles: of the trial (G), of the state
 * (now.G), of the state to go back to (saved.G), and in the iteration matrix (G_tangent,
 * B_eta). One gets another's with each step, or each time tangents are made. Nothing is copied
 * then: both use the same memory, until the trial's is evaluated anew, in memory that none of
 * the others uses. There is as much of it as there are roles, so some is always free. */
#include "base/memory.h"
#include "integrate/stepper.h"

ga_status ga_gradient_create(ga_stepper *s)
{
    double **roles[GA_ROLES] = {&s->G, &s->now.G, &s->G_tangent, &s->B_eta, &s->saved.G};
    s->now.G_count = s->saved.G_count = s->dae.G.count;
    for (int k = 0; k < GA_ROLES; ++k) {
        s->gradient[k] = *roles[k] = GA_NEW_WHOLE(double, s->dae.G.count);
        if (!s->gradient[k]) return GA_ERR_MEMORY;
    }
    return GA_OK;
}

void ga_gradient_destroy(ga_stepper *s)
{
    for (int k = 0; k < GA_ROLES; ++k) ga_free(s->gradient[k]);
}

void ga_gradient_find_room(ga_stepper *s)
{
    for (int k = 0; k < GA_ROLES && !ga_gradient_is_free(s, s->G); ++k) s->G = s->gradient[k];
}
