#include "model/settings.h"

#include "model/model.h"
#include "model/shape.h"

#include <math.h>

/* Orders are those of the public enumerations, where there is one. */
static const char *const body_types[] = {"rigid", "point-mass", NULL};
static const char *const methods[] = {"generalized-alpha", "hht",   "newmark", "wbz",
                                      "explicit",          "radau", "auto",    NULL};
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
             "yz; planar: one number; required for rigid bodies, not allowed for point masses",
             .unit = "kg m^2"),
    GA_FIELD(ga_body, VECTOR, position,
             "position of the centre of mass at the start, before assembly, world",
             .unit = "m"),
    GA_FIELD(ga_body, ROTATION, rotation,
             "orientation at the start: {axis, angle}, {quaternion: [w, x, y, z]}, {matrix: "
             "rows} or {xyz: [a, b, c]}, rotations about x, then the new y, then the new z; "
             "planar: an angle"),
    GA_FIELD(ga_body, VECTOR, velocity, "velocity of the centre of mass at the start, world",
             .unit = "m/s"),
    GA_FIELD(ga_body, SPIN, angular_velocity,
             "angular velocity at the start, body axes; planar: a number", .unit = "rad/s"),
    GA_FIELD(ga_body, POINTS, points, "named points, body axes, relative to the centre of mass",
             .unit = "m"),
    GA_FIELD(ga_body, SHAPES, shape, "shape for the viewer, or a list of shapes",
             .group = ga_shape_fields,
             .absent = "derived from its inertia and what is attached to it"),
    {0},
};

#define S ga_simulate_settings
const ga_field ga_simulate_fields[] = {
    GA_FIELD(S, NUMBER, t_start, "start time", .unit = "s"),
    GA_FIELD(S, NUMBER, t_end, "end time", .unit = "s", .required = true),
    GA_FIELD(S, NUMBER, step, "fixed step size", .unit = "s", .range = GA_POSITIVE,
             .fallback = {NAN}, .absent = "step sizes are chosen to meet `tolerance`"),
    GA_FIELD(S, TOLERANCE, tolerance,
             "allowed error at the end, in positions (m, rad) and velocities: a number, or "
             "{relative, absolute}",
             .range = GA_POSITIVE, .fallback = {NAN},
             .absent = "{relative: 1e-6, absolute: 1e-8} without `step`"),
    GA_FIELD(S, NUMBER, first_step, "first step, with `tolerance`", .unit = "s",
             .range = GA_POSITIVE, .fallback = {NAN}, .absent = "chosen"),
    GA_FIELD(S, NUMBER, min_step, "smallest step, with `tolerance`", .unit = "s",
             .range = GA_POSITIVE, .fallback = {NAN}, .absent = "no limit"),
    GA_FIELD(S, NUMBER, max_step, "largest step, with `tolerance`", .unit = "s",
             .range = GA_POSITIVE, .fallback = {NAN},
             .absent =
                 "no limit; in driven models 1/500 of the simulated time, with radau 1/200, "
                 "with explicit 1/50"),
    GA_FIELD(S, CHOICE, error,
             "which errors `tolerance` controls. full: positions and velocities, second order; "
             "positions: positions only, for stiff models; extrapolate: positions and "
             "velocities, third order by local extrapolation; auto: positions and velocities, "
             "the order (2 or 3) is chosen automatically",
             .choices = errors, .fallback = {3}),
    GA_FIELD(S, METHOD, method,
             "method, or coefficients {alpha_m, alpha_f, beta, gamma} of generalized-alpha. "
             "explicit: Dormand-Prince, order 8, for high accuracy in smooth, non-stiff "
             "motions; radau: Radau IIA, order 5, for high accuracy in stiff ones; auto: "
             "chooses one of these three to suit the motion",
             .choices = methods,
             .absent = "auto; generalized-alpha with `step`, `rho_inf` or another setting of "
                       "its own"),
    GA_FIELD(S, NUMBER, rho_inf,
             "spectral radius at infinity: 1 no numerical damping, 0 strongest",
             .range = GA_FRACTION, .fallback = {NAN}, .absent = "0.9"),
    GA_FIELD(S, NUMBER, alpha, "coefficient of method hht, from -1/3 to 0", .fallback = {NAN},
             .absent = "-0.05"),
    GA_FIELD(S, NUMBER, beta, "coefficient of method newmark", .fallback = {NAN},
             .absent = "0.25"),
    GA_FIELD(S, NUMBER, gamma, "coefficient of method newmark", .fallback = {NAN},
             .absent = "0.5"),
    GA_FIELD(S, CHOICE, formulation, "formulation of the constraints", .choices = formulations,
             .fallback = {1}),
    GA_FIELD(S, CHOICE, start, "start values", .choices = starts),
    GA_FIELD(S, CHOICE, kinematics, "coordinates of rigid bodies", .choices = kinematics),
    GA_FIELD(S, CHOICE, map, "map from increments to rotations", .choices = maps),
    GA_FIELD(S, CHOICE, newton,
             "reuse the Jacobian while the iteration converges, or renew it in every iteration",
             .choices = newtons),
    GA_FIELD(S, NUMBER, newton_tolerance,
             "tolerance of the Newton increments, relative to the largest position, velocity "
             "and reaction so far; 0: round-off",
             .range = GA_FRACTION, .fallback = {NAN},
             .absent = "0 with `step`, a small fraction of `tolerance` otherwise"),
    GA_FIELD(S, CHOICE, solver, "linear solver", .choices = solvers),
    GA_FIELD(S, CHOICE, scaling, "scaling of the linear equations", .choices = scalings),
    GA_FIELD(S, NUMBER, penalty,
             "penalty factor of the augmented Lagrangian in index3; 0: none",
             .range = GA_NOT_NEGATIVE),
    GA_FIELD(S, BOOLEAN, cut_steps, "whether a step that fails to converge is halved",
             .fallback = {1}),
    GA_FIELD(S, NUMBER, max_projection,
             "largest change of positions or velocities that assembly may make",
             .range = GA_NOT_NEGATIVE, .fallback = {NAN}, .absent = "no limit"),
    GA_FIELD(S, INTEGER, threads,
             "number of threads; 0: two for large models, one otherwise; results do not depend "
             "on it",
             .range = GA_NOT_NEGATIVE),
    {0},
};
#undef S

const ga_field ga_output_fields[] = {
    GA_FIELD(
        ga_output_settings, NUMBER, every, "time between outputs; 0: at every step",
        .unit = "s", .range = GA_NOT_NEGATIVE, .fallback = {NAN},
        .absent =
            "every step; with the methods explicit, radau and auto, whose steps are long, a "
            "thousandth of the simulated time"),
    GA_FIELD(ga_output_settings, CHANNELS, channels,
             "channels to output; `default`: the default ones",
             .absent = "positions and rotations of bodies, coordinates and reactions of "
                       "joints, efforts, forces, energy"),
    {0},
};
