/* Elements: joints, motions, forces, and what has mass. Each is one file and one line in
 * element.def.
 *
 * An element knows its nodes as frames in space with body-frame twists, whatever coordinates
 * they have: model/node maps between the two. A planar model is the plane z = 0 of a spatial
 * one: elements see no difference, rows that hold by themselves there are left out.
 *
 *     twist                   (u, w) = (R^T x', Omega)
 *     variation               (delta_u, delta_theta): x + R delta_u, R exp(delta_theta~)
 *     force                   (f, m): force, and moment about the node's origin, body axes
 *     constraint              Phi(q, t),  B = D Phi,   S_i(w, delta) = D_delta (B_i w)
 *
 * S is not symmetric: twists are held fixed in body axes while the frame turns.
 *
 * Local arrays run over the element's nodes, six numbers each, ground included; matrices are
 * row-major. Functions that "add" find the array holding what others added; the others write
 * all of their output. An element has no state: what it remembers between steps (turns of a
 * joint, sticking or slipping) is `memory`, changed only by commit, happen and settle.
 */
#ifndef GA_ELEMENT_ELEMENT_H
#define GA_ELEMENT_ELEMENT_H

#include "data/function.h"
#include "element/field.h"

#include <stdint.h>

typedef struct ga_frame {
    double x[3];
    double R[9]; /* column-major, body to world axes */
    double u[3], w[3];
} ga_frame;

/* An input: constant, or linear in time up to `until` and constant from there on. */
typedef struct ga_input_line {
    double value, rate; /* at time t */
    double t, until;
} ga_input_line;

static inline double ga_input_value(const ga_input_line *line, double t)
{
    return line->value + line->rate * ((t < line->until ? t : line->until) - line->t);
}

struct ga_plugin_body;
/* A force of the program that runs the simulation, see ga_sim_set_force. */
typedef struct ga_callback_slot {
    void (*function)(void *user, double t, const struct ga_plugin_body *bodies, double *f);
    void *user;
} ga_callback_slot;

/* Where to evaluate. frames[GA_GROUND] is the ground; multipliers and memory are those of the
 * whole model, elements find theirs through their offsets. */
typedef struct ga_element_state {
    double t;
    const ga_frame *frames;
    const double *lambda, *psi; /* where a function says that it reads them */
    const double *memory;
    /* How long the motion was interpolated over to get here: positions have round-off of what
     * they move in that time. 0: not known. */
    double interval;
    const ga_input_line *inputs;       /* null: as they start, see ga_input_value */
    const ga_callback_slot *callbacks; /* null: none */
} ga_element_state;

enum { GA_ELEMENT_MAX_NODES = 12, GA_TWIST = 6 };

typedef struct ga_element_type ga_element_type;

/* First member of every element. Counts are set by `prepare`, offsets by the model. */
typedef struct ga_element {
    const ga_element_type *type;
    const char *name;
    ga_place place;
    int node_count, nodes[GA_ELEMENT_MAX_NODES]; /* GA_GROUND or an index */
    int rows;                                    /* holonomic */
    int speed_rows;                              /* nonholonomic */
    int memory_count;
    int event_count;
    int callback_count;
    bool rheonomic; /* its rows depend on time */
    /* offsets: in lambda, psi, memory, event functions, callbacks */
    int row, speed_row, memory, event, callback;
    const struct ga_element *host; /* the joint whose multipliers its force uses, or null */
} ga_element;

/* What `prepare` may know. */
typedef struct ga_setup {
    ga_reader *reader;   /* for messages */
    const ga_value *map; /* what stands in the file for it; null: nothing */
    ga_arena *arena;     /* lives as long as the model */
    int dimension;
    const double *gravity;
    const ga_frame *frames; /* as given for t = 0, [GA_GROUND] too */
    int node_count;
    const double *mass; /* of each node */
    const bool *turns;  /* each node: false of point masses; null: all do */
    /* what tells the model from others: `load` adds what the element takes from other files;
     * null: nobody asks */
    uint64_t *fingerprint;
} ga_setup;

/* An error (returns false) or a warning about a field of an element, friction.radius, at the
 * field's place in the file. */
bool ga_element_error(const ga_setup *setup, const void *element, const char *field,
                      const char *text);
void ga_element_warning(const ga_setup *setup, const void *element, const char *field,
                        const char *text);

/* Whether what is attached there can rotate, or is ground; not so a point mass. */
bool ga_setup_turns(const ga_setup *setup, int node);

/* Where the two sides of a joint (or bushing) are at t = 0, in the world.
 *
 * `at`, NaN if not given, is the place of both. Otherwise points stay where they are, ground
 * alone takes the place of the other side, and where only bodies are named it is the centre of
 * the second, or of the only one: that body is `centre_of`, else GA_NOWHERE. A body alone
 * opposite a point takes the place of the point (joints on lines and planes) or is an error
 * (`meet`: joints that make two points coincide), because its centre may be meant as well. A
 * point mass is its own point.
 *
 * False after an error message. */
