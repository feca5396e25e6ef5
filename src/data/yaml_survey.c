/* Two looks at a text before the YAML parser sees it.
 *
 * The parser reads a flow collection that may turn out to be a key to its end before it reports
 * anything, with some 200 bytes per token, and is quadratic in a few odd places. So nesting
 * must be limited here. This takes a coarse tokenizer: it knows comments, quotes, plain and
 * block scalars well enough to tell brackets from text, and nothing of what they mean.
 */
#include "data/yaml.h"

#include <string.h>

/* Encoding ----------------------------------------------------------------------------------
 */

/* The length of the UTF-8 character at c; 0: it is none. Neither overlong forms, nor halves of
 * surrogate pairs, nor beyond U+10FFFF. */
static size_t utf8_length(const unsigned char *c, size_t left)
{
    if (c[0] < 0x80) return 1;
    const size_t n = c[0] >= 0xF5   ? 0
                     : c[0] >= 0xF0 ? 4
                     : c[0] >= 0xE0 ? 3
                     : c[0] >= 0xC2 ? 2
                                    : 0;
    if (n == 0 || n > left) return 0;
    for (size_t k = 1; k < n; ++k)
        if ((c[k] & 0xC0) != 0x80) return 0;
    if (c[0] == 0xE0 && c[1] < 0xA0) return 0;
    if (c[0] == 0xED && c[1] >= 0xA0) return 0;
    if (c[0] == 0xF0 && c[1] < 0x90) return 0;
    if (c[0] == 0xF4 && c[1] >= 0x90) return 0;
    return n;
}

static bool is_control(unsigned char c)
{
    return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 127;
}

ga_yaml_survey ga_yaml_check_text(const char *text, size_t length)
{
    const unsigned char *c = (const unsigned char *)text;
    if (length >= 2 && ((c[0] == 0xFF && c[1] == 0xFE) || (c[0] == 0xFE && c[1] == 0xFF)))
        return (ga_yaml_survey){"the file is in UTF-16; save it as UTF-8", 0, 0};
    for (size_t k = 0; k < length;) {
        const size_t n = utf8_length(c + k, length - k);
        if (n == 0)
            return (ga_yaml_survey){
                "not UTF-8 from here on; is this a text file? If so, save it as UTF-8", k, 0};
        if (c[k] == 0) return (ga_yaml_survey){"not a text file: it contains a NUL byte", k, 0};
        if (is_control(c[k]))
            return (ga_yaml_survey){"a control character, which is not allowed in text", k, 0};
        k += n;
    }
    return (ga_yaml_survey){0};
}

/* Shape -------------------------------------------------------------------------------------
 */

enum { MAX_DIRECTIVE = 200, MAX_BLANK_LINES = 1000 };

typedef struct scanner {
    const char *text, *end; /* *end is 0 */
    const char *at, *line;  /* where we are, where its line starts */
    int depth;              /* of brackets */
    long indent;            /* column of the key or dash that what follows belongs to */
    const char *problem;
    size_t tokens;
} scanner;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_space(char c) { return is_blank(c) || c == '\n' || c == '\r' || c == 0; }
static bool is_bracket(char c) { return c && strchr("[]{},", c); }
static long column(const scanner *s, const char *at) { return (long)(at - s->line); }

static const char *line_end(const scanner *s, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(s->end - at));
    return end ? end : s->end;
}

static void new_line(scanner *s)
{
    ++s->at;
    s->line = s->at;
}

static bool is_comment(const scanner *s)
{
    return *s->at == '#' && (s->at == s->text || is_space(s->at[-1]));
}

/* A colon that ends a key. */
static bool is_colon(const scanner *s)
{
    return *s->at == ':' && (is_space(s->at[1]) || (s->depth && is_bracket(s->at[1])));
}

/* Goes to the next line that is not blank if that is indented deeper than `indent`. */
static bool continues(scanner *s)
{
    const char *line = s->at + 1, *c = line;
    while (is_space(*c) && c < s->end)
        if (*c++ == '\n') line = c;
    if (c >= s->end || c - line <= s->indent || *c == '#') return false;
    s->at = c;
    s->line = line;
    return true;
}

