#!/usr/bin/python3
"""galpha spectrum: published numbers, other methods, mistakes.

    test_spectrum.py PROGRAM
"""
import math

import support


class Spectrum(support.Case):
    def spectrum(self, *words, **options):
        return self.json_of("spectrum", *words, "--json", **options)

    def point(self, *words):
        (point,) = self.spectrum(*words)["points"]
        return point

    def test_published_points(self):
        # to the digits printed
        for rho, radius, elongation, damping in [
            ("0", 0.96970817, 0.12321, 0.05499),
            ("0.6", 0.99898339, 0.04060, 0.001685),
            ("1", 1, 0.03207, 0),
        ]:
            p = self.point("--rho-inf", rho, "--ratio", "0.1")
            self.assertEqual(p["ratio"], 0.1)
            self.assertAlmostEqual(p["spectral_radius"], radius, delta=5e-9)
            self.assertAlmostEqual(p["period_elongation"], elongation, delta=5e-6)
            self.assertAlmostEqual(p["damping_ratio"], damping, delta=5e-6 if rho == "0" else 5e-7)

    def test_start_amplification(self):
        for rho, norm, step in [("0.9", 34.265, 14), ("0.6", 7.386, 3)]:
            said = self.spectrum("--rho-inf", rho)["start_amplification"]
            self.assertAlmostEqual(said["index3"]["max_norm"], norm, delta=5e-4)
            self.assertEqual(said["index3"]["at_step"], step)
            self.assertLess(said["index2"]["max_norm"], 1)
            self.assertEqual(said["index2"]["at_step"], 1)
        unbounded = self.spectrum("--rho-inf", "1")["start_amplification"]["index3"]
        self.assertIsNone(unbounded["max_norm"])
        self.assertIsNone(unbounded["at_step"])

    def test_json_has_the_numbers_of_the_table(self):
        for words in (["--rho-inf", "0.6"], ["--method", "hht", "--alpha=-0.1", "--damping", "0.02"]):
            words += ["--ratio", "0.01,0.3,5"]
            out = self.run_it("spectrum", *words).out
            said = self.spectrum(*words)
            self.assertEqual(out.splitlines()[0], said["method"])
            for name in "alpha_m", "alpha_f", "beta", "gamma":
                self.assertIn(f"{name} = {said[name]:.10g}", out)
            for title, key in (("zero-stable", "zero_stable"),
                               ("unconditionally stable", "unconditionally_stable")):
                self.assertRegex(out, title + " +" + ("yes" if said[key] else "no"))
            self.assertIn(f"spectral radius {said['radius_at_infinity']:.6g}", out)
            for name, growth in said["start_amplification"].items():
                self.assertRegex(out, f"{name} +{growth['max_norm']:.5g} at step {growth['at_step']}\n")
            rows = [line.split() for line in out.partition("h/T")[2].splitlines()[1:]]
            self.assertEqual(len(rows), len(said["points"]))
            for row, p in zip(rows, said["points"]):
                self.assertEqual(float(row[0]), p["ratio"])
                for text, key in zip(row[1:], ("spectral_radius", "period_elongation", "damping_ratio")):
                    self.assertAlmostEqual(float(text), p[key], delta=1e-5 * abs(p[key]))

    def test_properties(self):
        said = self.spectrum("--rho-inf", "0.6")
        self.assertIs(said["order_condition"], True)
        self.assertIs(said["zero_stable"], True)
        self.assertIs(said["stable_at_infinity"], True)
        self.assertAlmostEqual(said["radius_at_infinity"], 0.6, delta=1e-7)
        self.assertEqual(len(said["points"]), 13)
        self.assertIs(self.spectrum("--rho-inf", "1")["stable_at_infinity"], False)
        own = ["--alpha-m", "0.6", "--alpha-f", "0.1", "--beta=0.3", "--gamma=0.6"]
        said = self.spectrum(*own)
        self.assertIs(said["zero_stable"], False)
        self.assertIs(said["order_condition"], False)
        self.assertAlmostEqual(said["order_defect"], 0.6 - (0.5 - 0.5), delta=1e-15)

    def test_families(self):
        # Newmark with beta 1/4, gamma 1/2 is rho_inf = 1
        newmark = self.point("--method", "newmark", "--ratio", "0.3")
        same = self.point("--rho-inf", "1", "--ratio", "0.3")
        for key in ["spectral_radius", "period_elongation", "damping_ratio"]:
            self.assertAlmostEqual(newmark[key], same[key], delta=1e-14)
        # linear acceleration, stable up to h omega = 2 sqrt(3): beyond, two real eigenvalues
        limit = math.sqrt(3) / math.pi
        words = ["--method", "newmark", "--beta", str(1 / 6), "--gamma", "0.5", "--ratio"]
        self.assertAlmostEqual(self.point(*words, str(0.99 * limit))["spectral_radius"], 1, 12)
        beyond = self.point(*words, str(1.01 * limit))
        self.assertGreater(beyond["spectral_radius"], 1.1)
        self.assertIsNone(beyond["period_elongation"])
        self.assertIn("-\n", self.run_it("spectrum", *words, str(1.01 * limit)).out)
        # HHT: (1 + alpha)/(1 - alpha)
        said = self.spectrum("--method=hht", "--alpha", "-0.1", "--ratio", "1e6")
        self.assertAlmostEqual(said["points"][0]["spectral_radius"], 0.9 / 1.1, delta=1e-4)
        said = self.spectrum("--method", "wbz", "--rho-inf", "0.5")
        self.assertAlmostEqual(said["radius_at_infinity"], 0.5, delta=1e-7)
        # the four numbers of rho_inf = 1/2
        own = ["--alpha-m=0", f"--alpha-f={1 / 3}", f"--beta={4 / 9}", f"--gamma={5 / 6}"]
        one, other = self.point(*own, "--ratio=0.2"), self.point("--rho-inf=0.5", "--ratio=0.2")
        self.assertAlmostEqual(one["spectral_radius"], other["spectral_radius"], delta=1e-14)

    def test_several(self):
        said = self.spectrum("--rho-inf", "0,0.5,1", "--ratio", "0.1,0.2")
        self.assertEqual(len(said["methods"]), 3)
        self.assertEqual([len(m["points"]) for m in said["methods"]], [2, 2, 2])
        self.assertIn("rho_inf = 0.5", said["methods"][1]["method"])
        self.assertEqual(self.run_it("spectrum", "--rho-inf", "0,0.5,1").out.count("h/T"), 3)

    def test_damping(self):
        p = self.point("--rho-inf", "0.5", "--ratio", "1e-4", "--damping", "0.2")
        exact = 0.2 / math.sqrt(1 - 0.04)
        self.assertAlmostEqual(p["damping_ratio"], exact, delta=1e-6)
        self.assertAlmostEqual(p["algorithmic_damping"], 0, delta=1e-6)
        self.assertAlmostEqual(p["spectral_radius"], math.exp(-2e-4 * math.pi * 0.2), delta=1e-9)
        self.assertIsNone(self.point("--ratio=0.1", "--damping=1.5")["damping_ratio"])

    def test_steps(self):
        said = self.spectrum("--rho-inf", "0.9", "--ratio", "0.1", "--steps", "1,2,1,.5")
        steps = said["variable_steps"]
        self.assertEqual(steps["steps"], [1, 2, 1, 0.5])
        errors = {(e["formulation"], e["change"]): e for e in steps["errors"]}
        self.assertEqual(len(errors), 6)
        # (14a) alone does not help index 3; it is all that index 2 needs
        self.assertGreater(errors["index3", "adjust"]["lambda_error"], 10)
        self.assertEqual(errors["index3", "reset"]["lambda_error"], 0)
        self.assertLess(errors["index3", "reset"]["max_norm"], 1)
        self.assertGreater(errors["index2", "none"]["lambda_error"], 0.01)
        self.assertEqual(errors["index2", "adjust"]["lambda_error"], 0)
        (point,) = steps["points"]
        self.assertLess(point["none"], point["adjust"])
        self.assertLess(point["adjust"], 1)
        # one step is a constant step
        said = self.spectrum("--ratio", "0.1", "--steps", "3")
        self.assertAlmostEqual(
            said["variable_steps"]["points"][0]["none"], said["points"][0]["spectral_radius"], 12
        )

    def test_table(self):
        out = self.run_it("spectrum", "--rho-inf", "0.6", "--ratio", "0.1", "--steps", "1,2").out
        for text in ["0.99898339", "0.0406049", "0.00168454", "7.3858 at step 3", "reset"]:
            self.assertIn(text, out)
        self.assertIn("without bound", self.run_it("spectrum", "--rho-inf", "1").out)
        self.assertIn("order                    1", self.run_it(
            "spectrum", "--method", "newmark", "--gamma", "0.6", "--beta", "0.31").out)

    def test_figures(self):
        self.run_it("spectrum", "--rho-inf", "0,0.5,1", "-o", "all.svg")
        with open(self.path("all.svg")) as file:
            text = file.read()
        self.assertIn("<svg", text)
        for word in ["spectral radius", "period elongation", "damping ratio", "h/T"]:
            self.assertIn(word, text)
        # real eigenvalues only, beyond some step: gaps
        words = ["--method", "newmark", "--beta", "0.1", "--ratio", "0.01,10", "--json"]
        self.json_of("spectrum", *words, "-o", "gaps.svg")
        self.assertEqual(self.files(), ["all.svg", "gaps.svg"])
        self.run_it("spectrum", "-o", "no/such/folder.svg", code=3)
        self.run_it("spectrum", "-o", "picture.gif", code=2)

    def test_mistakes(self):
        for words, text in [
            (["--rho-inf", "1.5"], "rho_inf"),
            (["--rho-inf", "0.5,-1"], "rho_inf"),
            (["--rho-inf", "x"], "'x' is not a number"),
            (["--rho-inf", ""], "is not a number"),
            (["--rho-inf", "0.5,"], "is not a number"),
            (["--rho-inf", "nan"], "'nan' is not a number"),
            (["--rho-inf", ",".join(["0.5"] * 30)], "more than"),
            (["--method", "newmak"], "did you mean 'newmark'"),
            (["--method", "euler"], "no method 'euler'"),
            (["--method", "hht", "--alpha", "0.1"], "alpha"),
            (["--method", "hht", "--rho-inf", "0.5"], "--rho-inf is not a parameter of hht"),
            (["--beta", "0.3"], "--beta is not a parameter of generalized-alpha"),
            (["--method", "newmark", "--beta", "0"], "beta"),
            (["--alpha-m", "0"], "--alpha-f is missing"),
            (["--alpha-m=0", "--alpha-f=0", "--beta=1", "--gamma=1", "--rho-inf=1"], "--rho-inf"),
            (["--alpha-m=1", "--alpha-f=0", "--beta=1", "--gamma=1"], "below 1"),
            (["--alpha-m=0", "--alpha-f=0", "--beta=0", "--gamma=1"], "positive"),
            (["--ratio", "0"], "h/T"),
            (["--ratio", "0.1,-1"], "h/T"),
            (["--damping", "-1"], "damping"),
            (["--damping", "0.1,0.2"], "more than 1 number"),
            (["--steps", "1,0"], "step"),
            (["--steps", "1,1e7"], "million"),
            (["extra"], "unexpected argument"),
            (["--rho-in"], "--rho-inf"),
        ]:
            said = self.run_it("spectrum", *words, code=2)
            self.assertIn(text, said.err, words)
            self.assertEqual(said.out, "", words)
        said = self.spectrum("--rho-inf", "2", code=2)
        self.assertEqual(said["status"], "invalid")
        self.assertIn("rho_inf", said["message"])


support.main()