bool ga_setup_sides(const ga_setup *setup, const void *element, const ga_anchor between[2],
                    const double at[3], bool meet, double origin[2][3], int *centre_of);

typedef struct ga_channel_type {
    const char *name, *unit, *help;
    int count;                /* of numbers; 0: as many as the element says in `size` */
    const char *const *parts; /* names of components for CSV; null: x, y, z or 0, 1, ... */
    /* Writes count numbers; reads everything. In planar models a vector of 3 keeps x and y,
     * and .axial vectors (torque) keep z. */
    void (*value)(const void *element, const ga_element_state *state, double *out);
    int (*size)(const void *element);
    bool (*there)(const void *element); /* null: always */
    bool axial;
    /* Reads the multipliers that the scheme computed, not those of the acceleration level. */
    bool of_scheme;
} ga_channel_type;

/* What an event wants. */
typedef enum ga_switch {
    GA_SWITCH_NOTHING,
    GA_SWITCH_MODE,  /* memory changed: the integration starts anew */
    GA_SWITCH_IMPACT /* also the element's rate is to jump, see ga_impact */
} ga_switch;

/* The element's gap, whose rate before is negative, is to open with -restitution times that. */
typedef struct ga_impact {
    double restitution;
    bool determined; /* given: others determine that rate, so it cannot be locked */
} ga_impact;

struct ga_element_type {
    const char *name;
    const char *section; /* joints, motions, forces; null: made by others, not in files */
    const char *help;    /* a sentence or three, for the reference */
    /* Properties of a small instance as they stand in a file, for the reference and for the
     * test of every type; in planar models planar_example, null: the same. They may name the
     * bodies a, b, c, d with a point p each, and joints that start at b:
     *
     *     hinge: {type: revolute, between: [b, a]}    wheel: {type: revolute, between: [b, c]}
     *     slider: {type: prismatic, between: [b, d]}
     */
    const char *example, *planar_example;
    size_t size;
    const ga_field *fields;
    const char *(*kind)(
        const void *element); /* what one of them is, for people; null: `name` */
    ga_dimensions where;
    bool is_joint;  /* its struct starts with ga_joint */
    bool per_body;  /* one instance for each body of its field `bodies`, which is at .body_at */
    size_t body_at; /* offset of an int that gets the node */

    /* Fields are read, anchors known: set nodes and counts, compute what the rest needs. False
     * after an error message. */
    bool (*prepare)(void *element, ga_setup *setup);
    /* The whole model is known to be right: loads foreign code. False after an error message.
     * Null: nothing to load. */
    bool (*load)(void *element, const ga_setup *setup);
    /* Frees what fields do not own. */
    void (*release)(void *element);

    /* Name of holonomic row k ("translation along x"), and of nonholonomic rows after them. */
    const char *(*row_name)(const void *element, int k);

    /* --- constraints; k counts as rows, then speed_rows ------------------------------------
     */
    void (*constraint)(const void *element, const ga_element_state *state, double *Phi);
    /* B: rows x 6 n */
    void (*gradient)(const void *element, const ga_element_state *state, double *B);
    /* adds D (B^T lambda), 6 n x 6 n; lambda: the element's own rows */
    void (*geometric)(const void *element, const ga_element_state *state, const double *lambda,
                      double *K);
    /* Z = D (B v) at fixed twists, rows x 6 n */
    void (*speed_stiffness)(const void *element, const ga_element_state *state, double *Z);
    /* Phi_t; and (B v + Phi_t)_t = B_t v + Phi_tt. Null: zero. */
    void (*rate)(const void *element, const ga_element_state *state, double *Phi_t);
    void (*rate_rate)(const void *element, const ga_element_state *state, double *rate_rate);

    /* k(q, v, t) */
    void (*speed)(const void *element, const ga_element_state *state, double *k);
    /* N = dk/dv, speed_rows x 6 n */
    void (*speed_gradient)(const void *element, const ga_element_state *state, double *N);
    /* D k at fixed twists, speed_rows x 6 n */
    void (*speed_speed_stiffness)(const void *element, const ga_element_state *state,
                                  double *Z);
    /* adds D (N^T psi) at fixed twists, and its derivative by the twists */
    void (*speed_geometric)(const void *element, const ga_element_state *state,
                            const double *psi, double *K, double *C);
    /* k_t. Null: zero. */
    void (*speed_rate)(const void *element, const ga_element_state *state, double *k_t);

    /* Which blocks of K and C can be other than zero: block i, j of three numbers each, the
     * translation of node 0, its rotation, the translation of node 1, ... Null: all. */
    bool (*coupled)(const void *element, int i, int j);

