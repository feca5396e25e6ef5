/* How many digits double precision leaves: states of the discrete schemes against the same in
 * 80-bit arithmetic. */
#include "verify/ladder.h"

#include <math.h>
#include <stdlib.h>

enum { CASES = 6, SNAPSHOTS = 7, KINDS = 3, LEVELS = 7 };

/* q: x and y of the pendulum, x of the top. */
typedef struct snapshot {
    int n;
    double q[3], v[6], lambda[3];
} snapshot;

static const snapshot snapshots[CASES][SNAPSHOTS] = {
    {
        /* pendulum, index 3, plain start */
        {1,
         {0.20750824556845965, -0.9782332687151362},
         {0.7404327635172852, 0.1571434367683719},
         {10.185036827886067}},
        {2,
         {0.2148055418163833, -0.97665683799632},
         {0.719027324784069, 0.15814414613538935},
         {10.09252320535798}},
        {3,
         {0.22188546024452552, -0.9750727370468704},
         {0.696957347393715, 0.15867605367794488},
         {10.121078780707851}},
        {10,
         {0.26487971832556834, -0.9642814603733536},
         {0.5274629784036111, 0.1448982503464928},
         {9.648299213236138}},
        {16,
         {0.2917423646577016, -0.9564969381362037},
         {0.36607758775306926, 0.11166676825722371},
         {9.406946911244695}},
        {100,
         {-0.19259027072947943, -0.9812792607715429},
         {-0.7805237060790302, 0.15322768090999841},
         {10.258654638762325}},
        {200,
         {0.1849980502120392, -0.9827388877101302},
         {0.7991794365787689, 0.1504813223664229},
         {10.302157407336686}},
    },
    {
        /* pendulum, index 3, perturbed */
        {1,
         {0.20750825728440114, -0.9782332662298858},
         {0.7404428347497676, 0.15710656653088498},
         {10.16958167555585}},
        {2,
         {0.21480556300123727, -0.9766568333369309},
         {0.7190192001704903, 0.15818086410326793},
         {10.122941381999642}},
        {3,
         {0.22188549349615577, -0.9750727294802001},
         {0.6969677505510814, 0.15864075735412883},
         {10.076514943182335}},
        {10,
         {0.2648798229200489, -0.9642814316421547},
         {0.5274553993585218, 0.14492462451246868},
         {9.758520287899193}},
        {16,
         {0.2917425268123092, -0.9564968886772027},
         {0.36607205590457303, 0.11168504976402584},
         {9.529305270910264}},
        {100,
         {-0.1925902518906384, -0.9812792644689382},
         {-0.7805248019262866, 0.1532278962781368},
         {10.259175489897164}},
        {200,
         {0.18499801172706504, -0.9827388949548261},
         {0.7991805635926887, 0.15048150216464373},
         {10.302159409595438}},
    },
    {
        /* pendulum, index 2 */
        {1,
         {0.20750825730163927, -0.9782332662262292},
         {0.7404506119079189, 0.1570684839697643},
         {10.169490410972601}},
        {2,
         {0.2148055601343012, -0.9766568339674837},
         {0.7190270248235582, 0.15814255063520774},
         {10.122984104927564}},
        {3,
         {0.22188548491614754, -0.9750727314326486},
         {0.6969756115035112, 0.15860229349862312},
         {10.076443485039084}},
        {10,
         {0.2648797041288844, -0.9642814642730589},
         {0.5274624696578465, 0.1448893378940837},
         {9.758683034546413}},
        {16,
         {0.29174224250467434, -0.9564969753942475},
         {0.36607697324103516, 0.11165755862285143},
         {9.529525473319282}},
        {100,
         {-0.19259277889465878, -0.9812787685044617},
         {-0.7805261703043019, 0.15319164030015156},
         {10.259098180231756}},
        {200,
         {0.18500317860068266, -0.9827379222903958},
         {0.7991760498993807, 0.15044713970978113},
         {10.302054683615765}},
    },
    {
        /* top, index 3, plain */
        {1,
         {0.004615066990865428, 0.9999893504016892, -1.548797331996101e-05},
         {4.614755546776528, -0.021299202961244892, -0.030975908850245294, 0.6613457813120578,
          150.0, -4.5998357840194775},
         {-18.644389100803387, -319.4504620403689, -317.7126499573238}},
        {2,
         {0.009229874862026692, 0.9999574018696887, -6.209712636153807e-05},
         {4.614857109016638, -0.04259785728261053, -0.062241701299241725, 1.3089064775969232,
          150.0, -4.426982524415329},
         {21.345829684023766, -319.5082668397562, -325.92554791553476}},
        {3,
         {0.013844229455465146, 0.99990415430558, -0.00013968975391481135},
         {4.613857336716221, -0.06389727207056686, -0.09294552562359337, 1.930218925783461,
          150.0, -4.225707807356544},
         {-50.55242777551292, -319.4752663726886, -301.0732615998145}},
        {12,
         {0.05531145998259696, 0.9984666492279118, -0.0022344516507593146},
         {4.597404565281811, -0.25551333438249474, -0.3723232473905515, 4.584522892212132,
          150.0, 0.6963715749261025},
         {-66.16515789630012, -315.8697186161362, -431.04381331905853}},
        {16,
         {0.07367626753522126, 0.9972743054943056, -0.003970793740409218},
         {4.583856246521237, -0.3406237211557865, -0.49579944313321656, 3.4826218792614636,
          150.0, 3.073332261166723},
         {-144.1130821199991, -313.11795326617016, -401.44913017442497}},
        {100,
         {0.421102853243235, 0.8945951643832569, -0.1495723198071755},
         {3.403413614884602, -2.0827621240861403, -2.8751892000544017, 4.828376846137283, 150.0,
          1.0228298061087422},
         {-363.1577429032297, -294.83569568007476, -213.61337124249624}},
    },
    {
        /* top, index 3, perturbed */
        {1,
         {0.00461506754386529, 0.9999893503987061, -1.5515781312988984e-05},
         {4.615004704242712, -0.021299208912807514, -0.0310313857963361, 0.6612904909721898,
          150.0, -4.583980274015816},
         {-3.7818793059853917, -319.4506397370243, -319.36903306203493}},
        {2,
         {0.009229892746899455, 0.9999574017061414, -6.207240339402121e-05},
         {4.614646000893436, -0.04259817171311941, -0.06208195343873153, 1.309071216058511,
          150.0, -4.442615108914356},
         {-6.981299302737192, -319.5173025969911, -317.872566021223}},
        {3,
         {0.013844233853115657, 0.9999041542465675, -0.00013967632825366785},
         {4.614036597756718, -0.06389675203872326, -0.0931258360711131, 1.930025352304082,
          150.0, -4.210403686748284},
         {-11.293956935336986, -319.44147380416126, -319.1129490202156}},
        {12,
         {0.05531153175076232, 0.9984666456544399, -0.0022342719072722464},
         {4.597685538237168, -0.255527513960275, -0.3722057606967206, 4.5850596651779245, 150.0,
          0.685970587104569},
         {-43.50382779561631, -319.2350939058004, -317.47459274999756}},
        {16,
         {0.07367635546689828, 0.9972743000033351, -0.003970541269550969},
         {4.58411866648322, -0.34063733927274575, -0.49588193723719487, 3.483156078810844,
          150.0, 3.0650827179326288},
         {-58.355826229987414, -319.028840824584, -316.2496982897296}},
        {100,
         {0.4211037150363502, 0.8945950209783263, -0.1495707512295508},
         {3.40342624431763, -2.082764812337839, -2.8751784023328493, 4.828372152048733, 150.0,
          1.0228244189163707},
         {-362.42845908065254, -295.1582577148396, -212.8869908629802}},
    },
    {
        /* top, index 2 */
        {1,
         {0.0046072212506863, 0.9999893865755995, -1.5763991874612105e-05},
         {4.615258301026447, -0.021264230146294163, -0.030978073546339788, 0.6590737256816502,
          150.0, -4.568111515477046},
         {-3.652562487086939, -318.4062737082686, -317.7772815978593}},
        {2,
         {0.009214199609560327, 0.9999575464115484, -6.245118934602832e-05},
         {4.614897783489395, -0.04252826401225254, -0.061955265965656627, 1.3046667214477012,
          150.0, -4.4272760707034085},
         {-7.162487351679809, -319.50025407616187, -317.2452911019519}},
        {3,
         {0.013820694890928688, 0.9999044798262768, -0.00014005739786507353},
         {4.614294116078552, -0.063791859926388, -0.09292905419461375, 1.923573474861439, 150.0,
          -4.195745522191856},
         {-10.946569596046404, -318.4285224747254, -317.65888589320343}},
        {12,
         {0.055217690685130404, 0.9984718516210705, -0.0022289360224293426},
         {4.598021080665685, -0.25510969102925457, -0.3713609382336845, 4.569058765175995,
          150.0, 0.6844631177187631},
         {-43.288955986541815, -319.00636092507096, -316.1271352558605}},
        {16,
         {0.07355164216420297, 0.9972835501582962, -0.0039593583589042506},
         {4.584518851809879, -0.34008160925657366, -0.49475302865021625, 3.470296876658576,
          150.0, 3.05537047684352},
         {-57.82135453909368, -318.7368135005016, -315.05267299549683}},
        {100,
         {0.42057125985197946, 0.8949382859361545, -0.14901436089242046},
         {3.409306176440471, -2.080005753445037, -2.8696602617210414, 4.809430770179669, 150.0,
          1.0267025974591997},
         {-360.8088566876419, -294.9793863066069, -212.57459997876433}},
    },
};

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status top(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_R3SO3, out); }

