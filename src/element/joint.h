/* What joints share: two markers, coordinates, what may act along a coordinate. A joint's own
 * file says which functions of the two markers are zero and which are its coordinates.
 *
 * A marker is a frame fixed to a body. Both markers of a joint are the same frame at t = 0
 * where positions are given consistently: origin `at`, third axis `axis`.
 *
 * Where all three translations are held, their rows are E_k . d with directions E_k fixed in
 * the world, the axes of the markers at t = 0: on R^3 x SO(3) their gradients with respect to
 * positions are constant. Elsewhere directions are axes of the first marker. d runs from the
 * first marker to the second.
 *
 * A joint remembers each angular coordinate as turn.h says, to count its turns.
 */
#ifndef GA_ELEMENT_JOINT_H
#define GA_ELEMENT_JOINT_H

#include "element/scalar.h"
#include "element/turn.h"

#include <math.h>

typedef struct ga_marker {
    double p[3]; /* in body axes, from the node's origin */
    double A[9]; /* column-major: its axes, in body axes */
} ga_marker;

/* Friction in a joint from the joint's own reaction; drive.c has the law. */
typedef struct ga_friction {
    ga_group_head head;
    double coefficient;        /* of sliding */
    double static_coefficient; /* of sticking; not given: as of sliding */
    double radius;             /* of a pin: force to torque; rotations only */
    double preload;            /* normal force present without any reaction */
    double transition;         /* rate at which regularised friction reaches its full value */
    int model;                 /* GA_FRICTION_... */
} ga_friction;

enum { GA_FRICTION_REGULARISED, GA_FRICTION_STICTION };

typedef struct ga_limits {
    ga_group_head head;
    double min, max;           /* NaN: none */
    int model;                 /* GA_LIMITS_... */
    double restitution;        /* of a stop */
    double slowest;            /* a stop's rebound slower than this ends in contact */
    double stiffness, damping; /* of a buffer */
    double depth;              /* of a buffer: penetration of full damping */
} ga_limits;

enum { GA_LIMITS_STOP, GA_LIMITS_BUFFER };

/* What acts along a coordinate of a joint. */
typedef struct ga_attachment {
    ga_group_head head;
    double stiffness, damping;
    double
        rest; /* coordinate at which the spring is free; not given: 0, the position at t = 0 */
    ga_friction friction;
    ga_limits limits;
} ga_attachment;

enum { GA_JOINT_MAX_ROWS = 6, GA_JOINT_MAX_COORDINATES = 3 };

/* What a row is, for those who compute several at once (kernel.h): E_i . d, a_i . d,
 * sign a_i . b_j, component i of `turn`, the length of d. Null: what its function says. */
typedef enum ga_form {
    GA_FORM_OTHER,
    GA_FORM_WORLD,
    GA_FORM_ALONG,
    GA_FORM_DOT,
    GA_FORM_TURN,
    GA_FORM_LENGTH
} ga_form;

typedef struct ga_row_form {
    ga_form form;
    int i, j, sign;
} ga_row_form;

typedef struct ga_joint_row {
    const char *name; /* null: no more rows */
    ga_scalar_function *scalar;
    bool planar; /* does not hold by itself in planar models */
    ga_row_form form;
} ga_joint_row;

typedef struct ga_coordinate_type {
    const char *name; /* angle, displacement, ...; null: no more coordinates */
    ga_scalar_function *scalar;
    bool angular;  /* counted through full turns */
    bool absolute; /* not made zero at t = 0 */
    /* Which parts of the reaction force press the surfaces that rub: across the first marker's
     * third axis, along it. */
    bool transverse, axial;
} ga_coordinate_type;

/* What a joint's file tells. */
typedef struct ga_joint_kind {
    ga_joint_row row[GA_JOINT_MAX_ROWS];
    ga_coordinate_type coordinate[GA_JOINT_MAX_COORDINATES];
    bool axis_in_plane; /* in planar models `axis` lies in the plane, x if not given */
    /* A function of time that is subtracted from row 0, with its two derivatives; or null. */
    void (*target)(const struct ga_joint *joint, const ga_element_state *state, double out[3]);
} ga_joint_kind;

