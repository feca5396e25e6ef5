/* Loops over the rows of a block, with their number known to the compiler. */
#ifndef GA_BASE_UNROLL_H
#define GA_BASE_UNROLL_H

/* A function to be called by GA_UNROLL. */
#define GA_UNROLLED static inline __attribute__((always_inline)) void

#define GA_UNROLL_CASE(n, f, ...)                                                              \
    case n:                                                                                    \
        f(n, __VA_ARGS__);                                                                     \
        break;

enum { GA_MOST_UNROLLED = 6 };

/* f(n, ...) with n a constant where it is at most six: nodes have no more components, and
 * loops of unknown length cost more than what they do then. */
#define GA_UNROLL(n, f, ...)                                                                   \
    switch (n) {                                                                               \
        GA_UNROLL_CASE(1, f, __VA_ARGS__)                                                      \
        GA_UNROLL_CASE(2, f, __VA_ARGS__)                                                      \
        GA_UNROLL_CASE(3, f, __VA_ARGS__)                                                      \
        GA_UNROLL_CASE(4, f, __VA_ARGS__)                                                      \
        GA_UNROLL_CASE(5, f, __VA_ARGS__)                                                      \
        GA_UNROLL_CASE(6, f, __VA_ARGS__)                                                      \
    default:                                                                                   \
        f(n, __VA_ARGS__);                                                                     \
    }

#endif