#define FLOOR(floor) "ten times what the scheme strayed in double precision, " floor

static const struct {
    ga_status (*create)(pb_problem **out);
    double h, t_end;
    ga_formulation formulation;
    ga_start start;
    const char *name[KINDS]; /* q, v, lambda */
    double allowed[KINDS];
    const char *why[KINDS];
    const char *last; /* lambda_1 at the last snapshot */
} cases[CASES] = {
    {pendulum,
     0.01,
     2,
     GA_INDEX3,
     GA_START_PLAIN,
     {"pendulum, index 3, plain: q", "pendulum, index 3, plain: v",
      "pendulum, index 3, plain: lambda"},
     {6e-15, 5e-13, 3e-9},
     {"4 eps sqrt(n): a step may stop within 4 eps; 1e-16 was seen", FLOOR("5e-14"),
      FLOOR("1e-11 to 3e-10")},
     "pendulum, index 3, plain: lambda after 200 steps"},
    {pendulum,
     0.01,
     2,
     GA_INDEX3,
     GA_START_PERTURBED,
     {"pendulum, index 3, perturbed: q", "pendulum, index 3, perturbed: v",
      "pendulum, index 3, perturbed: lambda"},
     {6e-15, 5e-13, 3e-9},
     {"4 eps sqrt(n): a step may stop within 4 eps; 1e-16 was seen", FLOOR("5e-14"),
      FLOOR("1e-11 to 3e-10")},
     "pendulum, index 3, perturbed: lambda after 200 steps"},
    {pendulum,
     0.01,
     2,
     GA_INDEX2,
     GA_START_SHIFTED,
     {"pendulum, index 2: q", "pendulum, index 2: v", "pendulum, index 2: lambda"},
     {6e-15, 2e-14, 1e-13},
     {"4 eps sqrt(n): a step may stop within 4 eps; 1e-16 was seen", FLOOR("2e-15"),
      FLOOR("1e-14")},
     "pendulum, index 2: lambda after 200 steps"},
    {top,
     1e-3,
     0.1,
     GA_INDEX3,
     GA_START_PLAIN,
     {"heavy top, index 3, plain: x", "heavy top, index 3, plain: v",
      "heavy top, index 3, plain: lambda"},
     {1e-14, 1e-11, 3.4e-6},
     {FLOOR("1e-15"), FLOOR("1e-12"), FLOOR("5e-9 to 3.4e-7")},
     "heavy top, index 3, plain: lambda_1 after 100 steps"},
    {top,
     1e-3,
     0.1,
     GA_INDEX3,
     GA_START_PERTURBED,
     {"heavy top, index 3, perturbed: x", "heavy top, index 3, perturbed: v",
      "heavy top, index 3, perturbed: lambda"},
     {1e-14, 1e-11, 3.4e-6},
     {FLOOR("1e-15"), FLOOR("1e-12"), FLOOR("5e-9 to 3.4e-7")},
     "heavy top, index 3, perturbed: lambda_1 after 100 steps"},
    {top,
     1e-3,
     0.1,
     GA_INDEX2,
     GA_START_SHIFTED,
     {"heavy top, index 2: x", "heavy top, index 2: v", "heavy top, index 2: lambda"},
     {1e-14, 3e-13, 3e-10},
     {FLOOR("1e-15"), "ten roundings of Omega = 150", FLOOR("3e-13 to 3e-11")},
     "heavy top, index 2: lambda_1 after 100 steps"},
};