struct ga_drive_element;

/* Every joint's struct starts with this. */
typedef struct ga_joint {
    ga_element element;
    ga_anchor between[2];
    double at[3], axis[3]; /* world, at t = 0; NaN: not given */
    ga_marker marker[2];
    ga_attachment attachment[GA_JOINT_MAX_COORDINATES];
    double home[GA_JOINT_MAX_COORDINATES]; /* subtracted, so that coordinates start at 0 (or at
                                              what the type says) */
    /* From here on set by `prepare`. */
    const ga_joint_kind *kind;
    int centre_of;               /* the body at whose centre it sits because nothing is named;
                                    GA_NOWHERE: none */
    double E[9];                 /* axes of the markers in the world at t = 0, column-major */
    int kept[GA_JOINT_MAX_ROWS]; /* which of the kind's rows its rows are */
    bool coupled[4][4];          /* blocks of S that are not zero */
    const struct ga_drive_element **drives; /* of each coordinate, or null */
} ga_joint;

/* --- for the model -------------------------------------------------------------------------
 */

/* The number of coordinates of a joint, and one of them; value with turns counted, from its
 * memory (without memory in the state: within half a turn). Derivatives are in body axes. */
int ga_joint_coordinates(const ga_joint *joint);
const ga_coordinate_type *ga_joint_coordinate_type(const ga_joint *joint, int k);
void ga_joint_coordinate(const ga_joint *joint, int k, const ga_element_state *state,
                         ga_derivative_order order, ga_scalar *s);
/* The coordinate of that name; if name is null, the only one. -1: none. */
int ga_joint_coordinate_find(const ga_joint *joint, const char *name);
/* For messages: "`angel` is not a coordinate of the joint: angle, displacement". */
void ga_joint_coordinates_describe(const ga_joint *joint, const char *name, char *text,
                                   size_t size);
/* Value (within half a turn, from no home) and rate of ga_angle, which every hinge asks for
 * after every step; A, B: the markers' axes x and y, in body axes. */
void ga_joint_turning(const double *A, const double *B, const ga_frame *first,
                      const ga_frame *second, double *value, double *speed);
/* d/dt of it. */
double ga_joint_rate(const ga_joint *joint, int k, const ga_element_state *state);
/* Force and torque on the second body at its marker, world axes: reaction and what acts along
 * its coordinates (springs, friction, limits, also while they hold), without motions. Reads
 * lambda and psi. */
void ga_joint_reaction(const ga_joint *joint, const ga_element_state *state, double force[3],
                       double torque[3]);

/* Something acts along coordinate k: the model adds an element of type ga_drive. After joint
 * and drive have their memory: ga_drive_init, then prepare as for every element. The drive
 * must stay where it is while the joint lives. */
bool ga_joint_has_attachment(const ga_joint *joint, int k);
extern const ga_element_type ga_drive;
void ga_drive_init(void *drive, const ga_joint *joint, int k);
/* What a drive exerts along its coordinate in all. Reads lambda and psi. */
double ga_drive_effort(const struct ga_drive_element *drive, const ga_element_state *state);
/* The limit that its coordinate is nearest to, and the unit. */
double ga_drive_limit(const struct ga_drive_element *drive, const ga_element_state *state,
                      const char **unit);
/* How far it is beyond a rigid limit, and that relative to the largest position met; <= 0: not
 * at all. memory: the drive's. */
double ga_drive_beyond(const struct ga_drive_element *drive, const ga_element_state *state,
                       const double *memory, double *relative);

/* --- for joints ----------------------------------------------------------------------------
 */

/* Markers as above, then ga_joint_finish. */
bool ga_joint_prepare(ga_joint *joint, ga_setup *setup, const ga_joint_kind *kind);
/* The steps of it. Checks `between`; where the markers are, in the world. */
bool ga_joint_origins(ga_joint *joint, ga_setup *setup, const ga_joint_kind *kind,
                      double origin[2][3]);
