/* STL and OBJ.
 *
 * STL in binary: 80 bytes of anything, the number n of triangles, then 50 bytes a triangle:
 * normal, three corners, two bytes; little-endian. STL in text: `vertex x y z` three times
 * between `facet` and `endfacet`. A binary file may begin with `solid` as a text does, so its
 * length decides. OBJ: `v x y z`, and faces `f a b c ...` with corners counted from 1, or from
 * the last back with negative numbers; `a/b/c` names texture and normal too, which are not
 * used. Faces with more corners are cut into a fan. All other lines mean nothing here.
 */
#include "data/mesh.h"

#include "base/memory.h"
#include "data/file.h"
#include "data/number.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { STL_HEADER = 84, STL_TRIANGLE = 50 };

typedef struct floats {
    float *values;
    size_t count, room;
} floats;

typedef struct reading {
    const char *text, *end;
    int line;
    floats corners;
    floats vertices; /* of OBJ */
    char *reason;
} reading;

static ga_status refuse(reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static ga_status refuse(reading *r, const char *format, ...)
{
    int used = 0;
    if (r->line) used = snprintf(r->reason, GA_MESH_REASON_SIZE, "line %d: ", r->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->reason + used, (size_t)(GA_MESH_REASON_SIZE - used), format, arguments);
    va_end(arguments);
    return GA_ERR_INPUT;
}

static ga_status append(floats *list, const float *values, size_t count)
{
    if (list->room - list->count < count) {
        size_t room = list->room ? 2 * list->room : 1024;
        float *larger = GA_NEW(float, room);
        if (!larger) return GA_ERR_MEMORY;
        if (list->count) memcpy(larger, list->values, list->count * sizeof *larger);
        ga_free(list->values);
        list->values = larger;
        list->room = room;
    }
    memcpy(list->values + list->count, values, count * sizeof *values);
    list->count += count;
    return GA_OK;
}

static ga_status check_count(reading *r, size_t triangles)
{
    if (triangles <= GA_MESH_MAX_TRIANGLES) return GA_OK;
    r->line = 0;
    return refuse(r, "more than %d triangles; reduce the mesh", GA_MESH_MAX_TRIANGLES);
}

/* --- lines -------------------------------------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && is_space(*p)) ++p;
    return p;
}

/* The words of a line, one after the other. */
typedef struct words {
    const char *next, *end;
} words;

static bool next_line(reading *r, words *line)
{
    if (r->text >= r->end) return false;
    const char *end = memchr(r->text, '\n', (size_t)(r->end - r->text));
    *line = (words){r->text, end ? end : r->end};
    r->text = end ? end + 1 : r->end;
    ++r->line;
    return true;
}

/* The length of the next word; 0: none. */
static size_t next_word(words *line, const char **word)
{
    const char *start = skip_space(line->next, line->end), *p = start;
    while (p < line->end && !is_space(*p)) ++p;
    line->next = p;
    *word = start;
    return (size_t)(p - start);
}

static bool is_word(const char *word, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

/* Three finite numbers that a float can hold. */
static ga_status read_point(reading *r, words *line, float point[3])
{
    for (int k = 0; k < 3; ++k) {
        const char *word;
        const size_t length = next_word(line, &word);
        double x = NAN;
        if (length == 0) return refuse(r, "expected 3 coordinates, got %d", k);
        /* Text files end with a NUL, so the scan ends too. */
        if (ga_number_scan(word, &x) != length)
            return refuse(r, "`%.*s` is not a number", (int)(length > 40 ? 40 : length), word);
        if (!(fabs(x) <= FLT_MAX)) return refuse(r, "a coordinate is too large");
        point[k] = (float)x;
    }
    return GA_OK;
}

/* --- STL ---------------------------------------------------------------------------------- */

static uint32_t little_endian(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static ga_status read_stl_binary(reading *r, uint32_t count)
{
    const ga_status status = check_count(r, count);
    if (status != GA_OK) return status;
    const unsigned char *bytes = (const unsigned char *)r->text + STL_HEADER;
    for (uint32_t t = 0; t < count; ++t) {
        float corners[9];
        for (size_t k = 0; k < 9; ++k) {
            const uint32_t bits = little_endian(bytes + STL_TRIANGLE * t + 12 + 4 * k);
            memcpy(corners + k, &bits, sizeof bits);
            if (!isfinite(corners[k]))
                return refuse(r, "triangle %lu has a coordinate that is not finite",
                              (unsigned long)t + 1);
        }
        if (append(&r->corners, corners, 9) != GA_OK) return GA_ERR_MEMORY;
    }
    return GA_OK;
}

static ga_status read_stl_text(reading *r)
{
    words line;
    int corners = 0; /* of this facet */
    bool inside = false;
    while (next_line(r, &line)) {
        const char *word;
        const size_t length = next_word(&line, &word);
        ga_status status = GA_OK;
        if (is_word(word, length, "facet")) {
            if (inside) return refuse(r, "`facet` within a facet");
            inside = true;
            corners = 0;
        } else if (is_word(word, length, "vertex")) {
            float point[3];
            if (!inside || corners == 3) return refuse(r, "unexpected `vertex`");
            status = read_point(r, &line, point);
            if (status == GA_OK) status = append(&r->corners, point, 3);
            ++corners;
        } else if (is_word(word, length, "endfacet")) {
            if (!inside || corners != 3)
                return refuse(r, "a facet with %d corners, expected 3", corners);
            inside = false;
            status = check_count(r, r->corners.count / 9);
        }
        if (status != GA_OK) return status;
    }
    return inside ? refuse(r, "ends within a facet") : GA_OK;
}

static ga_status read_stl(reading *r)
{
    const size_t length = (size_t)(r->end - r->text);
    const unsigned char *bytes = (const unsigned char *)r->text;
    const uint32_t count = length >= STL_HEADER ? little_endian(bytes + STL_HEADER - 4) : 0;
    if (length >= STL_HEADER && length == STL_HEADER + (uint64_t)STL_TRIANGLE * count)
        return read_stl_binary(r, count);
    const char *start = r->text;
    while (start < r->end && (is_space(*start) || *start == '\n')) ++start;
    const bool text =
        r->end - start >= 5 && memcmp(start, "solid", 5) == 0 && !memchr(r->text, '\0', length);
    if (text) return read_stl_text(r);
    if (length < STL_HEADER) return refuse(r, "is not an STL file");
    return refuse(
        r, "is not an STL file, or is truncated: %lu triangles need %llu bytes, there are %lu",
        (unsigned long)count,
        (unsigned long long)STL_HEADER + STL_TRIANGLE * (unsigned long long)count,
        (unsigned long)length);
}

/* --- OBJ ---------------------------------------------------------------------------------- */

/* A corner of a face: a, a/b, a//c, a/b/c; -1 is the last vertex so far. */
static ga_status read_corner(reading *r, const char *word, size_t length, const float **corner)
{
    const long long count = (long long)(r->vertices.count / 3);
    const bool minus = length && word[0] == '-';
    long long n = 0;
    size_t k = minus;
    for (; k < length && word[k] >= '0' && word[k] <= '9' && n < INT_MAX; ++k)
        n = 10 * n + (word[k] - '0');
    if (k == minus || (k < length && word[k] != '/'))
        return refuse(r, "`%.*s` is not a corner of a face", (int)(length > 40 ? 40 : length),
                      word);
    const long long index = minus ? count - n : n - 1;
    if (index < 0 || index >= count)
        return refuse(r, "vertex %s%lld does not exist, there are %lld so far",
                      minus ? "-" : "", n, count);
    *corner = r->vertices.values + 3 * index;
    return GA_OK;
}

static ga_status read_face(reading *r, words *line)
{
    float triangle[9];
    const char *word;
    size_t length;
    int corners = 0;
    while ((length = next_word(line, &word)) && word[0] != '#') {
        const float *corner = NULL;
        ga_status status = read_corner(r, word, length, &corner);
        if (status != GA_OK) return status;
        /* first, last and this one make a triangle */
        if (corners >= 3) memcpy(triangle + 3, triangle + 6, 3 * sizeof *triangle);
        memcpy(triangle + 3 * (corners < 2 ? corners : 2), corner, 3 * sizeof *corner);
        ++corners;
        if (corners < 3) continue;
        status = append(&r->corners, triangle, 9);
        if (status == GA_OK) status = check_count(r, r->corners.count / 9);
        if (status != GA_OK) return status;
    }
    return corners >= 3 ? GA_OK : refuse(r, "a face with %d corners, expected 3", corners);
}

static ga_status read_obj(reading *r)
{
    words line;
    if (memchr(r->text, '\0', (size_t)(r->end - r->text)))
        return refuse(r, "is not an OBJ file");
    while (next_line(r, &line)) {
        const char *word;
        const size_t length = next_word(&line, &word);
        ga_status status = GA_OK;
        if (is_word(word, length, "v")) {
            float point[3];
            status = read_point(r, &line, point);
            if (status == GA_OK) status = append(&r->vertices, point, 3);
        } else if (is_word(word, length, "f")) {
            status = read_face(r, &line);
        }
        if (status != GA_OK) return status;
    }
    return GA_OK;
}

/* --- files -------------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    if (n < m) return false;
    for (size_t k = 0; k < m; ++k) {
        const char c = path[n - m + k];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[k]) return false;
    }
    return true;
}

typedef ga_status read_format(reading *r);

static read_format *find_format(const char *path)
{
    static const struct {
        const char *ending;
        read_format *read;
    } formats[] = {{".stl", read_stl}, {".obj", read_obj}};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; ++k)
        if (ends_with(path, formats[k].ending)) return formats[k].read;
    return NULL;
}

static ga_status keep(reading *r, ga_arena *arena, ga_mesh *mesh)
{
    r->line = 0;
    if (r->corners.count == 0) return refuse(r, "has no triangles");
    float *corners = GA_ARENA_NEW(arena, float, r->corners.count);
    if (!corners) return GA_ERR_MEMORY;
    memcpy(corners, r->corners.values, r->corners.count * sizeof *corners);
    *mesh = (ga_mesh){(int)(r->corners.count / 9), corners};
    return GA_OK;
}

ga_status ga_mesh_read(const char *path, ga_arena *arena, ga_mesh *mesh,
                       char reason[GA_MESH_REASON_SIZE])
{
    reading r = {.reason = reason};
    read_format *read = find_format(path);
    *mesh = (ga_mesh){0};
    if (!read) return refuse(&r, "expected a file that ends in .stl or .obj");
    ga_arena whole = {0};
    ga_file_text file;
    ga_status status = ga_file_read_regular(path, &whole, &file);
    if (status == GA_ERR_FILE || status == GA_ERR_INPUT)
        snprintf(reason, GA_MESH_REASON_SIZE, "%s", file.reason);
    if (status == GA_OK) {
        r.text = file.text;
        r.end = file.text + file.length;
        status = read(&r);
        if (status == GA_OK) status = keep(&r, arena, mesh);
    }
    ga_free(r.corners.values);
    ga_free(r.vertices.values);
    ga_arena_free(&whole);
    return status;
}
