#!/usr/bin/python3
"""galpha converge on the examples.

    test_converge.py PROGRAM EXAMPLES [--few]

--few, for the sanitizers: one example with independent constraints, one with redundant and one with
nonholonomic ones; orders do not depend on the build.
"""
import os
import re
import sys

import support

EXAMPLES = os.path.abspath(sys.argv.pop(2))
FEW = "--few" in sys.argv and not sys.argv.remove("--few")
FORMULATIONS = ["index3", "index2", "soi2"]

# Shorter times where the example takes long: the order is the same.
MODELS = {
    "andrews_squeezer": ["--set", "simulate.t_end=5e-3"],
    "bricard": ["--set", "simulate.t_end=1"],
    "double_pendulum": ["--set", "simulate.t_end=1"],
    "four_bar": ["--set", "simulate.t_end=1"],
    "four_bar_spatial": ["--set", "simulate.t_end=1"],
    "gyroscope": ["--set", "simulate.t_end=0.1"],
    "heavy_top": [],
    "quick_return": ["--set", "simulate.t_end=1"],
    "rolling_disc": ["--set", "simulate.t_end=1"],
    "slider_crank": ["--set", "simulate.t_end=1"],
    "trammel": [],
}


def example(name):
    return os.path.join(EXAMPLES, name + ".yaml")


