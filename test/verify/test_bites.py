#!/usr/bin/python3
"""The catalogue and `check` notice mistakes in the method.

    test_bites.py PROGRAM EXAMPLES

PROGRAM makes the mistake that GALPHA_FAULT names.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import support

EXAMPLES = os.path.abspath(sys.argv.pop(2))

# Those that take little time and, together, use all of the method.
PROBLEMS = [
    "abc14-pendulum",
    "abc14-heavy-top-start",
    "dym-equals-ab07",
    "dym-cayley",
    "jn08-test-problem",
    "jn08-pendulum",
    "own-reduced-soi2",
    "own-round-off",
]


class Faults(support.Case):
    def with_fault(self, fault, *words, code=0):
        environment = {k: v for k, v in os.environ.items() if k != "GALPHA_FAULT"}
        if fault:
            environment["GALPHA_FAULT"] = fault
        return self.json_of(*words, "--json", code=code, env=environment)


class Catalogue(Faults):
    def verify(self, fault, code):
        """How many numbers fail, by problem."""
        said = self.with_fault(fault, "verify", "--quick", *PROBLEMS, code=code)
        failed = collections.Counter(r["problem"] for r in said["results"] if not r["pass"])
        self.assertEqual(said["failed"], sum(failed.values()))
        self.assertEqual({r["problem"] for r in said["results"]}, set(PROBLEMS))
        return failed

    def assert_noticed(self, fault, *problems):
        failed = self.verify(fault, code=1)
        for problem in problems:
            self.assertGreater(failed[problem], 2, f"{problem} with {fault}: {failed}")
        return failed

    def test_without_mistake(self):
        self.assertFalse(self.verify(None, code=0))

    def test_unknown_mistake_is_none(self):
        # what the other tests see is the work of the fault, not of the variable
        self.assertFalse(self.verify("none", code=0))

    def test_beta_off_by_one_percent(self):
        self.assert_noticed(
            "beta", "abc14-pendulum", "abc14-heavy-top-start", "dym-equals-ab07",
            "jn08-test-problem", "jn08-pendulum", "own-reduced-soi2"
        )

    def test_bracket_of_the_start_with_the_wrong_sign(self):
        failed = self.assert_noticed("bracket", "abc14-heavy-top-start", "dym-cayley")
        # [v, v'] is zero where there are no rotations in space
        for problem in "abc14-pendulum", "jn08-test-problem", "jn08-pendulum":
            self.assertEqual(failed[problem], 0, failed)

    def test_no_adjustment_at_step_changes(self):
        failed = self.assert_noticed(
            "adjustment", "jn08-test-problem", "jn08-pendulum", "own-reduced-soi2"
        )
        # constant steps only
        for problem in "abc14-pendulum", "abc14-heavy-top-start", "dym-equals-ab07":
            self.assertEqual(failed[problem], 0, failed)


class Tangent(Faults):
    """A wrong tangent leaves the results right: `check` reports it, and Newton is slow."""

    model = os.path.join(EXAMPLES, "slider_crank.yaml")

    def test_check_reports_it(self):
        # difference quotients are good to about 1e-7; the mistake is of the size of the tangent
        self.assertLess(self.with_fault(None, "check", self.model)["tangent_error"], 1e-5)
        said = self.with_fault("tangent", "check", self.model)
        self.assertGreater(said["tangent_error"], 1e-3)
        self.assertEqual(said["tangent_worst"], "stiffness matrix K")

    def test_newton_is_slower_and_the_results_are_the_same(self):
        # the tangent's share of the matrix is h^2 K: small steps hide it, large ones fail
        words = ["run", self.model, "--no-results", "--set", "simulate.step=5e-3"]
        right, wrong = self.with_fault(None, *words), self.with_fault("tangent", *words)
        self.assertEqual(right["steps"], wrong["steps"])
        self.assertGreater(wrong["newton_iterations"], 1.2 * right["newton_iterations"])
        self.assertGreater(len(right["final"]), 3)
        for name, value in right["final"].items():
            pairs = zip(value, wrong["final"][name]) if isinstance(value, list) else [
                (value, wrong["final"][name])
            ]
            for a, b in pairs:
                self.assertAlmostEqual(a, b, delta=1e-6 * max(1, abs(a)), msg=name)


if __name__ == "__main__":
    support.main()
