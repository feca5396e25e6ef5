/* Files to trees: YAML, includes, --set, parameters, repeats. */
#define _XOPEN_SOURCE 700
#include "test/document/reading.h"

#include <stdlib.h>
#include <unistd.h>

#include <math.h>

/* YAML --------------------------------------------------------------------------------------
 */

static void test_yaml(void **state)
{
    (void)state;
    reading r = read_text("\xEF\xBB\xBF%YAML 1.2\n---\n"
                          "galpha: 1 # comment\r\n"
                          "'quoted key': \"tab\\t\"\n"
                          "list: [1, 'it''s', ~, null, \"null\", ]\n"
                          "block:\n"
                          "- a\n"
                          "- b: 1\n"
                          "  c: 2\n"
                          "text: |\n"
                          "  two\n"
                          "  lines\n"
                          "folded: a\n"
                          "  b\n"
                          "? odd\n"
                          ": way\n"
                          "tagged: !!str 5\n"
                          "empty:\n"
                          "json: {\"a\":1, \"b\": [true]}\n"
                          "null: x\n");
    assert_good(&r);
    assert_string_equal(text_at(&r, "galpha"), "1");
    assert_string_equal(text_at(&r, "quoted key"), "tab\t");
    assert_int_equal(at(&r, "list")->count, 5);
    assert_string_equal(text_at(&r, "list[1]"), "it's");
    assert_int_equal(at(&r, "list[2]")->kind, GA_VALUE_NULL);
    assert_int_equal(at(&r, "list[3]")->kind, GA_VALUE_NULL);
    assert_string_equal(text_at(&r, "list[4]"), "null");
    assert_true(at(&r, "list[4]")->quoted && !at(&r, "list[0]")->quoted);
    assert_string_equal(text_at(&r, "block[1].c"), "2");
    assert_string_equal(text_at(&r, "text"), "two\nlines\n");
    assert_string_equal(text_at(&r, "folded"), "a b");
    assert_string_equal(text_at(&r, "odd"), "way");
    assert_true(at(&r, "tagged")->quoted);
    assert_int_equal(at(&r, "empty")->kind, GA_VALUE_NULL);
    assert_string_equal(text_at(&r, "json.a"), "1");
    assert_string_equal(text_at(&r, "null"), "x");
    assert_null(ga_value_get(&r.document->root, "nothing"));
    assert_null(ga_value_get(at(&r, "galpha"), "nothing"));
    assert_string_equal(r.document->name, "m.yaml");
    close_reading(&r);
}

static void test_places(void **state)
{
    (void)state;
    reading r = read_text("a:\n  b: [1, 'x',\n    {c: \"\xC3\xA4\", d: y}]\n");
    assert_good(&r);
    static const struct {
        const char *path;
        int line, column;
    } places[] = {{"a", 2, 3},      {"a.b", 2, 6},      {"a.b[0]", 2, 7},   {"a.b[1]", 2, 10},
                  {"a.b[2]", 3, 5}, {"a.b[2].c", 3, 9}, {"a.b[2].d", 3, 17}};
    for (size_t k = 0; k < sizeof places / sizeof *places; ++k) {
        const ga_place place = at(&r, places[k].path)->place;
        assert_string_equal(place.file, "m.yaml");
        if (place.line != places[k].line || place.column != places[k].column)
            fail_msg("%s at %d:%d", places[k].path, place.line, place.column);
    }
    assert_int_equal(at(&r, "a.b[2]")->entries[1].place.column, 14);
    close_reading(&r);
}

