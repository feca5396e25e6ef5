/* Derivatives of expressions: against formulas by hand, which are evaluated as values only,
 * against extrapolated difference quotients, and at places where they are special. */
#include "compiled.h"

static const double at[VARIABLES] = {0.7, 1.3, -0.4, 2.2, 0, 0, 0, 0, 0, 0.9};

static void test_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *f, *first, *second; /* by t */
    } cases[] = {
        {"3", "0", "0"},
        {"t", "1", "0"},
        {"-t", "-1", "0"},
        {"x", "0", "0"},
        {"t+x", "1", "0"},
        {"x-t", "-1", "0"},
        {"t*x", "x", "0"},
        {"t*t*t", "3*t*t", "6*t"},
        {"x/t", "-x/t^2", "2*x/t^3"},
        {"t/x", "1/x", "0"},
        {"1/(1+t^2)", "-2*t/(1+t^2)^2", "(6*t^2-2)/(1+t^2)^3"},
        {"t^2", "2*t", "2"},
        {"t^-3", "-3*t^-4", "12*t^-5"},
        {"t^0.5", "0.5/sqrt(t)", "-0.25/t/sqrt(t)"},
        {"y^3*t", "y^3", "0"},
        {"x^t", "log(x)*x^t", "log(x)^2*x^t"},
        {"t^x", "x*t^(x-1)", "x*(x-1)*t^(x-2)"},
        {"t^t", "t^t*(1+log(t))", "t^t*((1+log(t))^2+1/t)"},
        {"sin(t)", "cos(t)", "-sin(t)"},
        {"cos(2*t)", "-2*sin(2*t)", "-4*cos(2*t)"},
        {"tan(t)", "1/cos(t)^2", "2*sin(t)/cos(t)^3"},
        {"asin(t)", "1/sqrt(1-t^2)", "t/(1-t^2)^1.5"},
        {"acos(t)", "-1/sqrt(1-t^2)", "-t/(1-t^2)^1.5"},
        {"atan(t)", "1/(1+t^2)", "-2*t/(1+t^2)^2"},
        {"sinh(t)", "cosh(t)", "sinh(t)"},
        {"cosh(t)", "sinh(t)", "cosh(t)"},
        {"tanh(t)", "1-tanh(t)^2", "-2*tanh(t)*(1-tanh(t)^2)"},
        {"asinh(t)", "1/sqrt(1+t^2)", "-t/(1+t^2)^1.5"},
        {"acosh(1+t)", "1/sqrt((1+t)^2-1)", "-(1+t)/((1+t)^2-1)^1.5"},
        {"atanh(t)", "1/(1-t^2)", "2*t/(1-t^2)^2"},
        {"exp(-t^2)", "-2*t*exp(-t^2)", "(4*t^2-2)*exp(-t^2)"},
        {"log(t)", "1/t", "-1/t^2"},
        {"log10(t)", "1/t/log(10)", "-1/t^2/log(10)"},
        {"log2(t)", "1/t/log(2)", "-1/t^2/log(2)"},
        {"sqrt(t)", "0.5/sqrt(t)", "-0.25/t^1.5"},
        {"cbrt(t)", "t^(-2/3)/3", "-2*t^(-5/3)/9"},
        {"cbrt(-t)", "-t^(-2/3)/3", "2*t^(-5/3)/9"},
        {"abs(-t^2)", "2*t", "2"},
        {"abs(t^2)", "2*t", "2"},
        {"hypot(t,x)", "t/sqrt(t^2+x^2)", "x^2/(t^2+x^2)^1.5"},
        {"hypot(t,t^2)", "(t+2*t^3)/sqrt(t^2+t^4)", "(2*t^3+3*t)/(1+t^2)^1.5"},
        {"atan2(t,x)", "x/(t^2+x^2)", "-2*t*x/(t^2+x^2)^2"},
        {"atan2(y,t)", "-y/(t^2+y^2)", "2*t*y/(t^2+y^2)^2"},
        {"atan2(sin(t^2),cos(t^2))", "2*t", "2"},
        {"mod(5*t^2,2)", "10*t", "10"},
        {"mod(5,t)", "-7", "0"},
        {"min(t,t^2,x)", "2*t", "2"},
        {"max(t,t^2)", "1", "0"},
        {"t<1?t^3:x", "3*t^2", "6*t"},
        {"t>1?t^3:sin(t)", "cos(t)", "-sin(t)"},
        {"if(x>1,t^2,t)", "2*t", "2"},
        {"floor(9*t)+ceil(9*t)+round(9*t)", "0", "0"},
        {"sign(t)+step(t)+(t>0)+(t<1&&x>0)+!t", "0", "0"},
        {"step(t-0.5)*t^2", "2*t", "2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_expression *e = compiled(cases[k].f);
        double out[3];
        ga_expression_derivatives(e, at, 0, out);
        assert_true(out[0] == ga_expression_value(e, at));
        /* Both sides round a handful of times; the worst cancellation loses a digit. */
        assert_close(cases[k].f, out[1], value_at(cases[k].first, at), 1e-14);
        assert_close(cases[k].f, out[2], value_at(cases[k].second, at), 1e-14);
        ga_expression_destroy(e);
    }
}

/* Central differences at h, h/2, h/4, ... extrapolated, and how far the best two are apart.
 * order 1 or 2. */
