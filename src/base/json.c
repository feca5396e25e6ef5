#include "base/json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- UTF-8 -------------------------------------------------------------------------------- */

/* Neither overlong forms nor surrogates nor more than U+10FFFF. */
size_t ga_utf8_length(const char *p, size_t left)
{
    const unsigned char *c = (const unsigned char *)p;
    if (left == 0) return 0;
    if (c[0] < 0x80) return 1;
    size_t n = c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (size_t k = 1; k < n; ++k)
        if ((c[k] & 0xc0) != 0x80) return 0;
    if (c[0] == 0xe0 && c[1] < 0xa0) return 0;
    if (c[0] == 0xed && c[1] > 0x9f) return 0;
    if (c[0] == 0xf0 && c[1] < 0x90) return 0;
    if (c[0] == 0xf4 && c[1] > 0x8f) return 0;
    return n;
}

static bool is_line_separator(const char *p, size_t n)
{
    return n == 3 && memcmp(p, "\xe2\x80", 2) == 0 && (p[2] == '\xa8' || p[2] == '\xa9');
}

/* A character that must not stand in a page as it is. */
static bool escape_for_page(ga_buffer *b, const char *p, size_t n)
{
    if (is_line_separator(p, n)) {
        ga_buffer_add(b, p[2] == '\xa8' ? "\\u2028" : "\\u2029");
        return true;
    }
    if (n != 1 || !strchr("<>&", *p) || !*p) return false;
    ga_buffer_format(b, "\\u%04x", (unsigned)*p);
    return true;
}

/* --- writing ------------------------------------------------------------------------------ */

static void comma(ga_buffer *b)
{
    const char last = b->length ? b->text[b->length - 1] : '{';
    if (!strchr("{[:", last)) ga_buffer_add(b, ",");
}

void ga_json_open(ga_buffer *b, char bracket)
{
    comma(b);
    ga_buffer_add_n(b, &bracket, 1);
}

void ga_json_close(ga_buffer *b, char bracket) { ga_buffer_add_n(b, &bracket, 1); }

void ga_json_text(ga_buffer *b, const char *text)
{
    comma(b);
    ga_buffer_add(b, "\"");
    const size_t length = strlen(text);
    for (size_t k = 0, n; k < length; k += n ? n : 1) {
        n = ga_utf8_length(text + k, length - k);
        const unsigned char c = (unsigned char)text[k];
        if (n == 0)
            ga_buffer_add(b, "\xef\xbf\xbd");
        else if (c == '"' || c == '\\')
            ga_buffer_format(b, "\\%c", c);
        else if (c == '\n')
            ga_buffer_add(b, "\\n");
        else if (c < 0x20 || c == 0x7f)
            ga_buffer_format(b, "\\u%04x", c);
        else if (!escape_for_page(b, text + k, n))
            ga_buffer_add_n(b, text + k, n);
    }
    ga_buffer_add(b, "\"");
}

void ga_json_key(ga_buffer *b, const char *key)
{
    ga_json_text(b, key);
    ga_buffer_add(b, ":");
}

void ga_json_number(ga_buffer *b, double x)
{
    char text[32];
    comma(b);
    if (!isfinite(x)) {
        ga_buffer_add(b, "null");
        return;
    }
    /* 15 digits read back the same for most, 17 for all. */
    for (int digits = 15; digits <= 17; ++digits) {
        char local[40];
        snprintf(local, sizeof local, "%.*g", digits, x); /* strtod shares the locale */
        ga_number_write(x, digits, text, sizeof text);
        if (strtod(local, NULL) == x) break;
    }
    ga_buffer_add(b, text);
}

void ga_json_numbers(ga_buffer *b, int count, const double *x)
{
    ga_json_open(b, '[');
    for (int k = 0; k < count; ++k) ga_json_number(b, x[k]);
    ga_json_close(b, ']');
}

void ga_json_boolean(ga_buffer *b, bool x)
{
    comma(b);
    ga_buffer_add(b, x ? "true" : "false");
}

void ga_json_null(ga_buffer *b)
{
    comma(b);
    ga_buffer_add(b, "null");
}

