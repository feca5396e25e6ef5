/* Widths come from a table of DejaVu Sans, not from the fonts of the machine: a figure has the
 * same layout everywhere, and SVG needs no font library at all. Verdana, which stands in for it
 * elsewhere, has the same widths to a few percent; layouts leave room for that.
 */
#include "plot/text.h"

#include <stdint.h>
#include <string.h>

/* Advance widths in thousandths of an em. */
typedef struct range {
    uint32_t first;
    int count;
    const short *width;
} range;

/* clang-format off */
static const short ascii[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
};
static const short latin[] = {
    318, 401, 636, 636, 636, 636, 337, 500, 500, 1000, 471, 612, 838, 361, 1000, 500,
    500, 838, 401, 401, 500, 636, 636, 318, 500, 401, 471, 612, 969, 969, 969, 531,
    684, 684, 684, 684, 684, 684, 974, 698, 632, 632, 632, 632, 295, 295, 295, 295,
    775, 748, 787, 787, 787, 787, 787, 838, 787, 732, 732, 732, 732, 611, 605, 630,
    613, 613, 613, 613, 613, 613, 982, 550, 615, 615, 615, 615, 278, 278, 278, 278,
    612, 634, 612, 612, 612, 612, 612, 838, 612, 634, 634, 634, 634, 592, 635, 592,
};
static const short greek[] = {
    684, 686, 557, 684, 632, 685, 752, 787, 295, 656, 684, 863, 748, 632, 787, 752,
    603, 600, 632, 611, 611, 787, 685, 787, 764, 295, 611, 659, 541, 634, 338, 579,
    659, 638, 592, 612, 541, 544, 634, 612, 338, 589, 592, 636, 559, 558, 612, 602,
    635, 587, 634, 602, 579, 660, 578, 660, 837,
};
/* clang-format on */
static const short dashes[] = {500, 1000, 1000, 500}; /* U+2013 */
static const short wide[] = {1000}, prime[] = {227}, sign[] = {838},
                   arrows[] = {838, 838, 838, 838};
static const short partial[] = {517}, nabla[] = {669, 669}, sums[] = {674, 838};
static const short root[] = {637}, infinity[] = {833};

static const range ranges[] = {
    {0x20, 95, ascii},  {0xa0, 96, latin},  {0x391, 57, greek},  {0x2013, 4, dashes},
    {0x2026, 1, wide},  {0x2032, 1, prime}, {0x2190, 4, arrows}, {0x2202, 1, partial},
    {0x2206, 2, nabla}, {0x2211, 2, sums},  {0x221a, 1, root},   {0x221e, 1, infinity},
    {0x2248, 1, sign},  {0x2260, 1, sign},  {0x2264, 1, sign},   {0x2265, 1, sign},
};

static double advance(uint32_t code)
{
    for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; ++k)
        if (code >= ranges[k].first && code - ranges[k].first < (uint32_t)ranges[k].count)
            return ranges[k].width[code - ranges[k].first] * 1e-3;
    if (code >= 0x300 && code < 0x370) return 0; /* combining accents */
    if (code >= 0x2e80) return 1;                /* ideographs, and whatever else is wide */
    return 0.65;
}

/* Length of the well-formed sequence at `s`, with its code; 0: broken. */
static int decode(const char *s, uint32_t *code)
{
    const unsigned char *b = (const unsigned char *)s;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int length = b[0] < 0x80   ? 1
                       : b[0] < 0xc2 ? 0
                       : b[0] < 0xe0 ? 2
                       : b[0] < 0xf0 ? 3
                       : b[0] < 0xf5 ? 4
                                     : 0;
    if (length == 0) return 0;
    uint32_t c = length == 1 ? b[0] : b[0] & (0x7fu >> length);
    for (int k = 1; k < length; ++k) {
        if ((b[k] & 0xc0) != 0x80) return 0;
        c = c << 6 | (b[k] & 0x3f);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return length;
}

/* Not allowed in XML, or without a shape. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff;
}

static bool read_code(ga_text_reader *r, char bytes[5], ga_text_level *level, uint32_t *code)
{
    for (;;) {
        const char *s = r->next;
        if (!s || !*s) return false;
        if (r->level == GA_TEXT_BASE && (s[0] == '^' || s[0] == '_') && s[1] == '{') {
            r->level = s[0] == '^' ? GA_TEXT_SUPER : GA_TEXT_SUB;
            r->next += 2;
        } else if (r->level != GA_TEXT_BASE && s[0] == '}') {
            r->level = GA_TEXT_BASE;
            ++r->next;
        } else
            break;
    }
    if (r->next[0] == '\\' && r->next[1] && strchr("^_\\", r->next[1])) ++r->next;
    *level = r->level;
    const int length = decode(r->next, code);
    if (length == 0) {
        ++r->next;
        *code = 0xfffd;
        strcpy(bytes, "\xef\xbf\xbd");
    } else if (is_control(*code)) {
        r->next += length;
        *code = ' ';
        strcpy(bytes, " ");
    } else {
        memcpy(bytes, r->next, (size_t)length);
        bytes[length] = '\0';
        r->next += length;
    }
    return true;
}

bool ga_text_read(ga_text_reader *reader, char bytes[5], ga_text_level *level)
{
    uint32_t code;
    return read_code(reader, bytes, level, &code);
}

double ga_text_width(const char *text, double size)
{
    ga_text_reader reader = {.next = text};
    char bytes[5];
    ga_text_level level;
    uint32_t code;
    double width = 0;
    while (read_code(&reader, bytes, &level, &code))
        width += advance(code) * (level == GA_TEXT_BASE ? 1 : GA_TEXT_SCRIPT_SIZE);
    return width * size;
}
