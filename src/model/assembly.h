/* A model as a ga_system: numbering of coordinates, patterns, and the sums over elements.
 *
 * An assembly is the mutable side of a model for one simulation: frames of all nodes for the
 * state last asked for, what elements remember, workspace.
 */
#ifndef GA_MODEL_ASSEMBLY_H
#define GA_MODEL_ASSEMBLY_H

#include "base/pool.h"
#include "element/batch.h"
#include "model/model.h"
#include "model/node.h"

#include <galpha/system.h>

typedef enum ga_target_name {
    GA_TARGET_MASS,
    GA_TARGET_GRADIENT,
    GA_TARGET_SPEED_GRADIENT,
    GA_TARGET_SPEED_STIFFNESS,
    GA_TARGET_SPEED_SPEED_STIFFNESS,
    GA_TARGET_STIFFNESS,
    GA_TARGET_DAMPING,
    GA_TARGET_MULTIPLIERS,
    GA_TARGET_COUNT
} ga_target_name;

/* A sparse matrix of the system by blocks, column by column: values of bodies, of batches, and
 * of the rest. Of the rest, value k >= base is local[entry[k - base]] of the element with
 * first[r] <= k < first[r + 1]. */
typedef struct ga_target {
    int count; /* values */
    int blocks, room;
    int *row, *col, *height, *width; /* of blocks */
    int base, entry_room;
    int *entry;
    int *first;
} ga_target;

/* The angle of a hinge, which counts its turns. */
typedef struct ga_turning {
    int nodes[2];
    int memory;
    double home;       /* planar: difference of the two angles at t = 0 */
    double turns;      /* planar: full turns between the bodies that the joint does not count,
                          as assembly chose the nearest angle; NaN: not known yet */
    double A[6], B[6]; /* in space: axes x and y of both markers */
} ga_turning;

typedef struct ga_assembly {
    const ga_model *model;
    ga_system system; /* borrows from the assembly */
    ga_pool *pool;    /* borrowed; null: one thread */
    int nq, nv;

    ga_node_kind *kinds; /* of nodes */
    bool alike;          /* all are of one kind */
    ga_node *nodes;
    int *q_at, *v_at; /* first coordinate of each node */
    /* The body on each node, if there is one: else 0. Inertias have 9 numbers, planar 1. */
    bool *has_body;
    double *mass, *inertia;
    bool principal; /* in space: all inertias are diagonal */
    bool turned;    /* translations are in body axes */

    /* The state that places are for; [GA_GROUND] too. In planar models frames follow planes
     * when somebody asks for them. */
    double *q, *v;
    ga_frame *frames;
    ga_plane *planes; /* null in space */
    bool placed, moved, framed, framed_moving;
    double *memory; /* what elements remember */
    ga_input_line *inputs;
    ga_callback_slot *callbacks;

    int batch_count, batch_parts;
    ga_batch *batches;
    int turning_count;
    ga_turning *turnings;
    int keeper_count;
    int *keepers; /* other elements with something to remember */

    /* The rest: elements without a kernel, in the order of the model, bodies first. */
    int rest_count;
    const ga_element **rest;
    bool heavy;     /* some of them have mass */
    int *width;     /* its columns: sum of nv over its nodes */
    int *column_at; /* where its columns begin in `columns` */
    int *columns;   /* numbers in v */
    ga_target target[GA_TARGET_COUNT];

    /* workspace for one element */
    double *A, *A2; /* 6 n x 6 n, or rows x 6 n */
    double *M;      /* 6 n x 6 n */
    double *out;    /* the same in coordinates */
    double *f;      /* 6 n, twice */
    double *rates;  /* 6 n */
} ga_assembly;

/* se: left-trivialised groups SE(3), SE(2); else R3xSO(3), R2xSO(2). */
ga_status ga_assembly_create(const ga_model *model, bool se, ga_assembly **assembly,
                             ga_report *report);
/* The same by the functions of elements alone, bodies among them, one after the other: what
 * kernels are tested against. */
ga_status ga_assembly_create_plain(const ga_model *model, bool se, ga_assembly **assembly,
                                   ga_report *report);
void ga_assembly_destroy(ga_assembly *assembly);

/* assembly_plan.c: numbers, batches and workspace of a new one, whose model is set. plain: no
 * batches. */
ga_status ga_assembly_plan(ga_assembly *assembly, bool se, bool plain);

/* Threads for sums over bodies and joints, from now on; they must outlive their use. The
 * numbers are the same, bit for bit. Null: none. */
void ga_assembly_use(ga_assembly *assembly, ga_pool *pool);

/* q0 and v0 as the model gives them. */
void ga_assembly_initial(const ga_assembly *assembly, double *q, double *v);
/* Frames for this state; where v is null, their twists are those of an earlier call. */
ga_element_state ga_assembly_state(ga_assembly *assembly, double t, const double *q,
                                   const double *v, const double *lambda, const double *psi);
/* The same for ga_assembly_powers and ga_assembly_commit, which can do without frames. */
ga_element_state ga_assembly_look(ga_assembly *assembly, double t, const double *q,
                                  const double *v, const double *lambda, const double *psi);
/* Memory at the start, and after an accepted step. */
void ga_assembly_remember(ga_assembly *assembly, double t, const double *q, const double *v);
void ga_assembly_commit(ga_assembly *assembly, const ga_element_state *state);

typedef struct ga_powers {
    double kinetic, potential;
    double dissipation; /* power lost */
    double work;        /* power of forces from outside and of motions */
} ga_powers;

/* The state has been made by ga_assembly_look, with multipliers. */
void ga_assembly_powers(ga_assembly *assembly, const ga_element_state *state,
                        ga_powers *powers);
/* covector += row of an element's nodes, 6 n numbers, in coordinates. */
void ga_assembly_add_row(const ga_assembly *assembly, const ga_element *element,
                         const double *local, double *covector);
/* The element a row of (lambda, psi) belongs to, and its number there (rows, then speed
 * rows). */
const ga_element *ga_assembly_row(const ga_assembly *assembly, int row, int *local);
/* The node a column of v belongs to; -1: none. */
int ga_assembly_column(const ga_assembly *assembly, int column);

#endif
