#include "model/settings.h"

#include "model/model.h"
#include "model/shape.h"

#include <math.h>

/* Orders are those of the public enumerations, where there is one. */
static const char *const body_types[] = {"rigid", "point-mass", NULL};
static const char *const methods[] = {"generalized-alpha", "hht", "newmark", "wbz", NULL};
static const char *const formulations[] = {"index3", "index2", "soi2", "hht-i3", NULL};
static const char *const starts[] = {"auto", "plain", "shifted", "perturbed", "implicit", NULL};
static const char *const kinematics[] = {"r3so3", "se3", NULL};
static const char *const errors[] = {"full", "positions", "extrapolate", "auto", NULL};
static const char *const maps[] = {"exp", "cayley", NULL};
static const char *const newtons[] = {"modified", "full", NULL};
static const char *const solvers[] = {"auto", "dense", "sparse", "block", NULL};
static const char *const scalings[] = {"auto", "none", "ab07", "dymore", NULL};

const ga_field ga_body_fields[] = {
    GA_FIELD(ga_body, CHOICE, type, "kind of body", .choices = body_types),
    GA_FIELD(ga_body, NUMBER, mass, "mass", .unit = "kg", .required = true,
             .range = GA_POSITIVE),
    GA_FIELD(ga_body, INERTIA, inertia,
             "inertia about the centre of mass, body axes: xx, yy, zz or xx, yy, zz, xy, xz, "
             "yz; planar: one number; rigid bodies need it, point masses have none",
             .unit = "kg m^2"),
    GA_FIELD(ga_body, VECTOR, position, "centre of mass at t = 0, world", .unit = "m"),
    GA_FIELD(
        ga_body, ROTATION, rotation,
        "body axes at t = 0: {axis, angle}, {quaternion: [w, x, y, z]}, {matrix: rows} or "
        "{xyz: [a, b, c]}, turns about x, then the new y, then the new z; planar: an angle"),
    GA_FIELD(ga_body, VECTOR, velocity, "of the centre of mass, world", .unit = "m/s"),
    GA_FIELD(ga_body, SPIN, angular_velocity, "body axes; planar: a number", .unit = "rad/s"),
    GA_FIELD(ga_body, POINTS, points, "named points, body axes, from the centre of mass",
             .unit = "m"),
    GA_FIELD(ga_body, SHAPES, shape, "what it looks like: a shape, or a list of them",
             .group = ga_shape_fields,
             .absent = "drawn from its inertia and what is attached to it"),
    {0},
};

#define S ga_simulate_settings
const ga_field ga_simulate_fields[] = {
    GA_FIELD(S, NUMBER, t_start, "time at which the simulation starts", .unit = "s"),
    GA_FIELD(S, NUMBER, t_end, "time at which it ends", .unit = "s", .required = true),
    GA_FIELD(S, NUMBER, step, "size of all steps", .unit = "s", .range = GA_POSITIVE,
             .fallback = {NAN}, .absent = "steps are chosen by `tolerance`"),
    GA_FIELD(S, TOLERANCE, tolerance,
             "error allowed at the end, in positions (m, rad) and velocities: a number, or "
             "{relative, absolute}",
             .range = GA_POSITIVE, .fallback = {NAN},
             .absent = "{relative: 1e-6, absolute: 1e-8} where there is no `step`"),
    GA_FIELD(S, NUMBER, first_step, "first step, with `tolerance`", .unit = "s",
             .range = GA_POSITIVE, .fallback = {NAN}, .absent = "chosen"),
    GA_FIELD(S, NUMBER, min_step, "smallest step, with `tolerance`", .unit = "s",
             .range = GA_POSITIVE, .fallback = {NAN}, .absent = "no limit"),
    GA_FIELD(S, NUMBER, max_step, "largest step, with `tolerance`", .unit = "s",
             .range = GA_POSITIVE, .fallback = {NAN}, .absent = "no limit"),
    GA_FIELD(S, CHOICE, error,
             "what `tolerance` is about: positions and velocities, by steps of second order; "
             "only positions, for stiff models; both, with local extrapolation to third order; "
             "or both, by second or third order, as steps show",
             .choices = errors, .fallback = {3}),
    GA_FIELD(S, METHOD, method, "method, or its coefficients {alpha_m, alpha_f, beta, gamma}",
             .choices = methods),
    GA_FIELD(S, NUMBER, rho_inf, "damping of high frequencies: 1 none, 0 all",
             .range = GA_FRACTION, .fallback = {NAN}, .absent = "0.9"),
    GA_FIELD(S, NUMBER, alpha, "of method hht, from -1/3 to 0", .fallback = {NAN},
             .absent = "-0.05"),
    GA_FIELD(S, NUMBER, beta, "of method newmark", .fallback = {NAN}, .absent = "0.25"),
    GA_FIELD(S, NUMBER, gamma, "of method newmark", .fallback = {NAN}, .absent = "0.5"),
    GA_FIELD(S, CHOICE, formulation, "what holds at every step", .choices = formulations,
             .fallback = {1}),
    GA_FIELD(S, CHOICE, start, "start values", .choices = starts),
    GA_FIELD(S, CHOICE, kinematics, "coordinates of rigid bodies", .choices = kinematics),
    GA_FIELD(S, CHOICE, map, "how increments turn bodies", .choices = maps),
    GA_FIELD(S, CHOICE, newton, "matrix kept while it serves, or new in every iteration",
             .choices = newtons),
    GA_FIELD(S, NUMBER, newton_tolerance,
             "increments of an iteration that are small enough, by the largest position, "
             "velocity and reaction so far; 0: round-off",
             .range = GA_FRACTION, .fallback = {NAN},
             .absent = "0, or far below what `tolerance` asks for"),
    GA_FIELD(S, CHOICE, solver, "linear solver", .choices = solvers),
    GA_FIELD(S, CHOICE, scaling, "scaling of the linear equations", .choices = scalings),
    GA_FIELD(S, NUMBER, penalty, "augmented Lagrangian of index3; 0: none",
             .range = GA_NOT_NEGATIVE),
    GA_FIELD(S, BOOLEAN, cut_steps, "may a step that fails be cut in two", .fallback = {1}),
    GA_FIELD(S, NUMBER, max_projection,
             "largest move of positions or velocities to make the start consistent",
             .range = GA_NOT_NEGATIVE, .fallback = {NAN}, .absent = "no limit"),
    GA_FIELD(S, INTEGER, threads,
             "threads to compute with; 0: two for large models, one for others; results do not "
             "depend on it",
             .range = GA_NOT_NEGATIVE),
    {0},
};
#undef S

const ga_field ga_output_fields[] = {
    GA_FIELD(ga_output_settings, NUMBER, every, "time between outputs; 0: at every step",
             .unit = "s", .range = GA_NOT_NEGATIVE),
    GA_FIELD(ga_output_settings, CHANNELS, channels, "what to output",
             .absent = "position and rotation of bodies, angles and reactions of joints, "
                       "energy"),
    {0},
};
