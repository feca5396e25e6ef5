/* Values of expressions: precedence, functions, names, folding; memory. */
#include "compiled.h"
#include "test/support/allocations.h"

static const double at[VARIABLES] = {0.5, -1.5, 2, 3, 0, 0, 0, 0, 0, 4}; /* t x y z u */

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1", 1},
        {" .5 ", 0.5},
        {"5.", 5},
        {"1e-3", 1e-3},
        {"1E+2", 100},
        {"0.1", 0.1},
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"8/4/2", 1},
        {"8-4-2", 2},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"(-2)^3", -8},
        {"(-2)^-1", -0.5},
        {"x^3", -3.375},
        {"x^-2", 1 / 2.25},
        {"2^3^2", 512},
        {"2^-1", 0.5},
        {"-t^2", -0.25},
        {"--2", 2},
        {"+2", 2},
        {"2--3", 5},
        {"2*-3", -6},
        {"!0+!3", 1},
        {"!!5", 1},
        {"1<2", 1},
        {"2<=1", 0},
        {"1+1>=2", 1},
        {"1<2==1", 1},
        {"1!=1", 0},
        {"0||1&&0", 0},
        {"1||1&&0", 1},
        {"3&&-1", 1},
        {"t<1?10:20", 10},
        {"t>1?10:y>1?20:30", 20},
        {"t>1?10:y>2?20:30", 30},
        {"1?2:3?4:5", 2},
        {"(t<1?2:3)*10", 20},
        {"10*(t>1?2:3)+1", 31},
        {"if(t<1,y,z)", 2},
        {"if(t>1,y,z)+1", 4},
        {"if(if(t<1,0,1),y,if(1,z,y))", 3},
        {"90 deg", 1.5707963267948966},
        {"180deg/pi", 1},
        {"pi", 3.141592653589793},
        {"e", 2.718281828459045},
        {"log(e)", 1},
        {"log10(1000)", 3},
        {"log2(8)", 3},
        {"sqrt(9)+cbrt(-8)", 1},
        {"abs(x)", 1.5},
        {"sign(x)+sign(0)+sign(3)", 0},
        {"min(3,1,2)", 1},
        {"max(3,1,y,4,2)", 4},
        {"floor(x)", -2},
        {"ceil(x)", -1},
        {"round(x)", -2},
        {"round(2.5)", 3},
        {"mod(7,3)", 1},
        {"mod(-7,3)", 2},
        {"mod(7,-3)", -2},
        {"mod(6,3)", 0},
        {"mod(x,y)", 0.5},
        {"hypot(3,4)", 5},
        {"pow(2,10)", 1024},
        {"atan2(1,-1)", 2.356194490192345},
        {"step(-1)+step(0)*10+step(1)*100", 110},
        {"asinh(sinh(0.3))+acosh(cosh(0.4))+atanh(tanh(0.5))", 1.2},
        {"asin(sin(0.3))+acos(cos(0.4))+atan(tan(0.5))", 1.2},
        {"mass", 15},
        {"`mass`", 15},
        {"top.position.z", 3},
        {"`top`.position.`z`", 3},
        {"`my body`.x/2", 3.5},
        {"arm.0.x", 8},
        {"u", 4},
        {"zero*log(x)", 0},
        {"zero*u", 0},
        {"0^0", 1},
        {"u^zero", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        assert_close(cases[k].text, value_at(cases[k].text, at), cases[k].value, 1e-15);
}

/* Not numbers stay so; nothing turns them into numbers by chance. */
static void test_not_a_number(void **state)
{
    (void)state;
    static const char *const none[] = {
        "sqrt(x)", "log(x)",  "min(1,sqrt(x))", "max(sqrt(x),1)", "min(sqrt(x),1)",
        "x^0.5",   "asin(y)", "mod(1,0)",       "step(sqrt(x))",  "sign(log(x))"};
    for (size_t k = 0; k < sizeof none / sizeof *none; ++k) {
        ga_expression *e = compiled(none[k]);
        double out[3];
        ga_expression_derivatives(e, at, 1, out);
        assert_true(isnan(ga_expression_value(e, at)));
        assert_true(isnan(out[0]));
        ga_expression_destroy(e);
    }
}