static void keep_larger(double *most, int n, const double *x, const double *y)
{
    for (int i = 0; i < n; ++i) *most = fmax(*most, fabs(x[i] - y[i]));
}

static void check_case(vf_run *run, int c)
{
    pb_problem *problem = NULL;
    vf_states s = {0};
    double most[KINDS] = {0}, expected = NAN, got = NAN;
    if (!vf_ok(run, cases[c].create(&problem), NULL)) return;
    const vf_job job = {.problem = problem,
                        .def = vf_def(0.9, cases[c].formulation, cases[c].start),
                        .h = cases[c].h,
                        .t_end = cases[c].t_end};
    if (vf_steps(run, &job, &s)) {
        for (int k = 0; k < SNAPSHOTS && snapshots[c][k].n; ++k) {
            const snapshot *known = &snapshots[c][k];
            keep_larger(&most[0], s.nq > 2 ? 3 : 2, s.q + known->n * s.nq, known->q);
            keep_larger(&most[1], s.nv, s.v + known->n * s.nv, known->v);
            keep_larger(&most[2], s.m, s.lambda + known->n * s.m, known->lambda);
            expected = known->lambda[0];
            got = s.lambda[known->n * s.m];
        }
        for (int i = 0; i < KINDS; ++i)
            vf_between(run, cases[c].name[i], 0, cases[c].allowed[i], most[i], cases[c].why[i]);
        vf_check(run, cases[c].last, expected, got, cases[c].allowed[2], cases[c].why[2]);
    }
    vf_states_free(&s);
    pb_destroy(problem);
}

