/* What bodies look like. Shapes have no mass and touch nothing: they are for pictures only. */
#ifndef GA_MODEL_SHAPE_H
#define GA_MODEL_SHAPE_H

#include "data/mesh.h"
#include "model/build.h"

/* Cylinders and capsules. */
typedef struct ga_round {
    ga_group_head head;
    double radius, length;
    double axis[3]; /* body axes */
} ga_round;

typedef struct ga_mesh_file {
    const char *path;
    ga_mesh mesh;
    int index;                 /* of files of the model, in the order they are read */
    struct ga_mesh_file *next; /* files read before it */
} ga_mesh_file;

struct ga_shape {
    const char *form; /* box, cylinder, ... : the field that is given */
    double box[3], sphere;
    ga_round cylinder, capsule;
    const char *mesh;
    const ga_mesh_file *file; /* of the mesh; null: none */
    double scale;
    double position[3], rotation[4]; /* in the body */
    const char *color;               /* #rrggbb; null: as the viewer likes */
};

extern const ga_field ga_shape_fields[];
/* The fields of which a shape has exactly one; ends with null. */
extern const char *const ga_shape_forms[];

/* Words for colours, and what they stand for; ends with a null name. */
typedef struct ga_color_name {
    const char *name, *color;
} ga_color_name;
extern const ga_color_name ga_color_names[];

/* Kinds of fields, see build.h: a shape or a list of them; a colour. */
bool ga_shape_read_list(ga_builder *builder, const ga_value *value, const ga_field *field,
                        void *out);
bool ga_color_read(ga_builder *builder, const ga_value *value, const ga_field *field,
                   void *out);

#endif
