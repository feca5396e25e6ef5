/* The page: tables and plots in one file that needs nothing else. */
#include "bench/bench.h"

#include <galpha/galpha.h>
#include <galpha/plot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.5 Georgia,'DejaVu Serif',serif;color:#1a1a1a;margin:0 auto;"
    "max-width:62rem;padding:1.5rem}\n"
    "h1{font-size:1.7rem;margin:0 0 .3rem}h2{font-size:1.25rem;margin:2.6rem 0 .2rem;"
    "border-top:1px solid #ccc;padding-top:1rem}\n"
    ".source,figcaption{color:#555;font-size:.9rem}\n"
    "table{border-collapse:collapse;width:100%;margin:1rem 0;font:12.5px/1.4 'DejaVu Sans',"
    "Verdana,sans-serif;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:right;padding:.2rem .5rem;border-bottom:1px solid #e4e4e4}"
    "th{border-bottom:1.5px solid #555;font-weight:600}\n"
    "td.l,th.l{text-align:left}.pass{color:#0a6b3d}.fail{color:#b3261e;font-weight:700}\n"
    "figure{margin:1.2rem 0}figure svg{max-width:100%;height:auto}details{margin:.6rem 0}\n";

static void escape(FILE *out, const char *text)
{
    for (; *text; ++text) switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static void write_rows(FILE *out, const bench *b, const struct bench_section *s)
{
    fprintf(out,
            "<details><summary>%d rows</summary><table><thead><tr><th class=\"l\">problem</th>"
            "<th>n</th><th class=\"l\">who</th><th class=\"l\">variant</th><th>setting</th>"
            "<th>median, s</th><th>quartiles, s</th><th>steps</th><th>iterations per step</th>"
            "<th>factorisations per step</th><th>error</th></tr></thead><tbody>\n",
            s->count);
    for (int k = s->first; k < s->first + s->count; ++k) {
        const bench_row *row = b->rows + k;
        const bench_outcome *o = &row->outcome;
        if (!row->ok) continue;
        bench_spread t = bench_spread_of(row->reps, row->times);
        const double steps = o->steps ? (double)o->steps : NAN;
        fprintf(out, "<tr><td class=\"l\">");
        escape(out, row->c.problem);
        fprintf(out, "</td><td>%d</td><td class=\"l\">%s</td><td class=\"l\">", row->c.n,
                bench_who_name(row->c.who));
        escape(out, row->c.variant);
        fprintf(
            out,
            "</td><td>%s %.3g</td><td>%.3e</td><td>%.3e … %.3e</td><td>%ld</td><td>%.2f</td>"
            "<td>%.2f</td><td>%.2e</td></tr>\n",
            row->c.setting ? row->c.setting : "", row->c.value, t.median, t.low, t.high,
            o->steps, (double)o->iterations / steps, (double)o->factorizations / steps,
            o->error);
    }
    fputs("</tbody></table></details>\n", out);
}

static void write_section(FILE *out, const bench *b, const struct bench_section *s)
{
    fprintf(out, "<h2 id=\"%s\">%s</h2>\n", s->name, s->title);
    for (int k = 0; k < s->note_count; ++k) {
        fputs("<p>", out);
        escape(out, s->notes[k]);
        fputs("</p>\n", out);
    }
    for (int k = 0; k < s->figure_count; ++k) {
        fprintf(out, "<figure>%s<figcaption>", s->figures[k]);
        escape(out, s->captions[k]);
        fputs("</figcaption></figure>\n", out);
    }
    write_rows(out, b, s);
}

static void write_claims(FILE *out, const bench *b)
{
    fputs("<table><thead><tr><th class=\"l\">asked</th><th class=\"l\">measured</th><th></th>"
          "</tr></thead><tbody>\n",
          out);
    for (int k = 0; k < b->claim_count; ++k) {
        const bench_claim *c = b->claims + k;
        fputs("<tr><td class=\"l\">", out);
        escape(out, c->what);
        fputs("</td><td class=\"l\">", out);
        escape(out, c->measured);
        fprintf(out, "</td><td class=\"%s\">%s</td></tr>\n",
                c->known && c->holds ? "pass" : "fail",
                c->known ? c->holds ? "holds" : "does not hold" : "unknown");
    }
    fputs("</tbody></table>\n", out);
}

bool bench_write_page(bench *b, const char *path, double seconds)
{
    FILE *out = fopen(path, "w");
    if (!out) return bench_fail(b, "%s cannot be written", path);
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<title>galpha %s: benchmarks</title>\n<style>%s</style></head><body>\n"
            "<h1>Benchmarks</h1>\n<p class=\"source\">galpha %s, %s, measured in %.0f s. Times "
            "are medians of interleaved repetitions, in seconds of the processor.</p>\n",
            ga_version(), style, ga_version(), b->quick ? "quick run" : "full run", seconds);
    if (b->claim_count) write_claims(out, b);
    for (int k = 0; k < b->section_count; ++k) write_section(out, b, b->sections + k);
    fputs("</body></html>\n", out);
    bool written = !ferror(out);
    if (fclose(out) != 0) written = false;
    return written || bench_fail(b, "%s cannot be written", path);
}

/* --- figures ------------------------------------------------------------------------------ */

void bench_figure(bench *b, ga_figure *figure, const char *caption)
{
    struct bench_section *s = b->sections + b->section_count - 1;
    ga_report report;
    char *copy = malloc(strlen(caption) + 1);
    if (copy && s->figure_count < BENCH_COUNT(s->figures) &&
        ga_figure_svg(figure, s->figures + s->figure_count, &report) == GA_OK) {
        strcpy(copy, caption);
        s->captions[s->figure_count++] = copy;
    } else {
        free(copy);
    }
    ga_figure_destroy(figure);
}

void bench_figure_precision(bench *b, int first, int count, const char *title)
{
    enum { MOST = 64 };
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){BENCH_SIZED(ga_figure_def).title = title, .width = 620});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){
                    BENCH_SIZED(ga_plot_panel).x = {.label = "error", .scale = GA_SCALE_LOG},
                    .y = {.label = "time", .unit = "s", .scale = GA_SCALE_LOG},
                    .legend = GA_LEGEND_OUTSIDE});
    for (int k = first; k < first + count;) {
        const bench_case *c = &b->rows[k].c;
        double x[MOST], y[MOST];
        char label[BENCH_NAME];
        size_t points = 0;
        snprintf(label, sizeof label, "%s, %s", bench_who_name(c->who), c->variant);
        for (; k < first + count && strcmp(b->rows[k].c.variant, c->variant) == 0 &&
               b->rows[k].c.who == c->who;
             ++k) {
            const bench_row *row = b->rows + k;
            if (!row->ok || isnan(row->outcome.error) || points == MOST) continue;
            x[points] = row->outcome.error;
            y[points++] = bench_median(row);
        }
        if (points)
            ga_figure_series(figure, panel,
                             &(ga_plot_series){BENCH_SIZED(ga_plot_series).label = label,
                                               .count = points, .x = x, .y = y,
                                               .marker = GA_MARKER_CIRCLE,
                                               .line = c->who == BENCH_GALPHA ? GA_LINE_SOLID
                                                       : c->who == BENCH_IDA  ? GA_LINE_DASHED
                                                                             : GA_LINE_DOTTED});
    }
    bench_figure(b, figure, title);
}