    /* --- forces ----------------------------------------------------------------------------
     */
    /* True if this one exerts none. Null: it does, where `force` is given. */
    bool (*idle)(const void *element);
    /* adds the force on each node, 6 n; may read the multipliers of its host */
    void (*force)(const void *element, const ga_element_state *state, double *f);
    /* adds -D f at fixed twists to K, and -df/d(twists) to C, 6 n x 6 n each */
    void (*tangent)(const void *element, const ga_element_state *state, double *K, double *C);
    /* adds df/d(lambda, psi) of the host, 6 n x (host rows + host speed rows) */
    void (*force_multipliers)(const void *element, const ga_element_state *state, double *L);

    /* --- inertia ---------------------------------------------------------------------------
     * An element with mass adds M(q) y' + h(q, y) to the dynamics, y the twists of its nodes,
     * and y . (M y' + h) is the rate of its kinetic energy. It has all four functions, or none.
     */
    /* adds M, 6 n x 6 n, symmetric, not negative; reads no twists */
    void (*mass)(const void *element, const ga_element_state *state, double *M);
    /* adds h, 6 n */
    void (*gyroscopic)(const void *element, const ga_element_state *state, double *h);
    /* adds D (M y' + h) at fixed twists y and rates y', 6 n numbers, to K, and dh/dy to C */
    void (*inertia_tangent)(const void *element, const ga_element_state *state,
                            const double *rates, double *K, double *C);
    double (*kinetic)(const void *element, const ga_element_state *state);

    /* --- energy ------------------------------------------------------------------------------
     * Force times twists is power - d(potential)/dt - dissipation. Where all three are null,
     * the power of `force` counts as work from outside. */
    double (*potential)(const void *element, const ga_element_state *state);
    double (*dissipation)(const void *element, const ga_element_state *state); /* power, >= 0 */
    double (*power)(const void *element, const ga_element_state *state); /* from outside */

    /* --- memory and events -----------------------------------------------------------------
     */
    /* At the start; writes memory_count numbers. */
    void (*remember)(const void *element, const ga_element_state *state, double *memory);
    /* For elements whose row locks a rate, opens it; true if it was closed. The rate is
     * gradient . (twists). If others prescribe that rate, `follow` tells that it is never to be
     * locked. */
    bool (*unlock)(const void *element, const ga_element_state *state, double *memory,
                   double *gradient);
    void (*follow)(const void *element, double *memory);
    /* After each accepted step. */
    void (*commit)(const void *element, const ga_element_state *state, double *memory);
    /* Event functions, event_count numbers: an event is where one becomes negative. What
     * `happen` and the impact leave is not negative. */
    void (*events)(const void *element, const ga_element_state *state, double *g);
    int first_gap; /* for elements with impacts: from this one on they are gaps */
    ga_switch (*happen)(const void *element, int event, const ga_element_state *state,
                        double *memory, ga_impact *impact);
    /* For elements with impacts, after happen: is there contact? Then its row keeps the gap
     * while the position is made consistent; until loosen, after which velocities may jump. The
     * gap's rate is gradient . (twists), 6 n numbers. One that closes, but has not happened
     * yet, is struck, too, if impact is given. What sticks by friction gives way. */
    bool (*touch)(const void *element, const ga_element_state *state, double *memory,
                  ga_impact *impact);
    void (*loosen)(const void *element, const ga_element_state *state, double *memory,
                   double *gradient);
    /* After the impact, state with the new velocities: the contact stays closed, or opens. */
    void (*part)(const void *element, const ga_element_state *state, bool stays,
                 double *memory);
    /* After the integration has started anew, with multipliers: true if memory changed. */
    bool (*settle)(const void *element, const ga_element_state *state, double *memory);
    /* The next time after t at which a force jumps or has a corner that no function in the
     * fields tells about; null: never. */
    double (*next_break)(const void *element, double t);

    /* Rates that the element takes for zero though it does not keep them so: rows of the twists
     * of its nodes, of which it returns the number, two at most. Null: none. */
    int (*assumed)(const void *element, const ga_element_state *state, double *rows);
    const char *assumption; /* in words */
    /* How far a state is from one in which the element is not defined, by its size: 0 there.
     * Null: it is defined everywhere. */
    double (*regularity)(const void *element, const ga_element_state *state);
    const char *singular, *remedy; /* what happens there, and what to do, in words */

    const ga_channel_type *channels; /* ends with a null name */

    /* --- expressions, see observe.h ---------------------------------------------------------
     */
    /* Offset of the ga_observation that collects what the FUNCTION fields of an element use
     * besides time; 0: they see time only. */
    size_t observation_at;
    bool inputs_only; /* they see inputs of the model, and no channels */
    /* Names that only the element's own functions know (length, rate); ends with null. */
    const char *const *own_variables;
    /* What functions of others may use of it; ends with a null name. */
    const struct ga_measure *measures;
};

/* All types, in the order of element.def; null past the last. */
const ga_element_type *ga_element_type_get(int k);
const ga_element_type *ga_element_type_find(const char *section, const char *name);

#endif
