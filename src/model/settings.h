/* The sections `simulate` and `output` of a model file, and the tables of bodies and sections.
 */
#ifndef GA_MODEL_SETTINGS_H
#define GA_MODEL_SETTINGS_H

#include "element/field.h"

/* As in the file; choices are indices into the lists in settings.c, NaN means not given. */
typedef struct ga_simulate_settings {
    double t_start, t_end;
    double step;
    ga_tolerance_choice tolerance;
    double first_step, min_step, max_step;
    int error; /* ga_error_mode */
    ga_method_choice method;
    double rho_inf, alpha, beta, gamma;
    int formulation, start, kinematics, map, newton, solver, scaling;
    double penalty;
    bool cut_steps;
    double max_projection;
    double newton_tolerance;
    int threads;
} ga_simulate_settings;

typedef struct ga_output_settings {
    double every;
    ga_text_list channels;
} ga_output_settings;

typedef struct ga_settings {
    bool simulate_given;
    ga_simulate_settings simulate;
    ga_output_settings output;
} ga_settings;

enum {
    GA_FAMILY_GENERALIZED_ALPHA,
    GA_FAMILY_HHT,
    GA_FAMILY_NEWMARK,
    GA_FAMILY_WBZ,
    GA_FAMILY_EXPLICIT, /* from here on methods of their own, without coefficients */
    GA_FAMILY_RADAU,
    GA_FAMILY_AUTO,
    GA_FAMILY_COEFFICIENTS = -1
};

extern const ga_field ga_simulate_fields[], ga_output_fields[], ga_body_fields[];

#endif