static void test_aliases(void **state)
{
    (void)state;
    reading r = read_text("base: &b {mass: 1, inertia: 2}\n"
                          "same: *b\n"
                          "more: {<<: *b, mass: 3}\n"
                          "both: {<<: [*b, {mass: 4, x: 5}], y: &n 6}\n"
                          "n: *n\n");
    assert_good(&r);
    assert_string_equal(text_at(&r, "same.inertia"), "2");
    assert_int_equal(at(&r, "more")->count, 2);
    assert_string_equal(text_at(&r, "more.mass"), "3");
    assert_string_equal(text_at(&r, "more.inertia"), "2");
    assert_int_equal(at(&r, "both")->count, 4);
    assert_string_equal(text_at(&r, "both.mass"), "1");
    assert_string_equal(text_at(&r, "both.x"), "5");
    assert_string_equal(text_at(&r, "n"), "6");
    close_reading(&r);
    /* setting one of two that share their entries */
    const char *const set[] = {"same.mass=9", "both.new=1"};
    r = read_with("base: &b {mass: 1}\nsame: *b\nboth: *b\n",
                  &(ga_document_options){.set_count = 2, .set = set});
    assert_good(&r);
    assert_string_equal(text_at(&r, "base.mass"), "1");
    assert_string_equal(text_at(&r, "same.mass"), "9");
    assert_int_equal(at(&r, "base")->count, 1);
    close_reading(&r);
}

/* Include -----------------------------------------------------------------------------------
 */

static void test_include(void **state)
{
    (void)state;
    reading r = read_file(DATA "car.yaml", NULL);
    assert_good(&r);
    assert_int_equal(at(&r, "bodies")->count, 6);
    assert_string_equal(at(&r, "bodies")->entries[0].key, "wheel");
    assert_true(number_at(&r, "bodies.wheel.mass") == 7850 * 0.3);
    assert_true(number_at(&r, "bodies.wheel.points.rim[0]") == 0.3);
    assert_true(number_at(&r, "bodies.bolt1.mass") == 0.1);
    assert_true(number_at(&r, "bodies.nut0.mass") == 0.1);
    assert_null(ga_value_get(&r.document->root, "include"));
    assert_null(ga_value_get(&r.document->root, "repeat"));
    assert_int_equal(r.document->parameter_count, 3);
    const char *file = at(&r, "bodies.axle.mass")->place.file;
    assert_string_equal(file + strlen(file) - 15, "parts/axle.yaml");
    assert_non_null(strstr(r.document->text, "name: car"));
    close_reading(&r);
}

/* `null` takes away what an included file gives; an empty section gives nothing. */
static void test_include_and_remove(void **state)
{
    (void)state;
    reading r = read_file(DATA "without_axle.yaml", NULL);
    assert_good(&r);
    assert_null(ga_value_get(at(&r, "bodies"), "axle"));
    assert_null(ga_value_get(at(&r, "bodies.wheel"), "points"));
    assert_non_null(at(&r, "bodies.wheel.mass"));
    assert_int_equal(at(&r, "bodies")->count, 5);
    close_reading(&r);

    r = read_file(DATA "unfinished.yaml", NULL);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_says(&r, 0, DATA "unfinished.yaml:4:3: bodies.wheel: ",
                "has no value; it is given at " DATA "parts/wheel.yaml:4:3");
    close_reading(&r);
}

static void test_include_goes_wrong(void **state)
{
    (void)state;
    reading r = read_file(DATA "ring.yaml", NULL);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_null(r.document);
    assert_says(&r, 0,
                DATA "parts/ring.yaml:1:10: include: ", "circular include: " DATA "ring.yaml");
    close_reading(&r);

    r = read_file(DATA "parts/outside.yaml", NULL);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_int_equal(ga_messages_errors(r.messages), 3);
    assert_says(&r, 0, DATA "parts/outside.yaml:3:5: ", "outside the folder of the model");
    assert_says(&r, 1, DATA "parts/outside.yaml:4:5: ", "No such file");
    assert_says(&r, 2, DATA "parts/outside.yaml:5:5: ", "outside the folder");
    close_reading(&r);
    r = read_file(DATA "parts/outside.yaml", &(ga_document_options){.include_anywhere = true});
    assert_int_equal(ga_messages_errors(r.messages), 2);
    assert_says(&r, 1, DATA "parts/outside.yaml:5:5: ", "directory");
    close_reading(&r);

    r = read_file(DATA "clash.yaml", NULL);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_non_null(r.document);
    assert_says(&r, 0, DATA "clash.yaml:4:9: bodies.top.mass: ",
                "also at " DATA "parts/clash_a.yaml:2:9");
    close_reading(&r);

    r = read_file(DATA "broken.yaml", NULL); /* mistakes of both files */
    assert_null(r.document);
    assert_int_equal(ga_messages_errors(r.messages), 2);
    assert_says(&r, 0, DATA "parts/broken_a.yaml:3:1: ", "line 2, column 8 is open");
    assert_says(&r, 1, DATA "broken.yaml:3:17: parameters.a: ", "q");
    close_reading(&r);

    r = read_text("include: {a: 1}\n");
    assert_says(&r, 0, "m.yaml:1:10: include: ", "expected text, got a map");
    close_reading(&r);
}

