/* STL and OBJ: the triangles of small bodies whose volume is known, what is refused, memory.
 * The texts of messages are checked with the broken models. */
#include "base/memory.h"
#include "data/mesh.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define PARTS GALPHA_SOURCE_DIR "/test/models/good/parts/"

/* Sum of a . (b x c)/6: right only if every corner is, and runs the right way. */
static double volume(const ga_mesh *mesh)
{
    double sum = 0;
    for (int t = 0; t < mesh->triangle_count; ++t) {
        const float *a = mesh->corners + 9 * t, *b = a + 3, *c = a + 6;
        sum += (double)a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) +
               (double)a[1] * ((double)b[2] * c[0] - (double)b[0] * c[2]) +
               (double)a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
    }
    return sum / 6;
}

static void check_file(const char *path, int triangles, double expected)
{
    ga_arena arena = {0};
    ga_mesh mesh;
    char reason[GA_MESH_REASON_SIZE] = "";
    const ga_status status = ga_mesh_read(path, &arena, &mesh, reason);
    if (status != GA_OK) fail_msg("%s: %s", path, reason);
    assert_int_equal(mesh.triangle_count, triangles);
    assert_true(fabs(fabs(volume(&mesh)) - expected) < 1e-6);
    ga_arena_free(&arena);
}

static void all_formats(void **unused)
{
    (void)unused;
    check_file(PARTS "tetrahedron.stl", 4, 1.0 / 6);
    check_file(PARTS "tetrahedron_text.STL", 4, 1.0 / 6);
    check_file(PARTS "box.obj", 12, 8);
}

/* --- files made here ---------------------------------------------------------------------- */

static char made[64];

static const char *make(const char *ending, const void *bytes, size_t count)
{
    snprintf(made, sizeof made, "/tmp/galpha_mesh_%ld%s", (long)getpid(), ending);
    FILE *file = fopen(made, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    return made;
}

static ga_status read_made(char *reason)
{
    ga_arena arena = {0};
    ga_mesh mesh;
    const ga_status status = ga_mesh_read(made, &arena, &mesh, reason);
    ga_arena_free(&arena);
    remove(made);
    return status;
}

static void the_largest(void **unused)
{
    (void)unused;
    char reason[GA_MESH_REASON_SIZE];
    const size_t most = GA_MESH_MAX_TRIANGLES;
    for (size_t n = most; n <= most + 1; ++n) {
        unsigned char *bytes = calloc(84 + 50 * n, 1);
        assert_non_null(bytes);
        for (int i = 0; i < 4; ++i) bytes[80 + i] = (unsigned char)(n >> 8 * i);
        make(".stl", bytes, 84 + 50 * n);
        free(bytes);
        assert_int_equal(read_made(reason), n <= most ? GA_OK : GA_ERR_INPUT);
    }
    assert_non_null(strstr(reason, "more than 200000 triangles"));
    /* a face of very many corners */
    char *text = malloc(3 * (most + 10) + 100), *end = text;
    assert_non_null(text);
    end += sprintf(end, "v 0 0 0\nv 1 0 0\nf 1");
    for (size_t k = 0; k < most + 3; ++k) end += sprintf(end, " %d", k % 2 ? 1 : 2);
    make(".obj", text, (size_t)(end - text));
    free(text);
    assert_int_equal(read_made(reason), GA_ERR_INPUT);
    assert_non_null(strstr(reason, "more than 200000 triangles"));
}

static void odd_texts(void **unused)
{
    (void)unused;
    static const struct {
        const char *ending, *text;
        ga_status status;
    } odd[] = {
        {".obj", "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n", GA_OK},
        {".obj", "\tv  0 0  0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nf\t1/1 2/2/2 3//3 #x\n", GA_OK},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", GA_OK},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\n", GA_OK},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 -2 -1\n", GA_ERR_INPUT},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", GA_ERR_INPUT},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 99999999999999999999 1 2\n", GA_ERR_INPUT},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 - \n", GA_ERR_INPUT},
        {".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf /1 2 3\n", GA_ERR_INPUT},
        {".obj", "v inf 0 0\n", GA_ERR_INPUT},
        {".obj", "", GA_ERR_INPUT},
        {".stl", "solid\nfacet normal\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\n",
         GA_OK},
        {".stl", "\n  solid x\nvertex 0 0 0\n", GA_ERR_INPUT},
        {".stl", "solid\nfacet\nfacet\n", GA_ERR_INPUT},
        {".stl", "solid\nendfacet\n", GA_ERR_INPUT},
        {".stl", "soli", GA_ERR_INPUT},
        {".ply", "ply\n", GA_ERR_INPUT},
    };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; ++k) {
        char reason[GA_MESH_REASON_SIZE] = "";
        make(odd[k].ending, odd[k].text, strlen(odd[k].text));
        const ga_status status = read_made(reason);
        if (status != odd[k].status) fail_msg("%s: %d, %s", odd[k].text, status, reason);
        assert_int_equal(status == GA_OK, reason[0] == '\0');
    }
}

static void any_bytes(void **unused)
{
    (void)unused;
    unsigned long long seed = 1;
    static const char *const files[] = {PARTS "tetrahedron.stl", PARTS "tetrahedron_text.STL",
                                        PARTS "box.obj"};
    static const char *const endings[] = {".stl", ".stl", ".obj"};
    for (int n = 0; n < 3000; ++n) {
        unsigned char bytes[2000];
        FILE *file = fopen(files[n % 3], "rb");
        assert_non_null(file);
        size_t count = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (int k = 0; k < 3; ++k) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            bytes[(seed >> 33) % count] = (unsigned char)(seed >> 20);
        }
        if (n % 5 == 0) count = (seed >> 40) % count;
        char reason[GA_MESH_REASON_SIZE] = "";
        make(endings[n % 3], bytes, count);
        const ga_status status = read_made(reason);
        assert_true(status == GA_OK || (status == GA_ERR_INPUT && reason[0]));
    }
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    if (!in_front()) skip();
    static const char *const files[] = {PARTS "tetrahedron.stl", PARTS "tetrahedron_text.STL",
                                        PARTS "box.obj"};
    for (int f = 0; f < 3; ++f)
        for (long k = 1;; ++k) {
            ga_arena arena = {0};
            ga_mesh mesh;
            char reason[GA_MESH_REASON_SIZE];
            start_counting(k, false);
            watch.own_only = true;
            const ga_status status = ga_mesh_read(files[f], &arena, &mesh, reason);
            ga_arena_free(&arena);
            stop_counting();
            const bool failed = watch.failed > 0;
            assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
            assert_int_equal(watch.live, 0);
            if (!failed) break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats),
        cmocka_unit_test(the_largest),
        cmocka_unit_test(odd_texts),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