/* Axes with the third along `axis`; the first near `across` if that is not null. */
void ga_joint_axes(const double axis[3], const double across[3], double axes[9]);
/* The axes for an axis that may be NaN, also in planar models. */
void ga_joint_axes_default(const ga_joint_kind *kind, int dimension, double axis[3],
                           double axes[9]);
void ga_joint_place(ga_joint *joint, const ga_setup *setup, int k, const double origin[3],
                    const double axes[9]);
/* Rows, coordinates, memory; checks of what acts along coordinates. */
bool ga_joint_finish(ga_joint *joint, ga_setup *setup, const ga_joint_kind *kind);
bool ga_joint_check_attachment(const ga_joint *joint, ga_setup *setup, const char *group,
                               const ga_attachment *a, bool angular);

/* Which blocks of a coordinate's gradient and S can be other than zero. */
typedef struct ga_blocks {
    bool g[4], S[4][4];
} ga_blocks;
ga_blocks ga_joint_coordinate_blocks(const ga_joint *joint, int k);

void ga_pair_locate(const ga_joint *joint, const ga_element_state *state, ga_pair *pair);
/* Coordinate k with derivatives in world axes. */
void ga_pair_coordinate(const ga_pair *pair, int k, ga_derivative_order order, ga_scalar *s);
/* The kind's row of the joint's row k, derivatives in world axes. */
void ga_pair_row(const ga_pair *pair, int k, ga_derivative_order order, ga_scalar *s);
/* W += sum of lambda_k S_k over the joint's rows, world axes */
void ga_pair_add_geometric(const ga_pair *pair, const double *lambda, double *W);

/* Regularised friction at a rate v: coefficient with its sign smoothed, and its derivative. */
void ga_friction_law(const ga_friction *friction, double v, double out[2]);
/* |x|, given x^2. Second: derivative with respect to x, divided by x; 0 at x = 0. */
void ga_friction_press(double x2, double out[2]);

/* Functions of two markers. world, along: E_k . d and a_k . d. turn: the vector part of the
 * relative rotation Q = (a_i . b_j), sin(angle) times the axis, component k; with all three
 * zero Q is the identity or half a turn, which no continuous motion reaches. tilt: components
 * of it where only the third axes are to agree: -a_y . b_z about x and a_x . b_z about y.
 * angle: of the second marker about the third axis, the same for any choice of x and y, also
 * where the third axes do not quite agree. */
ga_scalar_function ga_world_x, ga_world_y, ga_world_z;
ga_scalar_function ga_along_x, ga_along_y, ga_along_z;
ga_scalar_function ga_turn_x, ga_turn_y, ga_turn_z;
ga_scalar_function ga_tilt_x, ga_tilt_y;
ga_scalar_function ga_angle;

#define GA_ROW_WORLD_X                                                                         \
    {                                                                                          \
        .name = "translation along x", .scalar = ga_world_x,                                   \
        .form = {.form = GA_FORM_WORLD, .i = 0}, .planar = true                                \
    }
#define GA_ROW_WORLD_Y                                                                         \
    {                                                                                          \
        .name = "translation along y", .scalar = ga_world_y,                                   \
        .form = {.form = GA_FORM_WORLD, .i = 1}, .planar = true                                \
    }
#define GA_ROW_WORLD_Z                                                                         \
    {                                                                                          \
        .name = "translation along z", .scalar = ga_world_z, .form = {                         \
            .form = GA_FORM_WORLD,                                                             \
            .i = 2                                                                             \
        }                                                                                      \
    }
#define GA_ROW_ALONG_X                                                                         \
    {                                                                                          \
        .name = "translation along x", .scalar = ga_along_x,                                   \
        .form = {.form = GA_FORM_ALONG, .i = 0}, .planar = true                                \
    }
#define GA_ROW_ALONG_Y                                                                         \
    {                                                                                          \
        .name = "translation along y", .scalar = ga_along_y, .form = {                         \
            .form = GA_FORM_ALONG,                                                             \
            .i = 1                                                                             \
        }                                                                                      \
    }