/* A symbolic link out of the folder is as far as .. */
static void test_include_through_links(void **state)
{
    (void)state;
    char folder[] = "/tmp/galpha-test-XXXXXX", main_file[64], inner[64], linked[64], outer[64];
    assert_non_null(mkdtemp(folder));
    snprintf(main_file, sizeof main_file, "%s/in/m.yaml", folder);
    snprintf(inner, sizeof inner, "%s/in", folder);
    snprintf(linked, sizeof linked, "%s/in/l.yaml", folder);
    snprintf(outer, sizeof outer, "%s/o.yaml", folder);
    char command[400];
    snprintf(command, sizeof command,
             "mkdir %s && echo 'include: l.yaml' >%s && echo 'a: 1' >%s", inner, main_file,
             outer);
    assert_int_equal(system(command), 0);
    assert_int_equal(symlink("../o.yaml", linked), 0);
    reading r = read_file(main_file, NULL);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_says(&r, 0, main_file, "outside the folder");
    close_reading(&r);
    r = read_file(main_file, &(ga_document_options){.include_anywhere = true});
    assert_good(&r);
    close_reading(&r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    reading r = read_file("no/such/file.yaml", NULL);
    assert_int_equal(r.status, GA_ERR_FILE);
    assert_null(r.document);
    assert_string_equal(message(&r, 0),
                        "no/such/file.yaml: cannot be read: No such file or directory");
    close_reading(&r);
    r = read_file(GALPHA_SOURCE_DIR, NULL);
    assert_int_equal(r.status, GA_ERR_FILE);
    assert_says(&r, 0, GALPHA_SOURCE_DIR ": ", "directory");
    close_reading(&r);
    r = read_file("", NULL);
    assert_int_equal(r.status, GA_ERR_FILE);
    close_reading(&r);
    r = read_file("/dev/null", NULL);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_says(&r, 0, "/dev/null:1:1: ", "expected a map with `galpha: 1`, got an empty file");
    close_reading(&r);
}

/* --set -------------------------------------------------------------------------------------
 */

static const char model[] = "galpha: 1\n"
                            "parameters: {N: 2}\n"
                            "bodies:\n"
                            "  top: {mass: 1, position: [0, 1, 2]}\n"
                            "  my.body: {mass: 2}\n"
                            "  my: {body: 3}\n"
                            "  a=b: {mass: 4}\n"
                            "output:\n"
                            "repeat: {count: N, bodies: {\"link{i}\": {mass: N}}}\n";

static reading set_one(const char *argument)
{
    return read_with(model, &(ga_document_options){.set_count = 1, .set = &argument});
}

static void test_set(void **state)
{
    (void)state;
    static const struct {
        const char *argument, *path, *text;
    } cases[] = {
        {"bodies.top.mass=3", "bodies.top.mass", "3"},
        {"bodies.top.mass=2*N", "bodies.top.mass", "2*N"},
        {"bodies.top.position=[7, 8]", "bodies.top.position[1]", "8"},
        {"bodies.top.position[1]=9", "bodies.top.position[1]", "9"},
        {"bodies.top.position.2=9", "bodies.top.position[2]", "9"},
        {"bodies.my.body.mass=5", NULL, "5"},
        {"bodies.`top`.mass=5", "bodies.top.mass", "5"},
        {"bodies.`new.one`={mass: 5}", NULL, NULL},
        {"bodies.top.color=red", "bodies.top.color", "red"},
        {"output.every=0.1", "output.every", "0.1"},
        {"simulate.step=1e-4", "simulate.step", "1e-4"},
        {"name=a = b", "name", "a = b"},
        {"repeat.bodies.link{i}.mass=8", "bodies.link1.mass", "8"},
        {"parameters.N=3", "bodies.link2.mass", "N"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        reading r = set_one(cases[k].argument);
        assert_good(&r);
        if (cases[k].path) assert_string_equal(text_at(&r, cases[k].path), cases[k].text);
        close_reading(&r);
    }
    reading r = set_one("bodies.my.body.mass=5"); /* the longest key that fits */
    assert_string_equal(ga_value_get(ga_value_get(at(&r, "bodies"), "my.body"), "mass")->text,
                        "5");
    close_reading(&r);
    r = set_one("bodies.a=b.mass=5");
    assert_string_equal(text_at(&r, "bodies.a=b.mass"), "5");
    const ga_place place = at(&r, "bodies.a=b.mass")->place;
    assert_string_equal(place.file, "--set");
    assert_int_equal(place.line, 0);
    close_reading(&r);
}

static void test_set_goes_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *argument, *says;
    } cases[] = {
        {"bodies", "expected PATH=VALUE"},
        {"", "expected PATH=VALUE"},
        {"=3", "a name is missing"},
        {"bodies.=3", "a name is missing"},
        {"bodies..mass=3", "a name is missing"},
        {"bodis.top.mass=3", "there is no `bodis`; did you mean `bodies`?"},
        {"bodies.tpo.mass=3", "there is no `tpo`; did you mean `top`?"},
        {"bodies.wheel.mass=3", "there is no `wheel` in `bodies`"},
        {"simulate.tolerance.relative=3", "there is no `tolerance` in `simulate`"},
        {"bodies.top.mass.x=3", "`bodies.top.mass` is `1`"},
        {"bodies.top.mass[0]=3", "`bodies.top.mass` is `1`"},
        {"bodies[0]=3", "is a map"},
        {"bodies.top.position[3]=1", "`[3]` is not an index of the list, which has 3 items"},
        {"bodies.top.position[-1]=1", "is not an index"},
        {"bodies.top.position[1=1", "is not an index"},
        {"bodies.top.position.x=1", "is not an index"},
        {"bodies.top.position[99999999999999999999]=1", "is not an index"},
        {"include=x.yaml", "cannot be set"},
        {"name=[1", "closing bracket"},
        {"name=*x", "no anchor"},
        {"name={a: 1, a: 2}", "given twice"},
        {"name=\"x", "quote"},
        {"name=\xff", "not UTF-8"},
        {"\xff=1", "not UTF-8"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        reading r = set_one(cases[k].argument);
        if (r.status != GA_ERR_INPUT || ga_messages_errors(r.messages) != 1)
            fail_msg("%s: %s", cases[k].argument, ga_status_name(r.status));
        assert_says(&r, 0, "--set: ", cases[k].says);
        close_reading(&r);
    }
}

/* Parameters --------------------------------------------------------------------------------
 */

static void test_parameters(void **state)
{
    (void)state;
    reading r =
        read_text("parameters: {a: 2*b, b: c+1, c: 3, angle: 90 deg, r: 'hypot(c, 4)'}\n"
                  "x: a*r\n");
    assert_good(&r);
    assert_int_equal(r.document->parameter_count, 5);
    assert_string_equal(r.document->parameters[0].name, "a");
    assert_true(r.document->parameters[0].value == 8);
    assert_true(number_at(&r, "x") == 40);
    assert_int_equal(r.document->parameters[1].place.column, 22);
    assert_int_equal(ga_document_symbol(r.document, NULL, "ax", 2).kind, GA_SYMBOL_UNKNOWN);
    assert_true(ga_document_symbol(r.document, NULL, "ax", 1).value == 8);
    assert_true(ga_document_symbol(r.document, NULL, "pi", 2).value > 3.14159265358979);
    close_reading(&r);
    r = read_text("parameters:\nx: 1\n");
    assert_good(&r);
    close_reading(&r);
}

static void test_parameters_go_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *says;
    } cases[] = {
        {"{a: b, b: c, c: a}", "m.yaml:1:14: parameters.a: ", "parameters: a -> b -> c -> a"},
        {"{a: a+1}", "m.yaml:1:14: parameters.a: ", "parameters: a -> a"},
        {"{x: 1, a: b, b: a}", "m.yaml:1:20: parameters.a: ", "a -> b -> a"},
        {"{speed: 1, a: sped}", "m.yaml:1:27: parameters.a: ", "did you mean 'speed'"},
        {"{t: 1}", "m.yaml:1:14: parameters.t: ", "has another meaning"},
        {"{pi: 1}", "m.yaml:1:14: ", "has another meaning"},
        {"{e: 1}", "m.yaml:1:14: ", "has another meaning"},
        {"{sin: 1}", "m.yaml:1:14: ", "has another meaning"},
        {"{2a: 1}", "m.yaml:1:14: ", "digit"},
        {"{a b: 1}", "m.yaml:1:14: ", "letters, digits"},
        {"{a: [1]}", "m.yaml:1:17: parameters.a: ", "got a list of 1"},
        {"{a: }", "m.yaml:1:14: parameters.a: ", "got nothing"},
        {"{a: 1/0}", "m.yaml:1:17: parameters.a: ", "infinite"},
        {"{a: 0, b: 1/a, c: b}", "m.yaml:1:23: parameters.b: ", "infinite"},
        {"{a: 3 mm}", "m.yaml:1:17: parameters.a: ", "SI"},
        {"{a: t}", "m.yaml:1:17: parameters.a: ", "time"},
        {"[1, 2]", "m.yaml:1:13: parameters: ", "expected a map from names to numbers"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[200];
        snprintf(text, sizeof text, "parameters: %s\n", cases[k].text);
        reading r = read_text(text);
        assert_int_equal(r.status, GA_ERR_INPUT);
        assert_non_null(r.document); /* the rest can be looked at */
        assert_says(&r, 0, cases[k].place, cases[k].says);
        /* what uses a bad one is not blamed as well */
        if (ga_messages_errors(r.messages) != 1) fail_msg("%s", message(&r, 1));
        close_reading(&r);
    }
}

