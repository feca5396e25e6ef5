/* A model as the rest of the library sees it: nodes, bodies, elements, numbering, settings. */
#ifndef GA_MODEL_MODEL_H
#define GA_MODEL_MODEL_H

#include "base/names.h"
#include "data/document.h"
#include "element/body.h"
#include "element/joint.h"
#include "model/settings.h"

#include <galpha/model.h>
#include <stdint.h>

/* A node is a place with a Lie group, here as it is at t = 0. What it weighs is up to elements.
 */
typedef struct ga_model_node {
    const char *name;
    bool turns; /* a frame; else a point */
    double position[3], rotation[4];
} ga_model_node;

/* What a name in the file stands for. */
typedef enum ga_named { GA_NAMED_BODY, GA_NAMED_ELEMENT } ga_named;

struct ga_model {
    ga_document *document;
    ga_arena arena;
    const char *name;
    int dimension;
    double gravity[3];
    int node_count;
    ga_model_node *nodes;
    ga_frame *frames; /* of nodes as given for t = 0; [GA_GROUND] is the ground */
    int body_count;
    ga_body *bodies; /* each an element on a node */
    ga_point_list ground_points;
    ga_input_list inputs;
    int named_count;
    ga_element **named; /* as they stand in the file */
    int element_count;
    ga_element **elements; /* joints, what acts along them, couplings, motions, forces */
    int rows, speed_rows, memory_count, event_count, callback_count;
    struct ga_mesh_file *meshes; /* of shapes, the one read last */
    ga_names names;              /* 2 * index + ga_named */
    ga_settings settings;
    uint64_t fingerprint; /* tells models apart, see fingerprint.c */
    /* Axes of joints in loops that were made parallel or perpendicular, see align.c. */
    struct {
        int count;
        double angle;              /* the largest turn */
        const ga_element *element; /* whose */
        const char *with;          /* name of the joint it is aligned with */
    } aligned;
    /* The smallest angle by which others miss that: a loop that cannot move may be due to it.
     */
    struct {
        double angle; /* 0: none */
        const ga_element *element;
        const char *with;
    } misaligned;
};

/* The body or element of a name; -1: none. */
int ga_model_find_body(const ga_model *model, const char *name);
const ga_element *ga_model_find_element(const ga_model *model, const char *name);
/* A point by name; null: none. */
const ga_named_point *ga_points_find(const ga_point_list *points, const char *name);

#endif