/* What is left after folding. */
static void test_variables(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int variables;
        bool t, x, u;
    } cases[] = {
        {"2*mass", 0, false, false, false},
        {"t", 1, true, false, false},
        {"t+u", 10, true, false, true},
        {"x", 2, false, true, false},
        {"zero*t", 0, false, false, false},
        {"t*zero+x", 2, false, true, false},
        {"x^zero", 0, false, false, false},
        {"zero ? u : x", 2, false, true, false},
        {"if(mass > 1, t < 1 ? x : 2, u)", 2, true, true, false},
        {"floor(u)", 10, false, false, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_expression *e = compiled(cases[k].text);
        assert_int_equal(ga_expression_variables(e), cases[k].variables);
        assert_int_equal(ga_expression_is_constant(e), cases[k].variables == 0);
        assert_int_equal(ga_expression_uses(e, 0), cases[k].t);
        assert_int_equal(ga_expression_uses(e, 1), cases[k].x);
        assert_int_equal(ga_expression_uses(e, 9), cases[k].u);
        assert_false(ga_expression_uses(e, 5));
        ga_expression_destroy(e);
    }
    ga_expression_destroy(NULL);
}

/* Parameters may be called e or pi. */
static ga_symbol find_e(void *user, const char *name, size_t length)
{
    (void)user, (void)length;
    return (ga_symbol){*name == 'e' ? GA_SYMBOL_CONSTANT : GA_SYMBOL_UNKNOWN, 0.8, 0};
}

static void test_names_first(void **state)
{
    (void)state;
    const ga_symbols symbols = {.find = find_e};
    ga_expression *e = NULL;
    ga_expression_error error;
    assert_int_equal(ga_expression_compile("e+1", &symbols, &e, &error), GA_OK);
    assert_true(ga_expression_value(e, NULL) == 1.8);
    ga_expression_destroy(e);
    assert_int_equal(ga_expression_compile("e-1", NULL, &e, &error), GA_OK);
    assert_close("e-1", ga_expression_value(e, NULL), 1.718281828459045, 1e-15);
    ga_expression_destroy(e);
}

/* One of every size up to the limits: sums are flat, choices do not pile up. */
static void test_long(void **state)
{
    (void)state;
    char text[GA_EXPRESSION_MAX_LENGTH + 1] = "t";
    for (size_t n = 1; n + 2 < sizeof text; n += 2) memcpy(text + n, "+t", 3);
    assert_close("long sum", value_at(text, at), 0.5 * (double)((strlen(text) + 1) / 2), 1e-15);

    text[0] = 0;
    for (int k = 0; k < 90; ++k) strcat(text, "t>1?x:");
    strcat(text, "y");
    assert_close("long choice", value_at(text, at), 2, 0);
}

static const char rich[] =
    "t < x ? sin(t)*exp(-x^2)/(1+y^2) : atan2(min(t, x, y), hypot(z, 1))^3 + mod(u, 3)";

static void test_evaluation_allocates_nothing(void **state)
{
    (void)state;
    ga_expression *e = compiled(rich);
    double out[3], gradient[VARIABLES], sum = 0;
    start_counting(0, false);
    sum += ga_expression_value(e, at) + ga_expression_gradient(e, at, gradient);
    ga_expression_derivatives(e, at, 1, out);
    stop_counting();
    assert_int_equal(watch.taken, 0);
    assert_close("three ways", sum, 2 * out[0], 1e-15);
    ga_expression_destroy(e);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    if (!in_front()) skip();
    ga_expression *e = NULL;
    ga_expression_error error;
    for (long k = 1;; ++k) {
        start_counting(k, false);
        const ga_status status = ga_expression_compile(rich, &known, &e, &error);
        stop_counting();
        if (status == GA_OK) {
            assert_int_equal(watch.failed, 0);
            break;
        }
        assert_int_equal(status, GA_ERR_MEMORY);
        assert_null(e);
        assert_int_equal(watch.live, 0);
    }
    ga_expression_destroy(e);
    assert_int_equal(watch.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_names_first),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_evaluation_allocates_nothing),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
