/* Loops over the rows of a block, with their number known to the compiler. */
#ifndef GA_LA_UNROLL_H
#define GA_LA_UNROLL_H

/* A function to be called by GA_UNROLL. */
#define GA_UNROLLED static inline __attribute__((always_inline)) void

/* f(n, ...) with n a constant where it is at most six: nodes have no more components, and
 * loops of unknown length cost more than what they do then. */
#define GA_UNROLL(n, f, ...)                                                                   \
    switch (n) {                                                                               \
    case 1:                                                                                    \
        f(1, __VA_ARGS__);                                                                     \
        break;                                                                                 \
    case 2:                                                                                    \
        f(2, __VA_ARGS__);                                                                     \
        break;                                                                                 \
    case 3:                                                                                    \
        f(3, __VA_ARGS__);                                                                     \
        break;                                                                                 \
    case 4:                                                                                    \
        f(4, __VA_ARGS__);                                                                     \
        break;                                                                                 \
    case 5:                                                                                    \
        f(5, __VA_ARGS__);                                                                     \
        break;                                                                                 \
    case 6:                                                                                    \
        f(6, __VA_ARGS__);                                                                     \
        break;                                                                                 \
    default:                                                                                   \
        f(n, __VA_ARGS__);                                                                     \
    }

#endif
