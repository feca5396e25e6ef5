/* What may have been meant: the smallest number of letters inserted, left out, exchanged or
 * swapped with a neighbour that turns one word into the other (optimal string alignment).
 * Capitals count as small letters and `-`, `_` and blanks as the same, because those are the
 * mistakes people make; a word that differs only there is at distance 0. Words of other
 * programs come first, see synonyms.c.
 */
#include "data/read.h"

#include <string.h>

enum { LONGEST = 64 };

static char folded(char c)
{
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '-' || c == ' ' ? '_' : c;
}

static int smallest(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Three rows of the table are alive: i, i - 1 and, for swaps, i - 2. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; ++j) rows[0][j] = (int)j;
    for (size_t i = 1; i <= na; ++i) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; ++j) {
            const char x = folded(a[i - 1]), y = folded(b[j - 1]);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded(a[i - 2]) &&
                second[j - 2] + 1 < row[j])
                row[j] = second[j - 2] + 1;
        }
    }
    return rows[na % 3][nb];
}

const char *ga_suggest(const char *word, void *user,
                       const char *(*candidate)(void *user, int k))
{
    const size_t n = strlen(word);
    if (n > LONGEST) return NULL;
    /* a third of the letters may be wrong; one always, but not the only one */
    const int allowed = n < 2 ? 0 : n < 6 ? 1 : (int)n / 3;
    const char *best = NULL, *name = NULL;
    int least = allowed + 1;
    for (int k = 0; (name = candidate(user, k)); ++k) {
        const size_t m = strlen(name);
        if (m > LONGEST || (n > m ? n - m : m - n) >= (size_t)least) continue;
        const int d = distance(word, n, name, m);
        if (d < least) {
            least = d;
            best = name;
        }
    }
    if (least == 0) return best; /* the same but for case, hyphens and the like */
    const char *synonym = ga_synonym(word, user, candidate);
    return synonym ? synonym : best;
}