/* No word of the expressions may be hidden by a parameter. */
static void test_reserved_names(void **state)
{
    (void)state;
    static const char *const functions[] = {
        "sin",  "cos",   "tan",   "asin",  "acos",  "atan", "atan2", "sinh",
        "cosh", "tanh",  "asinh", "acosh", "atanh", "exp",  "log",   "log10",
        "log2", "sqrt",  "cbrt",  "abs",   "sign",  "min",  "max",   "floor",
        "ceil", "round", "mod",   "pow",   "hypot", "if",   "step",  "deg"};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k) {
        char text[64];
        snprintf(text, sizeof text, "parameters: {%s: 1}", functions[k]);
        reading r = read_text(text);
        assert_says(&r, 0, "m.yaml:1:14: ", "has another meaning");
        close_reading(&r);
    }
}

/* Repeat ------------------------------------------------------------------------------------
 */

static void test_repeat(void **state)
{
    (void)state;
    reading r = read_text(
        "parameters: {N: 3, L: 0.5}\n"
        "bodies: {base: {mass: 1}}\n"
        "repeat:\n"
        "  count: N\n"
        "  bodies:\n"
        "    link{i}: {mass: i+1, position: [i*L, \"{i}\", 0], name: \"{{{i}}} of {N}\"}\n"
        "  joints:\n"
        "    hinge{i}:\n"
        "      when: i > 0\n"
        "      between: [\"link{i-1}.end\", 'link{i}']\n"
        "      points: {\"p{2*i+1}\": [{x: \"{i%2}{-i}{(i+1)*2}{floor(i/2)}\"}]}\n"
        "    first: {when: \"i == N - 1\", type: fixed}\n"
        "  repeat:\n"
        "  - {count: i, index: j, from: 1, forces: {\"f{i}_{j}\": {value: 10*i + j}}}\n"
        "  - {count: 0, bodies: {x: {}}, index: k}\n");
    assert_good(&r);
    assert_int_equal(at(&r, "bodies")->count, 4);
    assert_string_equal(at(&r, "bodies")->entries[0].key, "base");
    assert_true(number_at(&r, "bodies.link2.mass") == 3);
    assert_true(number_at(&r, "bodies.link2.position[0]") == 1);
    assert_true(number_at(&r, "bodies.link2.position[1]") == 2);
    assert_string_equal(text_at(&r, "bodies.link2.name"), "{2} of 3");
    assert_int_equal(at(&r, "joints")->count, 3);
    assert_null(ga_value_get(at(&r, "joints.hinge1"), "when"));
    assert_string_equal(text_at(&r, "joints.hinge1.between[0]"), "link0.end");
    assert_string_equal(text_at(&r, "joints.hinge2.points.p5[0].x"), "0-261");
    assert_string_equal(text_at(&r, "joints.first.type"), "fixed");
    assert_int_equal(at(&r, "forces")->count, 3);
    assert_true(number_at(&r, "forces.f2_2.value") == 22);
    assert_int_equal(at(&r, "bodies.link2.mass")->place.line, 6);
    assert_string_equal(at(&r, "forces.f2_2.value")->scope->name, "j");
    assert_null(ga_value_get(&r.document->root, "repeat"));
    close_reading(&r);
}

