/* Notes, slope triangles, labels of rules and bands. */
#ifndef GA_PLOT_CAPTIONS_H
#define GA_PLOT_CAPTIONS_H

#include "plot/cover.h"
#include "plot/view.h"

/* Draws them where they cover least; without a canvas it only enters them in the map. */
void ga_captions_draw(const ga_view *view, ga_canvas *canvas, ga_cover *cover);

#endif