#define GA_ROW_ALONG_Z                                                                         \
    {                                                                                          \
        .name = "translation along z", .scalar = ga_along_z, .form = {                         \
            .form = GA_FORM_ALONG,                                                             \
            .i = 2                                                                             \
        }                                                                                      \
    }
#define GA_ROW_TILT_X                                                                          \
    {                                                                                          \
        .name = "rotation about x", .scalar = ga_tilt_x, .form = { GA_FORM_DOT, 1, 2, -1 }     \
    }
#define GA_ROW_TILT_Y                                                                          \
    {                                                                                          \
        .name = "rotation about y", .scalar = ga_tilt_y, .form = { GA_FORM_DOT, 0, 2, 1 }      \
    }

/* Functions of the element type, for every joint. */
const char *ga_joint_row_name(const void *element, int k);
void ga_joint_constraint(const void *element, const ga_element_state *state, double *Phi);
void ga_joint_gradient(const void *element, const ga_element_state *state, double *B);
void ga_joint_geometric(const void *element, const ga_element_state *state,
                        const double *lambda, double *K);
void ga_joint_speed_stiffness(const void *element, const ga_element_state *state, double *Z);
void ga_joint_constraint_rate(const void *element, const ga_element_state *state, double *rate);
void ga_joint_constraint_rate_rate(const void *element, const ga_element_state *state,
                                   double *rate_rate);
bool ga_joint_coupled(const void *element, int i, int j);
void ga_joint_remember(const void *element, const ga_element_state *state, double *memory);
void ga_joint_commit(const void *element, const ga_element_state *state, double *memory);

#define GA_JOINT_FUNCTIONS GA_JOINT_FUNCTIONS_BUT_COUPLED, .coupled = ga_joint_coupled
#define GA_JOINT_FUNCTIONS_BUT_COUPLED                                                         \
    .section = "joints", .is_joint = true, .row_name = ga_joint_row_name,                      \
    .constraint = ga_joint_constraint, .gradient = ga_joint_gradient,                          \
    .geometric = ga_joint_geometric, .speed_stiffness = ga_joint_speed_stiffness,              \
    .remember = ga_joint_remember, .commit = ga_joint_commit

/* Fields. */
extern const ga_field ga_friction_fields[], ga_friction_fields_angular[],
    ga_friction_fields_smooth[]; /* of rotation in every direction: regularised */
extern const ga_field ga_limits_fields[], ga_limits_fields_angular[];
extern const ga_field ga_attachment_fields[], ga_attachment_fields_angular[];

#define GA_JOINT_FIELD_BETWEEN                                                                 \
    GA_FIELD(ga_joint, PAIR, between, "first and second body, or points on them",              \
             .required = true)
#define GA_JOINT_FIELD_AT                                                                      \
    GA_FIELD(ga_joint, PLACE, at,                                                              \
             "location of the joint in the position given in the model file: world "           \
             "coordinates, or the "                                                            \
             "name of a point",                                                                \
             .unit = "m", .fallback = {NAN, NAN, NAN},                                         \
             .absent = "the points named in `between`; if only bodies are named, the "         \
                       "centre of mass of the second")
#define GA_JOINT_FIELD_AXIS(dimensions, help_, absent_)                                        \
    GA_FIELD(ga_joint, DIRECTION, axis, help_, .fallback = {NAN, NAN, NAN}, .absent = absent_, \
             .where = dimensions)

