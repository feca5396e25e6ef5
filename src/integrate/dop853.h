/* Coefficients of Dormand and Prince's explicit Runge-Kutta method of order 8 with embedded
 * methods of order 5 and 3 and dense output of order 7, [HNW93] section II.10:
 *
 *     k_i = f(t_n + c_i h, y_n + h sum_j a_ij k_j)      i = 0 .. 11
 *     y_1 = y_n + h sum_i b_i k_i                       order 8
 *     h sum_i e5_i k_i,  h sum_i e3_i k_i               y_1 minus orders 5 and 3
 *
 * k_12 = f(t_n + h, y_1) is the first stage of the next step; k_13 .. k_15 serve the dense
 * output alone. With x = (t - t_n)/h:
 *
 *     y(x) = y_n + x (F_0 + (1-x) (F_1 + x (F_2 + (1-x) (F_3 + x (F_4 + (1-x) (F_5 + x
 * F_6)))))) F_0 = y_1 - y_n,  F_1 = h k_0 - F_0,  F_2 = 2 F_0 - h (k_0 + k_12), F_{3+r} = h
 * sum_i d_ri k_i
 */
#ifndef GA_INTEGRATE_DOP853_H
#define GA_INTEGRATE_DOP853_H

enum {
    GA_DOP853_STAGES = 12,       /* of a step */
    GA_DOP853_END = 12,          /* the stage at its end */
    GA_DOP853_DENSE_STAGES = 16, /* with those of the dense output */
    GA_DOP853_DENSE = 7          /* F_0 .. F_6 */
};

typedef struct ga_dop853 {
    double c[GA_DOP853_DENSE_STAGES];
    double a[GA_DOP853_DENSE_STAGES][GA_DOP853_DENSE_STAGES];
    double b[GA_DOP853_STAGES], e5[GA_DOP853_STAGES], e3[GA_DOP853_STAGES];
    double d[GA_DOP853_DENSE - 3][GA_DOP853_DENSE_STAGES];
} ga_dop853;

extern const ga_dop853 ga_dop853_table;

#endif
