/* Field tables: what an element (a body, a section of the model file) can be told. Reader,
 * defaults, checks, `galpha schema` and `galpha elements` all work from them.
 *
 *     static const ga_field fields[] = {
 *         GA_FIELD(spring, FUNCTION, stiffness, "stiffness", .unit = "N/m", .required = true),
 *         {0},
 *     };
 */
#ifndef GA_ELEMENT_FIELD_H
#define GA_ELEMENT_FIELD_H

#include <stdbool.h>
#include <stddef.h>

/* What stands in the file, and what the member it goes to is. */
typedef enum ga_kind {
    GA_KIND_NONE,
    GA_KIND_NUMBER,  /* double */
    GA_KIND_INTEGER, /* int */
    GA_KIND_BOOLEAN, /* bool */
    GA_KIND_CHOICE,  /* int, index into .choices */
    GA_KIND_TEXT,    /* const char * */
    GA_KIND_PATH,    /* const char *, made to start at the model's folder */
    GA_KIND_VECTOR,  /* double[3]; two numbers in planar models */
    GA_KIND_PLACE,   /* double[3]: coordinates in the world, or a point by name: where it is at
                        t = 0 */
    GA_KIND_DIRECTION, /* double[3], comes out with length 1 */
    GA_KIND_NUMBERS,   /* double[.count], a list of that length */
    GA_KIND_LIST,      /* ga_number_list, as many numbers as there are */
    GA_KIND_MATRIX6,   /* double[36], row-major; or six numbers, the diagonal; planar: 3 x 3 or
                          three, for x, y and the rotation: rows and columns 0, 1, 5 */
    GA_KIND_FUNCTION,  /* ga_function *, of time (and, in forces, of channels) */
    GA_KIND_FUNCTIONS, /* ga_function *[3], one for each component of a vector */
    GA_KIND_ROTATION,  /* double[4], a unit quaternion */
    GA_KIND_INERTIA,   /* double[9], symmetric, positive definite */
    GA_KIND_POINT,     /* ga_anchor */
    GA_KIND_PAIR,      /* ga_anchor[2] */
    GA_KIND_BODY,      /* int, a node */
    GA_KIND_BODIES,    /* ga_node_list */
    GA_KIND_JOINT,     /* const struct ga_joint * */
    GA_KIND_JOINTS,    /* const struct ga_joint *[2] */
    GA_KIND_CHANNELS,  /* ga_text_list; names are resolved when a simulation is made */
    GA_KIND_GROUP,     /* a struct of its own, with .group as its fields */
    GA_KIND_SPIN,      /* double[3]: an angular velocity; planar: one number, about z */
    GA_KIND_POINTS,    /* ga_point_list */
    GA_KIND_TOLERANCE, /* ga_tolerance_choice: a number, or {relative: , absolute: } */
    GA_KIND_METHOD, /* ga_method_choice: a name, or {alpha_m: , alpha_f: , beta: , gamma: } */
    GA_KIND_COLOR,  /* const char *, as #rrggbb */
    GA_KIND_SHAPES, /* ga_shape_list: a map with .group as its fields, or a list of such */
    GA_KIND_INPUTS, /* ga_input_list */
    GA_KIND_COUNT
} ga_kind;

typedef enum ga_number_range {
    GA_ANY,
    GA_POSITIVE,
    GA_NOT_NEGATIVE,
    GA_FRACTION /* [0, 1] */
} ga_number_range;

typedef enum ga_dimensions { GA_ANYWHERE, GA_SPATIAL, GA_PLANAR } ga_dimensions;

typedef struct ga_field {
    const char *name;
    ga_kind kind;
    size_t offset;
    const char *help; /* one phrase, for the reference */
    const char *unit; /* null: none; an angle may be "rad" */
    bool required;
    /* What stands where nothing is given. NaN in the first number: not given, `prepare`
     * decides, and .absent says for the reference what then happens. */
    double fallback[3];
    const char *absent;
    const char *const *choices; /* null-terminated */
    int count;                  /* of GA_KIND_NUMBERS */
    ga_number_range range;      /* of numbers, and of each number in a list */
    const struct ga_field *group;
    ga_dimensions where; /* models that have this field */
} ga_field;

#define GA_FIELD(type, kind_, member, ...)                                                     \
    GA_FIELD_AS(type, kind_, member, #member, __VA_ARGS__)
/* For a name in the file that is not the member's. */
#define GA_FIELD_AS(type, kind_, member, name_, ...)                                           \
    {                                                                                          \
        .name = name_, .kind = GA_KIND_##kind_, .offset = offsetof(type, member),              \
        .help = __VA_ARGS__                                                                    \
    }

/* A group's struct starts with this, set if the group was given. */
typedef struct ga_group_head {
    bool given;
} ga_group_head;

typedef struct ga_node_list {
    int count;
    const int *nodes;
} ga_node_list;

typedef struct ga_number_list {
    int count;
    const double *values;
} ga_number_list;

typedef struct ga_text_list {
    int count;
    const char *const *texts;
} ga_text_list;

/* A point on a node: p in its axes, from its origin. */
typedef struct ga_anchor {
    int node; /* GA_GROUND: p in the world */
    double p[3];
    bool whole;    /* only the body or `ground` was named, no point on it */
    bool is_point; /* a point mass, which is its own point */
} ga_anchor;

enum { GA_GROUND = -1, GA_NOWHERE = -2 /* node of what was not given */ };

/* Named points on a body, in its axes. */
typedef struct ga_named_point {
    const char *name;
    double p[3];
} ga_named_point;

typedef struct ga_point_list {
    int count;
    const ga_named_point *points;
} ga_point_list;

/* What a body looks like; shapes are the model's. */
typedef struct ga_shape ga_shape;
typedef struct ga_shape_list {
    int count;
    const ga_shape *shapes;
} ga_shape_list;

/* Inputs: numbers that are set from outside while a simulation runs. */
typedef struct ga_named_input {
    const char *name;
    double start;
    const char *unit; /* null: none */
} ga_named_input;

typedef struct ga_input_list {
    int count;
    const ga_named_input *inputs;
} ga_input_list;

typedef struct ga_tolerance_choice {
    double relative, absolute; /* NaN: not given */
} ga_tolerance_choice;

typedef struct ga_method_choice {
    int family;             /* index into .choices, or -1: the four numbers */
    double coefficients[4]; /* alpha_m, alpha_f, beta, gamma */
} ga_method_choice;

#endif