#define GA_ATTACHMENT_FIELDS(type, a, force, length, angular_)                                 \
    GA_FIELD_AS(type, NUMBER, a stiffness, "stiffness",                                        \
                "stiffness of a spring along the coordinate", .unit = force "/" length,        \
                .range = GA_NOT_NEGATIVE),                                                     \
        GA_FIELD_AS(type, NUMBER, a damping, "damping",                                        \
                    "damping of a damper along the coordinate", .unit = force " s/" length,    \
                    .range = GA_NOT_NEGATIVE),                                                 \
        GA_FIELD_AS(type, NUMBER, a rest, "rest",                                              \
                    "coordinate at which the spring is unloaded", .unit = length,              \
                    .absent = "0, the position given in the model file"),                      \
        GA_FIELD_AS(type, GROUP, a friction, "friction",                                       \
                    "Coulomb friction from the joint's own reaction",                          \
                    .group = ga_friction_fields##angular_),                                    \
        GA_FIELD_AS(type, GROUP, a limits, "limits", "limits of the coordinate",               \
                    .group = ga_limits_fields##angular_)
/* Directly in a joint with one coordinate. */
#define GA_JOINT_FIELDS_LINEAR GA_ATTACHMENT_FIELDS(ga_joint, attachment[0]., "N", "m", )
#define GA_JOINT_FIELDS_ANGULAR                                                                \
    GA_ATTACHMENT_FIELDS(ga_joint, attachment[0]., "N m", "rad", _angular)
/* As a group, for one of several coordinates. */
#define GA_JOINT_FIELD_GROUP(k, name_, angular_)                                               \
    GA_FIELD_AS(ga_joint, GROUP, attachment[k], name_,                                         \
                "spring, damper, friction and limits along this coordinate",                   \
                .group = ga_attachment_fields##angular_)

/* Channels. */
typedef void ga_channel_value(const void *element, const ga_element_state *state, double *out);
ga_channel_value ga_joint_channel_force, ga_joint_channel_torque, ga_joint_channel_multipliers;
ga_channel_value ga_joint_channel_value0, ga_joint_channel_value1, ga_joint_channel_value2;
ga_channel_value ga_joint_channel_rate0, ga_joint_channel_rate1, ga_joint_channel_rate2;
ga_channel_value ga_joint_channel_effort0, ga_joint_channel_effort1, ga_joint_channel_effort2;
int ga_joint_multiplier_count(const void *element);
bool ga_joint_has_effort0(const void *element);
bool ga_joint_has_effort1(const void *element);
bool ga_joint_has_effort2(const void *element);

#define GA_JOINT_CHANNELS                                                                      \
    {.name = "force",                                                                          \
     .unit = "N",                                                                              \
     .help = "on the second body, world axes",                                                 \
     .count = 3,                                                                               \
     .value = ga_joint_channel_force},                                                         \
        {.name = "torque",                                                                     \
         .unit = "N m",                                                                        \
         .help =                                                                               \
             "on the second body, about the joint's point on that body, which moves with it; " \
             "world axes",                                                                     \
         .count = 3,                                                                           \
         .value = ga_joint_channel_torque,                                                     \
         .axial = true},                                                                       \
    {                                                                                          \
        .name = "multipliers", .unit = "N or N m",                                             \
        .help = "the scheme's own Lagrange multipliers, one per constraint, with the sign of " \
                "the equations",                                                               \
        .value = ga_joint_channel_multipliers, .size = ga_joint_multiplier_count,              \
        .of_scheme = true                                                                      \
    }
/* "rad" is longer than "m". */
#define GA_COORDINATE_HELP(length)                                                             \
    (sizeof(length) == sizeof "rad"                                                            \
         ? "coordinate, 0 in the position given in the model file, full turns counted"         \
         : "coordinate, 0 in the position given in the model file")
/* Coordinate k; force and length are units. */
#define GA_JOINT_COORDINATE(k, value_name, rate_name, effort_name, force, length)              \
    {.name = value_name,                                                                       \
     .unit = length,                                                                           \
     .help = GA_COORDINATE_HELP(length),                                                       \
     .count = 1,                                                                               \
     .value = ga_joint_channel_value##k},                                                      \
        {.name = rate_name,                                                                    \
         .unit = length "/s",                                                                  \
         .help = "its rate",                                                                   \
         .count = 1,                                                                           \
         .value = ga_joint_channel_rate##k},                                                   \
    {                                                                                          \
        .name = effort_name, .unit = force,                                                    \
        .help = "sum of spring, damper, friction and limits along it, if it has any",          \
        .count = 1, .value = ga_joint_channel_effort##k, .there = ga_joint_has_effort##k       \
    }

#endif
