/* Surfaces of triangles in STL and OBJ files. */
#ifndef GA_DATA_MESH_H
#define GA_DATA_MESH_H

#include "base/arena.h"

#include <galpha/status.h>

/* More would make results and pages that nobody wants to wait for. */
enum { GA_MESH_MAX_TRIANGLES = 200000, GA_MESH_REASON_SIZE = 160 };

typedef struct ga_mesh {
    int triangle_count;
    const float *corners; /* nine numbers a triangle, in the arena */
} ga_mesh;

/* By the end of the name, .stl (binary or text) or .obj. GA_OK; GA_ERR_INPUT or GA_ERR_FILE
 * with a reason, perhaps with the line; GA_ERR_MEMORY. */
ga_status ga_mesh_read(const char *path, ga_arena *arena, ga_mesh *mesh,
                       char reason[GA_MESH_REASON_SIZE]);

#endif