/* Copies of an expression are compiled once: each has the number it would have on its own, to
 * the sign of zero, wherever else its text stands. */
static void test_repeated_expressions(void **state)
{
    (void)state;
    reading r =
        read_text("parameters: {N: 4, L: 0.1}\n"
                  "shared: &shared {a: 0*(i - 2), b: i + L}\n"
                  "repeat:\n"
                  "- count: N\n"
                  "  bodies:\n"
                  "    b{i}:\n"
                  "      x: [i*L, 1/3, 'i < 2 ? -1/(i + 1) : sqrt(i)', 0*(i - 2),\n"
                  "          (i - 2)^0, '{i}*2 + i', cos(i*40 deg)]\n"
                  "      y: *shared\n"
                  "  repeat: {count: 2, index: j, joints: {'c{i}_{j}': {z: i*10 + j}}}\n"
                  "- {count: 3, index: k, repeat: {count: 3, index: i, forces:\n"
                  "  {'d{k}_{i}': {y: *shared, z: k - i}}}}\n");
    assert_good(&r);
    for (int i = 0; i < 4; ++i) {
        const double expected[] = {i * 0.1,
                                   1.0 / 3,
                                   i < 2 ? -1.0 / (i + 1) : sqrt(i),
                                   0.0 * (i - 2.0),
                                   1,
                                   i * 2 + i,
                                   cos(i * (40 * 3.14159265358979323846 / 180))};
        char path[40];
        for (int n = 0; n < 7; ++n) {
            snprintf(path, sizeof path, "bodies.b%d.x[%d]", i, n);
            const double x = number_at(&r, path);
            assert_memory_equal(&x, &expected[n], sizeof x);
        }
        snprintf(path, sizeof path, "bodies.b%d.y.b", i);
        assert_true(number_at(&r, path) == i + 0.1);
        for (int j = 0; j < 2; ++j) {
            snprintf(path, sizeof path, "joints.c%d_%d.z", i, j);
            assert_true(number_at(&r, path) == i * 10 + j);
        }
    }
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) {
            char path[40];
            snprintf(path, sizeof path, "forces.d%d_%d.z", k, i);
            assert_true(number_at(&r, path) == k - i);
            snprintf(path, sizeof path, "forces.d%d_%d.y.b", k, i);
            assert_true(number_at(&r, path) == i + 0.1);
        }
    double x;
    assert_false(ga_read_number(&r.reader, at(&r, "shared.b"), &x)); /* there is no i */
    ga_document_drop_repeats(r.document);
    close_reading(&r);
}