static double quotient(const ga_expression *e, int k, int order, double *error)
{
    enum { LEVELS = 8 };
    double table[LEVELS][LEVELS], best = NAN, h = 0.1;
    *error = INFINITY;
    for (int i = 0; i < LEVELS; ++i, h /= 2) {
        double x[VARIABLES], f[3];
        for (int s = -1; s <= 1; ++s) {
            memcpy(x, at, sizeof x);
            x[k] += s * h;
            f[s + 1] = ga_expression_value(e, x);
        }
        table[i][0] = order == 1 ? (f[2] - f[0]) / (2 * h) : (f[2] - 2 * f[1] + f[0]) / (h * h);
        double factor = 4;
        for (int j = 1; j <= i; ++j, factor *= 4) {
            table[i][j] =
                table[i][j - 1] + (table[i][j - 1] - table[i - 1][j - 1]) / (factor - 1);
            const double gap = fmax(fabs(table[i][j] - table[i][j - 1]),
                                    fabs(table[i][j] - table[i - 1][j - 1]));
            if (gap < *error) {
                *error = gap;
                best = table[i][j];
            }
        }
    }
    return best;
}

static void test_quotients(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "sin(t*x)*exp(-y^2)+z*u",
        "(t+x*y)^3/(1+z^2+u)",
        "atan2(sin(t)+x, cos(y)+z)*hypot(u, t*x)",
        "(1+t^2)^(x*y) - (2+sin(u))^(t/z)",
        "log(1+exp(x*t))/cosh(y)+tanh(z-u*t)",
        "if(t<x, t^2*sin(y*u), z) + max(x*t, y*z)*min(u*t, z)",
        "sqrt(1+t*t+x*x)*cbrt(2+y*t)*asinh(z*t)",
        "mod(3*t*x, 2)*abs(y*t-1)+acos(0.3*sin(t*u))",
        "-top.position.z^2*t/(x-y)^2+atan(t^3-u)",
        "exp(sin(cos(t*x*y*z*u)))",
    };
    for (size_t n = 0; n < sizeof texts / sizeof *texts; ++n) {
        ga_expression *e = compiled(texts[n]);
        double gradient[VARIABLES], out[3], error;
        const double value = ga_expression_gradient(e, at, gradient);
        assert_true(value == ga_expression_value(e, at));
        for (int k = 0; k < ga_expression_variables(e); ++k) {
            ga_expression_derivatives(e, at, k, out);
            assert_close(texts[n], gradient[k], out[1], 1e-14);
            /* The extrapolation's own estimate, and a floor for luck in it. */
            double expected = quotient(e, k, 1, &error);
            assert_true(error < 1e-9);
            assert_close(texts[n], out[1], expected, 10 * error + 1e-12);
            expected = quotient(e, k, 2, &error);
            assert_true(error < 1e-7);
            assert_close(texts[n], out[2], expected, 10 * error + 1e-10);
            if (!ga_expression_uses(e, k)) assert_true(gradient[k] == 0 && out[2] == 0);
        }
        ga_expression_destroy(e);
    }
}

/* At t = 0, x = 0, y = 1: a factor that is constant or does not depend on t must not meet an
 * infinite derivative. */
static void test_special_places(void **state)
{
    (void)state;
    static const double origin[VARIABLES] = {0, 0, 1};
    static const struct {
        const char *f;
        double first, second;
    } cases[] = {
        {"sqrt(t)", INFINITY, -INFINITY},
        {"-sqrt(t)", -INFINITY, INFINITY},
        {"3*sqrt(t)+2*t", INFINITY, -INFINITY},
        {"sqrt(t)/2-1", INFINITY, -INFINITY},
        {"0*sqrt(t)", 0, 0},
        {"sqrt(t)*zero", 0, 0},
        {"sqrt(x)", 0, 0},
        {"t*sqrt(x)", 0, 0},
        {"t+sqrt(x)+log(x)", 1, 0},
        {"max(1,sqrt(t))", 0, 0},
        {"y>0?t:sqrt(t)", 1, 0},
        {"floor(sqrt(t))+t", 1, 0},
        {"t^0", 0, 0},
        {"t^1", 1, 0},
        {"t^2", 0, 2},
        {"t^3", 0, 0},
        {"pow(t,4)", 0, 0},
        {"t^x", 0, 0},
        {"t^y", 1, 0},
        {"t^(2*y)", 0, 2},
        {"t^1.5", 0, INFINITY},
        {"x^(2+t)", 0, 0},
        {"(t-1)^3", 3, -6},
        {"(-y)^3*t", -1, 0},
        {"abs(t)", 1, 0},
        {"hypot(t,x)", 0, 0},
        {"step(t)*t", 1, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_expression *e = compiled(cases[k].f);
        double out[3], gradient[VARIABLES] = {0};
        ga_expression_derivatives(e, origin, 0, out);
        ga_expression_gradient(e, origin, gradient);
        assert_close(cases[k].f, out[1], cases[k].first, 0);
        assert_close(cases[k].f, out[2], cases[k].second, 0);
        assert_close(cases[k].f, gradient[0], cases[k].first, 0);
        ga_expression_destroy(e);
    }
    /* 0 times infinity is not 0 where both depend on t: the derivative here is 1. */
    ga_expression *e = compiled("sqrt(t)*sqrt(t)");
    double out[3];
    ga_expression_derivatives(e, origin, 0, out);
    assert_true(isnan(out[1]));
    ga_expression_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_special_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