static void skip_quoted(scanner *s)
{
    const char mark = *s->at;
    const long start = column(s, s->at);
    for (++s->at; s->at < s->end; ++s->at) {
        if (*s->at == '\n') s->line = s->at + 1;
        if (mark == '"' && *s->at == '\\' && s->at[1] != '\n')
            ++s->at;
        else if (*s->at == mark) {
            if (mark == '"' || s->at[1] != mark) break;
            ++s->at;
        }
    }
    if (s->at < s->end) ++s->at;
    const char *next = s->at;
    while (is_blank(*next)) ++next;
    if (!s->depth && *next == ':') s->indent = start;
}

static void skip_plain(scanner *s)
{
    const long start = column(s, s->at);
    if (*s->at == '%' && start == 0 && line_end(s, s->at) - s->at > MAX_DIRECTIVE) {
        s->problem = "a line that starts with % is a directive of YAML, and this one is too "
                     "long; quote text that starts with %";
        return;
    }
    for (; s->at < s->end; ++s->at) {
        if (*s->at == '\n') {
            if (s->depth)
                s->line = s->at + 1;
            else if (!continues(s))
                return;
        }
        if (is_comment(s) || (s->depth && is_bracket(*s->at))) return;
        if (is_colon(s)) {
            if (!s->depth) s->indent = start;
            return;
        }
    }
}

/* Lines deeper than the key, and empty ones. */
static void skip_block(scanner *s)
{
    int blank = 0;
    bool leading = true;
    s->at = line_end(s, s->at);
    while (s->at < s->end) {
        const char *line = s->at + 1, *c = line;
        while (*c == ' ') ++c;
        const bool empty = is_space(*c);
        if (!empty && c - line <= s->indent) return;
        leading = leading && empty;
        if (leading && ++blank > MAX_BLANK_LINES) {
            s->problem = "text starts with too many empty lines";
            return;
        }
        s->line = line;
        s->at = line_end(s, c);
    }
}

/* Anchors, aliases and tags end where a blank does. */
static void skip_word(scanner *s)
{
    while (s->at < s->end && !is_space(*s->at) && !(s->depth && is_bracket(*s->at))) ++s->at;
}

static void skip_token(scanner *s)
{
    const char c = *s->at;
    const bool alone = is_space(s->at[1]);
    if (c == '\n') {
        new_line(s);
    } else if (is_space(c)) {
        ++s->at;
    } else if (is_comment(s)) {
        s->at = line_end(s, s->at);
    } else if (c == '-' && column(s, s->at) == 0 && !strncmp(s->at, "---", 3)) {
        s->at += 3; /* a document starts */
        s->indent = -1;
    } else if (c == '"' || c == '\'') {
        skip_quoted(s);
    } else if (c == '[' || c == '{') {
        if (++s->depth > GA_YAML_MAX_DEPTH)
            s->problem = "brackets are nested too deeply";
        else
            ++s->at;
    } else if (c == ']' || c == '}') {
        if (s->depth) --s->depth;
        ++s->at;
    } else if (!s->depth && (c == '|' || c == '>')) {
        skip_block(s);
    } else if (c == ',' || c == ':' || ((c == '-' || c == '?') && alone)) {
        if (!s->depth && alone && (c == '-' || c == '?')) s->indent = column(s, s->at);
        ++s->at;
    } else if (c == '&' || c == '*' || c == '!') {
        skip_word(s);
    } else {
        skip_plain(s);
    }
    if (!is_space(c)) ++s->tokens;
}

ga_yaml_survey ga_yaml_check_shape(const char *text, size_t length)
{
    scanner s = {.text = text, .end = text + length, .at = text, .line = text, .indent = -1};
    while (s.at < s.end && !s.problem) skip_token(&s);
    return (ga_yaml_survey){s.problem, (size_t)(s.at - text), s.tokens};
}
