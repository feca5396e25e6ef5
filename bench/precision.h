/* Positions of rods 0, 1, 4, 24, 89 of the spatial chains with N = 90 at t = 1. */
#ifndef BENCH_PRECISION_H
#define BENCH_PRECISION_H

extern const double precision_spherical[15], precision_revolute[15];

#endif