/* Largest difference of lambda between two ways to solve the same equations to round-off. */
static double scatter(vf_run *run, const pb_problem *problem, ga_formulation formulation,
                      double h)
{
    vf_job job = {
        .problem = problem, .def = vf_def(0.9, formulation, GA_START_AUTO), .h = h, .t_end = 1};
    vf_states one = {0}, other = {0};
    double most = 0;
    bool done = vf_steps(run, &job, &one);
    job.def.newton = GA_NEWTON_FULL;
    job.def.scaling = GA_SCALING_AB07;
    if (done && vf_steps(run, &job, &other))
        keep_larger(&most, one.count, one.lambda, other.lambda);
    vf_states_free(&one);
    vf_states_free(&other);
    return most;
}

static void plot_scatter(vf_run *run)
{
    static const double h[LEVELS] = {2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4};
    static const char *const labels[2] = {"index 3", "index 2"};
    pb_problem *problem = NULL;
    double most[2][LEVELS];
    if (!vf_ok(run, pendulum(&problem), NULL)) return;
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int panel = ga_figure_panel(
        figure,
        &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                         .x = {.label = "step size h", .unit = "s", .scale = GA_SCALE_LOG},
                         .y = {.label = "round-off in λ", .scale = GA_SCALE_LOG}});
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < LEVELS; ++i)
            most[k][i] = scatter(run, problem, k ? GA_INDEX2 : GA_INDEX3, h[i]);
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = labels[k],
                                           .marker = k ? GA_MARKER_SQUARE : GA_MARKER_CIRCLE,
                                           .count = LEVELS,
                                           .x = h,
                                           .y = most[k]});
    }
    vf_between(run, "growth of round-off in lambda, index 3, as a power of 1/h", 1.5, 2.7,
               log(most[0][LEVELS - 1] / most[0][0]) / log(h[0] / h[LEVELS - 1]),
               "eps/(beta h^2); round-off is random");
    vf_between(run, "round-off in lambda, index 2 by index 3, h = 2e-4", 0, 1e-3,
               most[1][LEVELS - 1] / most[0][LEVELS - 1], "like 1/h only, and not amplified");
    vf_figure(run, figure,
              "Pendulum: largest difference of λ between two solutions of the same equations "
              "with different scaling and iteration. In index 3 it grows like 1/h^2 for any "
              "scaling: λ is a second difference of positions that are rounded. In index 2 it "
              "is a first difference of velocities.");
    pb_destroy(problem);
}

static void run_round_off(vf_run *run)
{
    for (int c = 0; c < CASES; ++c) check_case(run, c);
    plot_scatter(run);
}

const vf_problem vf_own_round_off = {
    .name = "own-round-off",
    .title = "Round-off: accuracy in double precision",
    .source = "own; schemes (9) and (58) of [ABC14], start values (56) and (57)",
    .statement =
        "A step is a system of equations with one solution. Solved to round-off, every program "
        "must find the same numbers up to round-off. Here the pendulum and the heavy top of "
        "[ABC14] are compared with the same schemes in 80-bit arithmetic, at steps 1 to 200 "
        "(top: 100).\n"
        "\n"
        "In index 3 the multipliers depend on second differences of positions, and the "
        "rounding of q enters them divided by beta h^2 and amplified like any other error: ten "
        "digits remain at usual step sizes, fewer at small ones. In stabilised index 2 nearly "
        "all remain. Positions and velocities are not affected.",
    .parameters = "generalized-alpha, rho_inf 0.9\n"
                  "pendulum: x0 = 0.2, h = 1e-2, n = 1, 2, 3, 10, 16, 100, 200\n"
                  "heavy top: R3xSO(3), h = 1e-3, n = 1, 2, 3, 12, 16, 100\n"
                  "largest component of the difference over these steps",
    .quick = true,
    .run = run_round_off,
};
