/* Three numbers in registers, and the one 3 x 3 matrix this folder ever writes. */
#ifndef GA_LIE_VEC3_H
#define GA_LIE_VEC3_H

typedef struct ga_vec3 {
    double x, y, z;
} ga_vec3;

static inline ga_vec3 ga_vec3_load(const double *a) { return (ga_vec3){a[0], a[1], a[2]}; }

static inline void ga_vec3_store(ga_vec3 a, double *out)
{
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static inline ga_vec3 ga_vec3_scale(double s, ga_vec3 a)
{
    return (ga_vec3){s * a.x, s * a.y, s * a.z};
}

static inline ga_vec3 ga_vec3_add(ga_vec3 a, ga_vec3 b)
{
    return (ga_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline ga_vec3 ga_vec3_sub(ga_vec3 a, ga_vec3 b)
{
    return (ga_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

/* a + s b */
static inline ga_vec3 ga_vec3_axpy(ga_vec3 a, double s, ga_vec3 b)
{
    return (ga_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double ga_vec3_dot(ga_vec3 a, ga_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline ga_vec3 ga_vec3_cross(ga_vec3 a, ga_vec3 b)
{
    return (ga_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* M = d I + k~ + x y^T + y x^T into columns of length ld: the shape of T, of its derivatives
 * and of their inverses. */
static inline void ga_mat3_write(double d, ga_vec3 k, ga_vec3 x, ga_vec3 y, int ld, double *M)
{
    double xy = x.x * y.y + x.y * y.x;
    double yz = x.y * y.z + x.z * y.y;
    double zx = x.z * y.x + x.x * y.z;
    double *c0 = M, *c1 = M + ld, *c2 = M + 2 * ld;
    c0[0] = d + 2 * x.x * y.x;
    c0[1] = xy + k.z;
    c0[2] = zx - k.y;
    c1[0] = xy - k.z;
    c1[1] = d + 2 * x.y * y.y;
    c1[2] = yz + k.x;
    c2[0] = zx + k.y;
    c2[1] = yz - k.x;
    c2[2] = d + 2 * x.z * y.z;
}

/* M += x y^T + y x^T */
static inline void ga_mat3_add(ga_vec3 x, ga_vec3 y, int ld, double *M)
{
    double xy = x.x * y.y + x.y * y.x;
    double yz = x.y * y.z + x.z * y.y;
    double zx = x.z * y.x + x.x * y.z;
    double *c0 = M, *c1 = M + ld, *c2 = M + 2 * ld;
    c0[0] += 2 * x.x * y.x;
    c0[1] += xy;
    c0[2] += zx;
    c1[0] += xy;
    c1[1] += 2 * x.y * y.y;
    c1[2] += yz;
    c2[0] += zx;
    c2[1] += yz;
    c2[2] += 2 * x.z * y.z;
}

#endif
