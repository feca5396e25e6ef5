#!/usr/bin/python3
"""The net catches mistakes: each property, with a mistake on one side only, finds it.

    test_bites.py PROGRAM

The program is right; what it is given, or what it answers, is tampered with. A mistake must be
found in most of the mechanisms it can show in: a spring between bodies that are held shows nowhere.
"""

import copy
import os
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate
import properties
import shrink

MODELS = 4  # for each mistake
MOST = 3  # of them must be caught


class Tampered(properties.Net):
    """Gives the program another model than was asked for, or changes its answer."""

    def __init__(self, program, scratch, base, spoil=None, distort=None, when=lambda base, model, settings: True):
        super().__init__(program, scratch)
        self.base, self.spoil, self.distort, self.when = base, spoil, distort, when

    def run(self, model, table=False, **settings):
        if not self.when(self.base, model, settings):
            return super().run(model, table, **settings)
        model = {**copy.deepcopy(model), "simulate": {**model["simulate"], **settings}}
        result = super().run(self.spoil(model) if self.spoil else model, table)
        return self.distort(copy.deepcopy(result)) if self.distort else result


# Mistakes


def heavier(model):
    """Every inertia off by 1 %."""
    for b in model["bodies"].values():
        b["mass"] *= 1.01
        if "inertia" in b:
            b["inertia"] = [1.01 * x for x in b["inertia"]] if isinstance(b["inertia"], list) else 1.01 * b["inertia"]
    return model


def one_heavier(model):
    """The first body's inertia off by 1 %: all of it would not show in free motion."""
    name = min(model["bodies"])
    rest = {n: b for n, b in model["bodies"].items() if n != name}
    first = heavier({"bodies": {name: model["bodies"][name]}})["bodies"][name]
    model["bodies"] = {n: first if n == name else rest[n] for n in model["bodies"]}
    return model


def spring_sign(model):
    """Stiffness of the springs of wrong sign."""
    for f in model.get("forces", {}).values():
        if f["type"] == "spring-damper":
            f["stiffness"] = -f["stiffness"]
    return model


def gravity_off(model):
    model["gravity"] = [1.01 * g for g in model["gravity"]]
    return model


def axis_off(model):
    """Axes of hinges off by half a degree."""
    for j in model.get("joints", {}).values():
        if "axis" in j and j["type"] in ("revolute", "prismatic", "cylindrical", "screw"):
            j["axis"][0] += 0.01
    return model


def wrong_force(result):
    """Reactions with 1 % too much."""
    for name in result.get("table", {}):
        if ".force." in name:
            result["table"][name] = 1.01 * result["table"][name]
    return result


def leaking(result):
    """A balance that misses a thousandth whatever the steps."""
    result["energy"]["drift_max"] += 1e-3 * result["energy"]["scale"]
    return result


def kicked(model):
    b = model["bodies"][min(model["bodies"])]
    b["velocity"][0] += 1e-3 * max(abs(c) for c in b["velocity"])
    return model


def loose(model):
    """Errors a thousand times as large as allowed."""
    model["simulate"]["tolerance"] = {k: 1e3 * v for k, v in model["simulate"]["tolerance"].items()}
    return model


# Where they are made

always = lambda base, model, settings: True
other_model = lambda base, model, settings: (model["bodies"] != base["bodies"] and "formulation" not in settings)
other_way = lambda base, model, settings: bool(set(settings) - {"step"})
at_1e_6 = lambda base, model, settings: settings.get("tolerance", {}).get("relative") == 1e-6
on_the_way_back = lambda base, model, settings: model["bodies"] != base["bodies"] and "formulation" in settings

with_gravity = lambda m: any(m.get("gravity", [0])) and m.get("joints")
with_spring = lambda m: any(f["type"] == "spring-damper" for f in m.get("forces", {}).values())
with_axis = lambda m: any("axis" in j and j["type"] in ("revolute", "cylindrical") for j in m.get("joints", {}).values())
with_two = lambda m: len(m["bodies"]) >= 2 and with_gravity(m)

CASES = [
    # property, families, which models, mistake, distortion, when
    ("accelerations_are_right", "tree", with_spring, spring_sign, None, always),
    ("accelerations_are_right", "loop", with_two, one_heavier, None, always),
    ("accelerations_are_right", "driven", with_axis, axis_off, None, always),
    ("accelerations_are_right", "friction", with_gravity, gravity_off, None, always),
    ("newton_and_euler", "redundant", with_gravity, None, wrong_force, always),
    ("newton_and_euler", "tree", with_gravity, one_heavier, None, always),
    ("ways_agree", "planar", with_gravity, gravity_off, None, other_way),
    ("solvers_agree", "tree", with_gravity, gravity_off, None, other_way),
    ("units_do_not_matter", "loop", with_gravity, gravity_off, None, other_model),
    ("names_do_not_matter", "tree", with_gravity, kicked, None, lambda b, m, s: any(n.startswith("n") for n in m["bodies"])),
    ("world_may_turn", "tree", with_gravity, kicked, None, lambda b, m, s: all("matrix" in x.get("rotation", {"matrix": 0}) for x in m["bodies"].values())),
    ("planar_is_spatial", "planar", with_gravity, gravity_off, None, lambda b, m, s: "dimension" not in m),
    ("energy_balances", "tree", with_gravity, None, leaking, always),
    ("tolerance_is_met", "tree", with_gravity, loose, None, at_1e_6),
    ("trajectory_is_right", "tree", with_gravity, gravity_off, None, always),
    ("time_may_run_backwards", "tree", with_gravity, gravity_off, None, on_the_way_back),
]


def caught(program, name, model, spoil, distort, when):
    """True, False, or None where the property says nothing without the mistake either."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            properties.ALL[name](properties.Net(program, scratch), model)
        except (properties.Inapplicable, properties.Excluded):
            return None
        try:
            properties.ALL[name](Tampered(program, scratch, model, spoil, distort, when), model)
        except properties.Violation:
            return True
        except (properties.Inapplicable, properties.Excluded):
            return None
    return False


def test_shrinking(program):
    """A fault that needs one spring and one body is shrunk to them."""
    model = generate.mechanism("shrink-2", "tree")
    model.setdefault("forces", {})["bad"] = {"type": "spring-damper", "between": [[3, 0, 0], min(model["bodies"])], "stiffness": 5, "length": 1}
    faulty = lambda m: "bad" in m.get("forces", {})
    small = shrink.shrink(model, faulty, 20)
    return len(small["bodies"]) == 1 and list(small["forces"]) == ["bad"] and not small.get("joints")


def main():
    program, good = sys.argv[1], True
    for name, family, suitable, spoil, distort, when in CASES:
        found, tried, seed = 0, 0, 0
        while tried < MODELS and seed < 80:
            model = generate.mechanism(f"bites-{seed}", family)
            seed += 1
            if suitable(model):
                verdict = caught(program, name, model, spoil, distort, when)
                tried += verdict is not None
                found += verdict is True
        mistake = (spoil or distort).__name__
        passed = tried == MODELS and found >= MOST
        good = good and passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}: {mistake} found in {found} of {tried}", flush=True)
    shrinks = test_shrinking(program)
    print("ok   shrinking" if shrinks else "FAIL shrinking: the model is not small")
    return 0 if good and shrinks else 1


if __name__ == "__main__":
    sys.exit(main())