static void test_repeat_goes_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *says;
    } cases[] = {
        {"3", "m.yaml:1:9: repeat: ", "expected a map with `count`"},
        {"{bodies: {}}", "m.yaml:1:9: repeat: ", "`count` is missing"},
        {"{count: -1}", "m.yaml:1:17: repeat: ", "negative"},
        {"{count: 1e12}", "m.yaml:1:17: repeat: ", "too large"},
        {"{count: 1e300}", "m.yaml:1:17: repeat.count: ", "too large"},
        {"{count: 2.5}", "m.yaml:1:17: repeat.count: ", "expected an integer, got 2.5"},
        {"{count: many}", "m.yaml:1:17: repeat.count: ", "many"},
        {"{count: }", "m.yaml:1:10: repeat.count: ", "nothing"},
        {"{cuont: 2, count: 1}", "m.yaml:1:10: repeat: ", "did you mean `count`?"},
        {"{count: 1, bodies: [1]}", "m.yaml:1:20: repeat: ", "expected a map of named entries"},
        {"{count: 1, simulate: {}}", "m.yaml:1:20: repeat: ", "cannot be repeated"},
        {"{count: 1, parameters: {}}", "m.yaml:1:20: repeat: ", "cannot be repeated"},
        {"{count: 1, index: t}", "m.yaml:1:27: repeat: ", "has another meaning"},
        {"{count: 1, index: p}", "m.yaml:1:27: repeat: ", "parameter"},
        {"{count: 1, index: [1]}", "m.yaml:1:27: repeat: ", "expected text"},
        {"{count: 1, repeat: {count: 1}}", "m.yaml:1:28: repeat.repeat: ", "outer index"},
        {"{count: 2, bodies: {a: {}}}",
         "m.yaml:1:29: repeat.bodies.a: ", "`a` is already defined"},
        {"{count: 2, bodies: {\"b{i}\": {}}}",
         "m.yaml:1:29: repeat.bodies.b{i}: ", "`b0` is already defined at m.yaml:2:10"},
        {"{count: 1, bodies: {\"x{i\": {}}}", "m.yaml:1:29: ", "a { without a }"},
        {"{count: 1, bodies: {\"xi}\": {}}}", "m.yaml:1:29: ", "a } without a {"},
        {"{count: 1, bodies: {\"x{}\": {}}}", "m.yaml:1:29: ", "empty braces"},
        {"{count: 1, bodies: {x: \"a{i/2+0.5}\"}}", "m.yaml:1:35: ", "expected an integer"},
        {"{count: 1, bodies: {x: \"a{q}\"}}", "m.yaml:1:35: ", "'q'"},
        {"{count: 1, bodies: {x: \"a{i+}\"}}", "m.yaml:1:37: ", "neither"},
        {"{count: 1, bodies: {x: {m: {i}}}}", "m.yaml:1:36: ", "without quotes is a map"},
        {"{count: 1, bodies: {x: {when: q}}}", "m.yaml:1:39: repeat.bodies.x.when: ", "q"},
        {"{count: 1, name: x}", "m.yaml:1:20: repeat: ", "cannot be repeated"},
        {"{count: 1, version: {x: 1}}", "m.yaml:1:20: ", "cannot add to `version`"},
        {"{count: 1, bodies: {x: {\"a{i}\": 1, a0: 2}}}", "m.yaml:1:44: ", "given twice"},
        {"[{count: 1}, 3]", "m.yaml:1:22: repeat[1]: ", "expected a map with `count`"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[300];
        snprintf(text, sizeof text,
                 "repeat: %s\nbodies: {b0: {}}\nparameters: {p: 1}\n"
                 "version: 3\n",
                 cases[k].text);
        reading r = read_text(text);
        if (r.status != GA_ERR_INPUT) fail_msg("%s is fine", cases[k].text);
        assert_says(&r, 0, cases[k].place, cases[k].says);
        if (ga_messages_errors(r.messages) != 1) fail_msg("%s", message(&r, 1));
        close_reading(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_include),
        cmocka_unit_test(test_include_and_remove),
        cmocka_unit_test(test_include_goes_wrong),
        cmocka_unit_test(test_include_through_links),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_goes_wrong),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_parameters_go_wrong),
        cmocka_unit_test(test_reserved_names),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_repeated_expressions),
        cmocka_unit_test(test_repeat_goes_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