void ga_base64_add(ga_buffer *b, const void *bytes, size_t count)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { BLOCK = 3 * 256 };
    const unsigned char *p = bytes;
    while (count) {
        char out[4 * BLOCK / 3];
        const size_t block = count < BLOCK ? count : BLOCK;
        size_t n = 0;
        for (size_t k = 0; k < block; k += 3) {
            const size_t left = block - k;
            const uint32_t x = (uint32_t)p[k] << 16 | (left > 1 ? (uint32_t)p[k + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)p[k + 2] : 0);
            out[n++] = digits[x >> 18];
            out[n++] = digits[x >> 12 & 63];
            out[n++] = left > 1 ? digits[x >> 6 & 63] : '=';
            out[n++] = left > 2 ? digits[x & 63] : '=';
        }
        ga_buffer_add_n(b, out, n);
        p += block;
        count -= block;
    }
}

void ga_json_base64(ga_buffer *b, const void *bytes, size_t count)
{
    comma(b);
    ga_buffer_add(b, "\"");
    ga_base64_add(b, bytes, count);
    ga_buffer_add(b, "\"");
}

/* --- copying ------------------------------------------------------------------------------ */

typedef struct scan {
    const char *next, *end;
} scan;

static void skip_space(scan *s)
{
    while (s->next < s->end && strchr(" \t\r\n", *s->next) && *s->next) ++s->next;
}

static bool take(scan *s, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(s->end - s->next) < n || memcmp(s->next, word, n) != 0) return false;
    s->next += n;
    return true;
}

static size_t digits_at(scan *s)
{
    const char *start = s->next;
    while (s->next < s->end && *s->next >= '0' && *s->next <= '9') ++s->next;
    return (size_t)(s->next - start);
}

static bool scan_number(scan *s)
{
    take(s, "-");
    const bool zero = s->next < s->end && *s->next == '0';
    const size_t whole = digits_at(s);
    if (whole == 0 || (zero && whole > 1)) return false;
    if (take(s, ".") && digits_at(s) == 0) return false;
    if (!take(s, "e") && !take(s, "E")) return true;
    if (!take(s, "+")) take(s, "-");
    return digits_at(s) > 0;
}

static bool scan_escape(scan *s)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    if (s->next == s->end) return false;
    const char c = *s->next++;
    if (c != 'u') return c && strchr("\"\\/bfnrt", c);
    for (int k = 0; k < 4; ++k, ++s->next)
        if (s->next == s->end || !*s->next || !strchr(hex, *s->next)) return false;
    return true;
}

static bool scan_text(scan *s)
{
    if (!take(s, "\"")) return false;
    while (s->next < s->end) {
        const unsigned char c = (unsigned char)*s->next;
        if (take(s, "\"")) return true;
        const size_t n = ga_utf8_length(s->next, (size_t)(s->end - s->next));
        if (n == 0 || c < 0x20) return false;
        s->next += n;
        if (c == '\\' && !scan_escape(s)) return false;
    }
    return false;
}

static bool scan_value(scan *s, int depth);

static bool scan_member(scan *s, int depth, bool named)
{
    if (named) {
        skip_space(s);
        if (!scan_text(s)) return false;
        skip_space(s);
        if (!take(s, ":")) return false;
    }
    return scan_value(s, depth);
}

static bool scan_list(scan *s, int depth, const char *end, bool named)
{
    skip_space(s);
    if (take(s, end)) return true;
    do
        if (!scan_member(s, depth, named)) return false;
    while (take(s, ","));
    return take(s, end);
}

/* As deep as GA_JSON_DEPTH, so that nobody can exhaust the stack. */
static bool scan_value(scan *s, int depth)
{
    if (depth > GA_JSON_DEPTH) return false;
    skip_space(s);
    if (s->next == s->end) return false;
    bool good;
    if (take(s, "{"))
        good = scan_list(s, depth + 1, "}", true);
    else if (take(s, "["))
        good = scan_list(s, depth + 1, "]", false);
    else if (*s->next == '"')
        good = scan_text(s);
    else if (take(s, "true") || take(s, "false") || take(s, "null"))
        good = true;
    else
        good = scan_number(s);
    skip_space(s);
    return good;
}

bool ga_json_copy(ga_buffer *b, const char *json, size_t length)
{
    scan s = {json, json + length};
    if (!scan_value(&s, 1) || s.next != s.end) return false;
    comma(b);
    /* Outside of texts there is none of the characters that need an escape. */
    size_t plain = 0;
    for (size_t k = 0, n; k < length; k += n) {
        n = ga_utf8_length(json + k, length - k);
        const bool special =
            is_line_separator(json + k, n) || (n == 1 && json[k] && strchr("<>&", json[k]));
        if (!special) continue;
        ga_buffer_add_n(b, json + plain, k - plain);
        escape_for_page(b, json + k, n);
        plain = k + n;
    }
    ga_buffer_add_n(b, json + plain, length - plain);
    return true;
}