class Converge(support.Case):
    def study(self, name, *words):
        return self.json_of("converge", example(name), "--json", *words)

    def check_second_order(self, name):
        for formulation in FORMULATIONS:
            with self.subTest(formulation=formulation):
                said = self.study(name, "--formulation", formulation, *MODELS[name])
                self.assertEqual(said["verdict"], "second order", said["reason"])
                self.assertEqual(len(said["levels"]), 5)
                self.assertEqual(said["formulation"], formulation)
                self.assertNotEqual(said["reference"]["formulation"], formulation)
                orders = [
                    order
                    for component, order in said["orders"].items()
                    if order is not None
                    and component != "energy"
                    and not (said["redundant"] and component in ("force", "torque"))
                ]
                self.assertGreaterEqual(len(orders), 3)
                self.assertGreater(min(orders), 1.85)

    def test_transient(self):
        said = self.study(
            "heavy_top",
            *("--set", "simulate.formulation=index3", "--set", "simulate.start=plain"),
        )
        self.assertEqual(said["verdict"], "transient", said["reason"])
        # first order in what depends on lambda, second in the rest, as [ABC14] shows
        self.assertAlmostEqual(said["orders"]["force"], 1, delta=0.15)
        self.assertAlmostEqual(said["orders"]["position"], 2, delta=0.15)
        # the acceleration level does not know of it
        words = ["--set", "simulate.formulation=index3", "--set", "simulate.start=plain"]
        self.assertEqual(self.study("heavy_top", *words, "--hat")["verdict"], "second order")

    def test_round_off(self):
        for formulation in FORMULATIONS:
            with self.subTest(formulation=formulation):
                said = self.study(
                    "heavy_top",
                    *("--formulation", formulation, "--set", "simulate.t_end=1e-4"),
                    *("--steps", "4e-7,2e-7,1e-7"),
                )
                self.assertEqual(said["verdict"], "round-off", said["reason"])

    def test_impact(self):
        """Times between the impacts of two runs are not compared, nor is the reference
        interpolated across one: positions had errors of 5e-4 m, at any step."""
        said = self.study("stop")
        self.assertEqual(said["verdict"], "second order", said["reason"])
        self.assertGreater(said["events"], 0)
        self.write("impact.yaml", """\
galpha: 1
gravity: [0, 0, -9.81]
bodies: {bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0],
          limits: {max: 1, restitution: 0.5}}
simulate: {t_end: 1, step: 1e-3}
""")
        words = ["converge", "impact.yaml", "--json"]
        own = self.json_of(*words)
        other = self.json_of(*words, "--reference", "explicit")
        for study in (own, other):
            self.assertEqual(study["verdict"], "second order", study["reason"])
            self.assertEqual(study["events"], 1)
            for name in ("position", "velocity", "acceleration", "force"):
                self.assertAlmostEqual(study["orders"][name], 2, delta=0.1)
        for one, two in zip(own["levels"], other["levels"]):
            for name in ("position", "velocity"):
                self.assertAlmostEqual(one["errors"][name] / two["errors"][name], 1, delta=0.02)

    def test_tolerances_of_higher_order(self):
        """Steps of 0.1 s are longer than the reference may be interpolated over: velocities had
        errors of 4e-4 m/s, at any tolerance."""
        said = self.study("simple_pendulum", "--tolerances", "1e-4,1e-5,1e-6,1e-7", "--set",
                          "simulate.step=null", "--set", "simulate.method=auto", "--set",
                          "simulate.t_end=3")
        self.assertEqual(said["verdict"], "second order", said["reason"])
        errors = [level["errors"]["velocity"] for level in said["levels"]]
        for one, two in zip(errors, errors[1:]):
            self.assertLess(two, one / 4)

    def test_force_that_jumps(self):
        model = """\
galpha: 1
bodies: {block: {type: point-mass, mass: 1}}
joints: {rail: {type: point-on-line, between: [ground, block], axis: [1, 0, 0]}}
forces: {push: {type: force, on: block, force: ["block.position.x > 0.3 ? 0 : 1", 0, 0]}}
simulate: {t_end: 2, step: 5e-3}
"""
        self.write("jump.yaml", model)
        said = self.json_of("converge", "jump.yaml", "--json")
        self.assertEqual(said["verdict"], "discontinuity", said["reason"])
        # x = t^2/2 = 0.3, known to within one of 16 parts of the time
        self.assertAlmostEqual(said["at"], 0.6**0.5, delta=0.125)

    def test_chaos(self):
        said = self.study(
            "double_pendulum", "--set", "simulate.t_end=20", "--steps", "0.02,0.01,0.005,0.0025"
        )
        self.assertEqual(said["verdict"], "chaotic growth", said["reason"])

    def test_not_asymptotic(self):
        said = self.study("heavy_top", "--steps", "0.05,0.04,0.03,0.025")
        self.assertEqual(said["verdict"], "not yet asymptotic", said["reason"])

    def test_steps_that_hardly_differ(self):
        """max_step limits the steps of a driven model at loose tolerances: orders of -848 and a
        verdict of round-off, or of a jump, were reported."""
        for tolerances in "auto", "1e-2,1e-3,1e-4", "1e-3,1e-5,1e-7":
            said = self.study("scotch_yoke", "--set", "simulate.step=null", "--tolerances",
                              tolerances)
            self.assertEqual(said["verdict"], "not yet asymptotic", said["reason"])
            self.assertIn("`max_step`", said["reason"])
            orders = [x for level in said["levels"] for x in level["orders"].values() if x]
            self.assertLess(max(map(abs, orders), default=0), 20)

    def test_steps_of_high_order_that_hardly_differ(self):
        """Orders of 13 to 20 were reported where `max_step` limits most steps."""
        said = self.study("simple_pendulum", "--set", "simulate.step=null", "--set", "simulate.method=explicit",
                          "--set", "simulate.max_step=0.06", "--tolerances", "1e-6,7e-8")
        self.assertEqual(said["verdict"], "not yet asymptotic", said["reason"])
        self.assertIn("`max_step`", said["reason"])

    def test_tolerances(self):
        said = self.study("heavy_top", "--tolerances", "1e-2,1e-3,1e-4")
        self.assertEqual(said["verdict"], "second order", said["reason"])
        self.assertEqual([level["tolerance"] for level in said["levels"]], [1e-2, 1e-3, 1e-4])
        self.assertAlmostEqual(said["orders"]["position"], 2, delta=0.1)

    def test_steps_that_do_not_divide_the_time(self):
        said = self.study("heavy_top", "--steps", "1e-3,3.3e-3,1.7e-3,0.7e-3")
        self.assertEqual([level["step"] for level in said["levels"]][0], 3.3e-3)
        self.assertEqual(said["verdict"], "second order", said["reason"])

    # Free, closed loop, driven: errors of the reference by extrapolation are below 3 % of the
    # finest error, those of the other two far below.
    def test_references_agree(self):
        for name in ("heavy_top", "slider_crank", "scotch_yoke"):
            words = [*MODELS.get(name, []), "--levels", "4"]
            plain = self.study(name, *words)
            self.assertEqual(plain["reference"]["method"], "generalized-alpha")
            for method, tolerance in (("radau", 1e-10), ("explicit", 1e-11)):
                with self.subTest(name=name, method=method):
                    said = self.study(name, *words, "--reference", method)
                    self.check_agreement(plain, said)
                    self.assertEqual(said["reference"]["method"], method)
                    self.assertEqual(said["reference"]["tolerance"], tolerance)
                    self.assertNotIn("formulation", said["reference"])

    def check_agreement(self, plain, said):
        self.assertEqual(said["verdict"], plain["verdict"], said["reason"])
        compared = 0
        for a, b in zip(plain["levels"], said["levels"], strict=True):
            self.assertEqual(a["step"], b["step"])
            for component in set(a["used"]) & set(b["used"]):
                x, y = a["errors"][component], b["errors"][component]
                self.assertAlmostEqual(x, y, delta=0.03 * x, msg=component)
                self.assertLess(said["reference"]["errors"][component], 1e-3 * y)
                compared += 1
        self.assertGreaterEqual(compared, 3 * len(plain["levels"]))
        for component, order in plain["orders"].items():
            if order is not None and said["orders"][component] is not None:
                self.assertAlmostEqual(order, said["orders"][component], delta=0.05)

    # Estimates, not bounds: the two references agree to twice the errors they state.
    def test_references_state_their_errors(self):
        for name in ("cardan_shaft", "slider_crank"):
            words = [*MODELS.get(name, []), "--steps", "4e-3,2e-3"]
            a = self.study(name, *words, "--reference", "radau")
            b = self.study(name, *words, "--reference", "explicit")
            for k in range(2):
                for component, x in a["levels"][k]["errors"].items():
                    y = b["levels"][k]["errors"][component]
                    stated = sum(s["reference"]["errors"][component] for s in (a, b))
                    slack = 1e-12 * max(1, a["scale"][component])  # round-off
                    self.assertLessEqual(abs(x - y), 2 * stated + slack, (name, component))

    def test_reference_with_tolerances(self):
        words = ["--tolerances", "1e-2,1e-3,1e-4", "--reference", "explicit"]
        said = self.study("heavy_top", *words)
        self.assertEqual(said["verdict"], "second order", said["reason"])
        self.assertEqual(said["reference"]["tolerance"], 1e-11)
        self.assertAlmostEqual(said["orders"]["position"], 2, delta=0.1)

    def test_reference_that_fails(self):
        model = """\
galpha: 1
bodies: {block: {type: point-mass, mass: 1, position: [1, 0, 0]}}
forces: {spring: {type: force, on: block, force: ["-1e12*block.position.x", 0, 0]}}
simulate: {t_end: 10, step: 1e-2}
"""
        self.write("stiff.yaml", model)
        words = ["converge", "stiff.yaml", "--levels", "2", "--reference", "explicit"]
        done = self.run_it(*words, code=1)
        self.assertIn("the reference by explicit failed: ", done.err)

    def test_table_and_picture(self):
        done = self.run_it("converge", example("trammel"), "-o", "t.svg")
        self.assertIn("verdict: second order", done.out)
        self.assertIn("reference    soi2", done.out)
        done = self.run_it("converge", example("trammel"), "--reference", "radau")
        self.assertIn("reference    radau, tolerance 1e-10; last column: its own error", done.out)
        with open(self.path("t.svg")) as file:
            self.assertIn("trammel", file.read())
        self.run_it("converge", example("trammel"), "-o", "t.png")
        with open(self.path("t.png"), "rb") as file:
            self.assertEqual(file.read(4), b"\x89PNG")

    def test_json_has_the_numbers_of_the_table(self):
        words = ["--set", "simulate.t_end=1", "--levels", "3"]
        out = self.run_it("converge", example("simple_pendulum"), *words).out
        said = self.study("simple_pendulum", *words)
        rows = {}
        for line in out.splitlines():
            found = re.match(r"  (\w+), (\S+(?: \S+)*)  +(.*)", line)
            if found:
                rows[found.group(1)] = found.group(3).replace("(", "").replace(")", "").split()
        head = next(line for line in out.splitlines() if "largest errors" in line)
        steps = [float(x) for x in re.findall(r"[\d.e-]+(?= order)", head)]
        for step, level in zip(steps, said["levels"], strict=True):
            self.assertAlmostEqual(step, level["step"], delta=0.005 * step)
        self.assertEqual(list(rows), list(said["orders"]))
        for component, words in rows.items():
            errors = [level["errors"][component] for level in said["levels"]]
            orders = [level["orders"][component] for level in said["levels"]]
            used = [component in level["used"] for level in said["levels"]]
            want = []
            for k, (error, order) in enumerate(zip(errors, orders)):
                shown = k and used[k - 1] and used[k] and order is not None
                want += [f"{error:.2e}"] + ([f"{order:.2f}"] if shown else [])
            last = said["orders"][component]
            want += [f"{last:.2f}" if last is not None else "-"]
            want += [f"{said['reference']['errors'][component]:.1e}"]
            self.assertEqual(words, want, component)
            row = next(line for line in out.splitlines() if line.startswith(f"  {component},"))
            self.assertEqual(row.count("("), used.count(False), row)
        self.assertIn("verdict: " + said["verdict"], out)
        self.assertEqual(" ".join(out.partition("verdict: ")[2].split("\n", 1)[1].split()),
                         " ".join(said["reason"].split()))

    def test_mistakes(self):
        model = example("trammel")
        for words in (
            ["--steps", "1e-2"],
            ["--steps", "1e-2,x"],
            ["--steps", "1e-2,-1"],
            ["--steps", "9,1"],
            ["--steps", "0.1,0.01", "--tolerances", "1e-3,1e-4"],
            ["--tolerances", "2,1e-3"],
            ["--levels", "1"],
            ["--formulation", "index4"],
            ["--reference", "auto"],
            ["--reference", ""],
            ["-o", "t.jpg"],
        ):
            with self.subTest(words=words):
                done = self.run_it("converge", model, *words, code=2)
                self.assertTrue(done.err)
        done = self.run_it("converge", model, "--reference", "radua", code=2)
        self.assertIn("did you mean 'radau'?", done.err)
        done = self.run_it("converge", model, "--reference", "index2", code=2)
        self.assertIn("expected radau or explicit", done.err)
        self.run_it("converge", "none.yaml", code=3)
        self.run_it("converge", model, "-o", "no/such/folder/t.svg", code=3)


def add_examples():
    for name in ("heavy_top", "four_bar_spatial", "rolling_disc") if FEW else MODELS:
        setattr(
            Converge, "test_" + name, lambda self, name=name: self.check_second_order(name)
        )


add_examples()

if __name__ == "__main__":
    support.main()
