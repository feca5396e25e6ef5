#!/usr/bin/python3
"""What a user meets: messages, results, what info shows, and what balances say.

    test_use.py PROGRAM EXAMPLES
"""
import csv
import json
import os
import signal
import subprocess
import sys
import threading

import support

EXAMPLES = os.path.abspath(sys.argv.pop(2))

PENDULUM = """\
galpha: 1
name: pendulum
gravity: [0, 0, -9.81]
parameters: {length: 1}
bodies:
  bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [length, 0, 0], points: {tip: [0.2, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 1, step: 1e-3}
output: {every: 0.01}
"""

# four hinges about the world's y: three constraints too many
LOOP = """\
galpha: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.5]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 1]}
  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2, 0, 0.5]}
joints:
  p: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
  q: {type: revolute, between: [a, b], at: [0, 0, 1], axis: [0, 1, 0]}
  r: {type: revolute, between: [b, c], at: [2, 0, 1], axis: [0, 1, 0]}
  s: {type: revolute, between: [c, ground], at: [2, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 0.1, step: 1e-2}
"""


class Case(support.Case):
    def setUp(self):
        super().setUp()
        self.write("pendulum.yaml", PENDULUM)

    def summary(self, model, *words):
        return self.json_of("run", model, "--json", "--no-results", *words, timeout=300)


class Messages(Case):
    def test_no_simulate_section(self):
        self.write("short.yaml", PENDULUM[: PENDULUM.index("simulate")])
        for words in ([], ["--no-results"], ["-o", "x.h5"], ["--csv", "-"]):
            said = self.run_it("run", "short.yaml", *words, code=2)
            self.assertIn("add `simulate: {t_end: ...}`", said.err)
            self.assertNotIn("nan", said.err)
        said = self.run_it("converge", "short.yaml", code=2)
        self.assertIn("add `simulate: {t_end: ...}`", said.err)
        self.assertNotIn("nan", said.err)
        self.assertIn("a run needs an end time", self.run_it("check", "short.yaml").err)
        self.run_it("info", "short.yaml")
        self.run_it("view", "short.yaml")

    def test_name_of_the_file(self):
        """A model without a name has that of its file, without the folder."""
        os.mkdir(self.path("sub"))
        self.write("sub/bare.yaml", PENDULUM.replace("name: pendulum\n", ""))
        self.assertEqual(self.summary("sub/bare.yaml")["model"], "bare.yaml")
        self.assertTrue(self.run_it("check", self.path("sub/bare.yaml")).out.startswith("bare.yaml\n"))

    def test_channel_named_twice(self):
        for names in ("hinge.force, hinge.force", "hinge, hinge.force", "bob.position, bob",
                      "'*.force', hinge.force", "energy, energy.total"):
            said = self.summary("pendulum.yaml", "--set", f"output.channels=[{names}]")
            self.assertEqual(len(said["final"]), len(set(said["final"])))

    def test_default_channels_and_more(self):
        usual = self.summary("pendulum.yaml")["final"]
        said = self.summary("pendulum.yaml", "--set",
                            "output.channels=[default, bob.tip.position, energy]")["final"]
        self.assertEqual(list(said), list(usual) + ["bob.tip.position"])
        self.run_it("run", "pendulum.yaml", "-q")
        said = self.run_it("plot", "pendulum.h5", "bob.velocity", code=2).err
        self.assertIn("`[default, bob.velocity]`", said)

    def test_null_removes(self):
        words = ["--set", "simulate.step=null", "--set", "simulate.tolerance=1e-5"]
        self.assertNotEqual(self.summary("pendulum.yaml", *words)["steps"]["accepted"], 1000)
        self.run_it("run", "pendulum.yaml", *words[2:], code=2)  # both are too many
        self.summary("pendulum.yaml", "--set", "simulate.tolerance=null")  # is not there: fine
        self.summary("pendulum.yaml", "--set", "joints=null")
        said = self.run_it("info", "pendulum.yaml", "--set", "joints.hinge=null").out
        self.assertNotIn("hinge", said)
        said = self.run_it("run", "pendulum.yaml", "--set", "simulate.stepp=null", code=2).err
        self.assertIn("did you mean `step`?", said)
        self.write("list.yaml", PENDULUM.replace("every: 0.01", "channels: [bob, energy]"))
        said = self.summary("list.yaml", "--set", "output.channels[0]=null")
        self.assertTrue(all(name.startswith("energy") for name in said["final"]))

    def test_advice_can_be_followed(self):
        """A step far too large for a stiff spring that hardens: what is advised is accepted."""
        self.write("stiff.yaml", PENDULUM + "forces:\n  f: {type: force, on: bob, force: "
                   '[0, 0, "-1e9*bob.position.z^3 + sqrt(0.05 - t)"]}\n')
        said = self.run_it("run", "stiff.yaml", "-q", code=1).err
        self.assertNotIn("--set simulate.tolerance", said.replace("simulate.step=null --set ", ""))
        self.write("large.yaml", PENDULUM.replace("t_end: 1, step: 1e-3",
                                                  "t_end: 6, step: 0.3, cut_steps: false"))
        large = ["large.yaml", "-q", "--no-results", "--set", "bodies.bob.angular_velocity=[0, 80, 0]"]
        said = self.run_it("run", *large, code=1).err
        self.assertIn("--set simulate.step=null --set simulate.tolerance=1e-6", said)
        self.run_it("run", *large, "--set", "simulate.step=null", "--set", "simulate.tolerance=1e-6")

    def test_force_that_is_not_a_number(self):
        for law in ("sqrt(0.05 - t) - bob.position.z", "log(0.5 + bob.position.z)",
                    "1/(bob.position.z + 0.3) + acos(1 - 3*bob.position.z)"):
            self.write("bad.yaml", PENDULUM + "forces:\n  f: {type: force, on: bob, force: "
                       f'[0, 0, "{law}"]' + "}\n")
            said = self.run_it("run", "bad.yaml", "-q", code=1).err
            self.assertIn("the force on body bob is not a finite number", said)
            self.assertNotIn("galpha check", said)  # which shows nothing about it

    def test_failing_check_does_not_advise_check(self):
        self.write("apart.yaml", PENDULUM.replace(
            "simulate", "  bar: {type: distance, between: [[9, 0, 0], bob], length: 1}\nsimulate"))
        said = self.run_it("check", "apart.yaml", code=1)
        self.assertNotIn("galpha check", said.err)
        self.assertIn("galpha view apart.yaml shows the model at the start", said.err)
        said = self.run_it("run", "apart.yaml", code=1)
        self.assertNotIn("galpha check", said.err)
        self.assertIn("galpha view apart.yaml shows the model at the start", said.err)
        self.assertNotIn("step 0 s", said.err)
        self.assertEqual(said.out.count("\n"), 1, said.out)  # no zeros of a run that did not start
        said = self.run_it("view", "apart.yaml", code=1)
        self.assertNotIn("galpha view", said.err)

    def test_open_loop_with_a_motor(self):
        """Links of 1, 3 and 1 m cannot span 6 m, whoever drives them."""
        four_bar = """
            galpha: 1
            dimension: 2
            bodies:
              crank: {mass: 1, inertia: 0.1, position: [0, 0.5], points: {a: [0, -0.5], b: [0, 0.5]}}
              rod: {mass: 1, inertia: 1, position: [1.5, 1], points: {b: [-1.5, 0], c: [1.5, 0]}}
              rocker: {mass: 1, inertia: 0.1, position: [3, 0.5], points: {c: [0, 0.5], d: [0, -0.5]}}
            joints:
              A: {type: revolute, between: [ground, crank.a]}
              B: {type: revolute, between: [crank.b, rod.b]}
              C: {type: revolute, between: [rod.c, rocker.c]}
              D: {type: revolute, between: [[6, 0], rocker.d]}
            simulate: {t_end: 1}
            """
        for motion in ("", "motions: {motor: {joint: A, velocity: 1}}",
                       "motions: {motor: {joint: A, value: 2*t}}"):
            self.write("open.yaml", four_bar.rstrip() + "\n" + 12 * " " + motion + "\n")
            for command in ("check", "run"):
                said = self.run_it(command, "open.yaml", code=1).err
                self.assertIn("they cannot all be closed; as given, the sides of D are 3 m apart",
                              said)
                self.assertNotIn("positions agree", said)

    def test_widest_gap(self):
        """The joint that is named first need not be the one that is far away."""
        self.write("far.yaml", """
            galpha: 1
            bodies:
              crank: {mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.25, 0, 0], points: {b: [0.25, 0, 0]}}
              rod: {mass: 1, inertia: [0.01, 0.1, 0.1], position: [1, 0, 0.2], points: {b: [-0.5, 0, 0], c: [0.5, 0, 0]}}
            joints:
              A: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}
              B: {type: revolute, between: [crank.b, rod.b], axis: [0, 1, 0]}
              C: {type: distance, between: [rod.c, [5, 0, 0]], length: 1}
            simulate: {t_end: 1}
            """)
        self.assertIn("the sides of B are 0.2 m apart, those of C 2.51 m",
                      self.run_it("check", "far.yaml", code=1).err)

    def test_assembly_behind_a_gear(self):
        """The crank has to be turned by 20 degrees, so its motor by three turns."""
        self.write("geared.yaml", """
            galpha: 1
            dimension: 2
            bodies:
              rotor: {mass: 0.3, inertia: 2e-5, position: [0, -0.1]}
              crank: {mass: 0.2, inertia: 1e-4, points: {pin: [0.1, 0]}}
            joints:
              shaft: {type: revolute, between: [ground, rotor]}
              bearing: {type: revolute, between: [ground, crank], at: [0, 0]}
              worm: {type: gear, joints: [shaft, bearing], ratio: 1/60}
              pin: {type: point-on-line, between: [[0, 0], crank.pin], axis: [cos(20 deg), sin(20 deg)]}
            simulate: {t_end: 1}
            """)
        said = self.run_it("check", "geared.yaml", code=1).err
        self.assertIn("they cannot all be closed within half a turn of each body", said)
        self.assertIn("try: a `rotation` of the geared bodies", said)
        self.run_it("check", "geared.yaml", "--set", "bodies.crank.rotation=20 deg")

    def test_directions_are_those_of_the_world(self):
        self.write("loop.yaml", LOOP)
        said = self.json_of("check", "loop.yaml", "--json")
        self.assertEqual(
            sorted(row["direction"] for row in said["redundant"]),
            ["rotation about world x", "rotation about world z", "translation along world y"],
        )
        self.write("tilted.yaml", LOOP.replace("axis: [0, 1, 0]", "axis: [3, 4, 0]"))
        said = self.run_it("check", "tilted.yaml").out
        self.assertIn("along world direction (0.6, 0.8, 0)", said)

    def test_one_line_for_all_redundancies(self):
        self.write("loop.yaml", LOOP)
        said = self.run_it("run", "loop.yaml", "--no-results").err
        self.assertEqual(said.count("warning"), 1)
        self.assertIn("3 constraints are redundant: joints.s", said)
        self.assertEqual(len(self.summary("loop.yaml")["warnings"]), 1)

    def test_round_off_is_not_shown(self):
        self.write("loop.yaml", LOOP)
        for said in (self.run_it("check", "loop.yaml").out,
                     self.run_it("run", "loop.yaml").out, self.run_it("info", "loop.h5").out):
            rows = [line for line in said.splitlines() if "residual" not in line
                    and "Jacobians" not in line and "drift" not in line]
            self.assertNotRegex("\n".join(rows), r"\de-(1[3-9]|[2-9]\d)\b")
        # accelerations that balanced forces leave
        self.write("jack.yaml", JACK)
        said = self.run_it("check", "jack.yaml").out
        rows = said[said.index("accelerations"):said.index("reactions at")].splitlines()[1:]
        self.assertEqual(len(rows), 16)
        for row in rows:
            self.assertRegex(row, r"acceleration +0 +0 +0  ")
        # moved, but not turned
        self.write("moved.yaml", PENDULUM.replace(
            "{type: revolute, between: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}",
            "{type: distance, between: [[0, 0, 0], bob], length: 2}"))
        said = self.run_it("check", "moved.yaml")
        self.assertRegex(said.out, r"bob +by [\d.]+ m\n")
        self.assertNotIn("turned", said.out + said.err)

    def test_min_step_that_is_too_large(self):
        stiff = PENDULUM.replace("simulate:", "forces: {s: {type: spring-damper, between: "
                                 "[[1, 0, 1], bob], stiffness: 1e6, length: 0.1}}\nsimulate:")
        self.write("stiff.yaml", stiff)
        for model in "pendulum.yaml", "stiff.yaml":
            words = ["--set", "simulate={t_end: 2, tolerance: 1e-8, min_step: 0.1}"]
            said = self.run_it("run", model, "--no-results", "-q", *words, code=1).err
            self.assertIn("simulate.min_step = 0.1 s allows no smaller step", said)
            self.assertIn("try: a smaller simulate.min_step", said)
            self.run_it("run", model, "--no-results", "-q", "--set",
                        "simulate={t_end: 0.01, tolerance: 1e-5, min_step: 1e-12}")
        for method in "explicit", "radau", "auto":  # whose cautious first step would be smaller
            self.run_it("run", "pendulum.yaml", "--no-results", "-q", "--set",
                        f"simulate={{t_end: 1, tolerance: 1e-3, method: {method}, min_step: 0.02}}")

    def test_step_too_small_names_the_body(self):
        self.write("sharp.yaml", """\
galpha: 1
bodies:
  calm: {type: point-mass, mass: 1, velocity: [1, 0, 0]}
  wild: {type: point-mass, mass: 1, position: [1, 0, 0]}
forces:
  f: {type: force, on: wild, force: ["-1/(wild.position.x^2)", 0, 0]}
simulate: {t_end: 10, tolerance: 1e-6, min_step: 1e-3}
""")
        said = self.json_of("run", "sharp.yaml", "--json", "-q", code=1)
        self.assertEqual(said["failure"]["code"], "GA_ERR_STEP_SIZE")
        self.assertEqual(said["failure"]["body"], "wild")
        self.assertIn("(body wild)", said["message"])

    def test_jumping_force_is_no_chaos(self):
        self.write("jump.yaml", """\
galpha: 1
gravity: [0, 0, -9.81]
bodies: {rod: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}
forces:
  f: {type: torque, on: rod, torque: [0, "hinge.angle > 2.5 ? -40*(1 + hinge.rate) : 0", 0]}
simulate: {t_end: 3, step: 2e-3}
""")
        said = self.json_of("converge", "jump.yaml", "--json", "--steps",
                            "0.016,0.008,0.004,0.002,0.001")
        self.assertEqual(said["verdict"], "discontinuity", said["reason"])


# a scissor jack at rest under a load of 300 kg, whose spindle is driven
JACK = """\
galpha: 1
name: scissor jack
gravity: [0, 0, -9.81]
parameters: {L: 0.2, b: 0.02, a: 25 deg, W: 300, p: 3e-3, x: b + L*cos(a), xm: b + L*cos(a)/2, z: L*sin(a), I: 0.5*L^2/12}
bodies:
  ll: {mass: 0.5, inertia: [1e-4, I, I], position: [-xm, 0, z/2], rotation: {axis: [0, 1, 0], angle: a}}
  lr: {mass: 0.5, inertia: [1e-4, I, I], position: [xm, 0, z/2], rotation: {axis: [0, 1, 0], angle: -a}}
  ul: {mass: 0.5, inertia: [1e-4, I, I], position: [-xm, 0, 3*z/2], rotation: {axis: [0, 1, 0], angle: -a}}
  ur: {mass: 0.5, inertia: [1e-4, I, I], position: [xm, 0, 3*z/2], rotation: {axis: [0, 1, 0], angle: a}}
  top: {mass: W, inertia: [1, 1, 1], position: [0, 0, 2*z], shape: {box: [0.1, 0.05, 0.02]}}
  trunnion: {mass: 0.1, inertia: [1e-5, 1e-5, 1e-5], position: [-x, 0, z]}
  nut: {mass: 0.1, inertia: [1e-5, 1e-5, 1e-5], position: [x, 0, z]}
  spindle: {mass: 0.6, inertia: [2e-5, 5e-3, 5e-3], position: [0, 0, z], shape: {cylinder: {radius: 0.006, length: 0.42, axis: [1, 0, 0]}, color: silver}}
joints:
  base_l: {type: revolute, between: [ground, ll], at: [-b, 0, 0], axis: [0, 1, 0]}
  base_r: {type: revolute, between: [ground, lr], at: [b, 0, 0], axis: [0, 1, 0]}
  teeth: {type: gear, joints: [base_l, base_r], ratio: -1}
  knee_ll: {type: revolute, between: [ll, trunnion], at: [-x, 0, z], axis: [0, 1, 0]}
  knee_ul: {type: revolute, between: [trunnion, ul], at: [-x, 0, z], axis: [0, 1, 0]}
  knee_lr: {type: revolute, between: [lr, nut], at: [x, 0, z], axis: [0, 1, 0]}
  knee_ur: {type: revolute, between: [nut, ur], at: [x, 0, z], axis: [0, 1, 0]}
  top_l: {type: revolute, between: [top, ul], at: [-b, 0, 2*z], axis: [0, 1, 0]}
  top_r: {type: revolute, between: [top, ur], at: [b, 0, 2*z], axis: [0, 1, 0]}
  top_teeth: {type: gear, joints: [top_l, top_r], ratio: -1}
  bearing: {type: revolute, between: [trunnion, spindle], at: [-x, 0, z], axis: [1, 0, 0]}
  thread: {type: screw, between: [nut, spindle], at: [x, 0, z], axis: [1, 0, 0], pitch: p}
motions:
  crank: {joint: bearing, velocity: {step: {start: 0, end: 0.5, to: 4*pi}}}
simulate: {t_end: 10}
"""


LEVER = """\
galpha: 1
dimension: 2
gravity: [0, -9.81]
parameters: {L: 1, unused: 3}
bodies:
  a: {mass: 1, inertia: 0.1, position: [0.5, 0.1], points: {p: [-L/2, 0], q: [L/2, 0]}}
  b: {mass: 1, inertia: 0.1, position: [1.1, 0.5], rotation: 1.4, points: {p: [-L/2, 0], q: [L/2, 0]}}
joints:
  h: {type: revolute, between: [[0, 0], a.p]}
  k: {type: revolute, between: [a.q, b.p]}
  m: {type: revolute, between: [b.q, [1, 1.2]]}
forces:
  push: {type: force, on: b, force: [0, "-a.velocity.y"]}
simulate: {t_end: 0.1, step: 1e-3}
"""


# a block on a spring that a force with a jump in its velocity holds fast
BLOCK = """\
galpha: 1
dimension: 2
gravity: [0, -9.81]
bodies: {block: {mass: 1, inertia: 1}}
joints: {guide: {type: prismatic, between: [ground, block], axis: [0, 1]}}
forces: {brake: {type: force, on: block, force: [0, "-15*sign(block.velocity.y)"]}}
simulate: {t_end: 100}
"""

# comes to rest at 0.78 s
CHATTER = """\
galpha: 1
bodies: {block: {type: point-mass, mass: 1, velocity: [1, 0, 0]}}
joints: {rail: {type: prismatic, between: [ground, block], axis: [1, 0, 0]}}
forces: {drag: {type: force, on: block, force: ["-2*sign(block.velocity.x) + sin(3*t)", 0, 0]}}
simulate: {t_end: 100, tolerance: 1e-4, max_step: 2e-4}
"""


class Jumps(Case):
    def test_failure_names_the_force_that_jumps(self):
        self.write("block.yaml", BLOCK)
        for words in ([], ["bodies.block.velocity=[0, -1]"],
                      ["bodies.block.velocity=[0, 1]", "forces.brake.force="
                       '[0, "block.velocity.y > 0 ? -15 : 9.81 - 300*block.position.y*5"]']):
            words = [x for word in words for x in ("--set", word)]
            said = self.run_it("run", "block.yaml", "--no-results", "-q", *words, code=1).err
            self.assertIn("forces.brake.force jumps with positions or velocities", said)
            self.assertIn("try: a smooth law, such as tanh(v/v0)", said)
            self.assertNotIn("smaller simulate", said)
            smooth = ["--set", 'forces.brake.force=[0, "-15*tanh(block.velocity.y/0.01)"]']
            self.run_it("run", "block.yaml", "--no-results", "-q", *smooth, *words[:2])

    def test_chattering_is_told_while_it_lasts(self):
        self.write("chatter.yaml", CHATTER)
        run = self.start("run", "chatter.yaml", "--no-results")
        timer = threading.Timer(120, run.kill)
        timer.start()
        line = run.stderr.readline()
        while line and "warning" not in line:
            line = run.stderr.readline()
        remedy = run.stderr.readline()
        running = run.poll() is None
        run.send_signal(signal.SIGINT)
        out, err = run.communicate()
        timer.cancel()
        self.assertTrue(running)
        self.assertEqual(run.returncode, 130)
        self.assertIn("a force jumps again and again", line)
        self.assertTrue(remedy.startswith("  remedy: "), remedy)
        self.assertNotIn("a force jumps", err)  # once
        self.assertIn("chattering", out)


class Columns(Case):
    def test_a_part_of_a_whole_comes_once(self):
        for channels in "[bob.position.x, bob.position]", "[bob.position, bob.position.x]":
            out = self.run_it("run", "pendulum.yaml", "--csv", "-", "--set",
                              f"output.channels={channels}").out
            self.assertEqual(out.splitlines()[0],
                             "time,bob.position.x,bob.position.y,bob.position.z")


class Assembly(Case):
    def setUp(self):
        super().setUp()
        self.write("lever.yaml", LEVER)

    def test_one_line_for_all_gaps(self):
        said = self.json_of("check", "lever.yaml", "--json")
        apart = [w for w in said["warnings"] if w["code"] == "joint-apart"]
        self.assertEqual(len(apart), 1)
        self.assertIn("the widest of 3 such gaps", apart[0]["message"])
        self.assertEqual(apart[0]["element"], "m")
        # what was done about them is in the same line
        self.assertEqual([w["code"] for w in said["warnings"]], ["joint-apart", "unused-parameter"])
        self.assertRegex(apart[0]["message"],
                         r"to close them, body b was moved by \S+ m and rotated by \S+ rad \(\S+ deg\)")

    def test_assembled_positions_can_be_copied(self):
        spatial = """\
galpha: 1
bodies: {a: {mass: 1, inertia: [1, 2, 3], position: [1, 0.1, 0], rotation: {axis: [1, 2, 3], angle: 0.3}}}
joints: {h: {type: revolute, between: [[0, 0, 0], a.p], axis: [0, 1, 0]}}
simulate: {t_end: 0.1}
"""
        self.write("space.yaml", spatial.replace("angle: 0.3}", "angle: 0.3}, points: {p: [-1, 0, 0]}"))
        for model in "lever.yaml", "space.yaml":
            moved = self.json_of("check", model, "--json")["moved"]
            text = self.run_it("check", model).out
            rows = text[text.index("assembled positions"):text.index("joints at the start")]
            words = []
            for row, body in zip(rows.splitlines()[1:], moved):
                name, _, fields = row.strip().partition(" ")
                self.assertEqual(name, body["body"])
                for field in fields.strip().replace(", rotation", "\nrotation").splitlines():
                    key, value = field.split(": ", 1)
                    words += ["--set", f"bodies.{name}.{key}={value}"]
                    if key == "position":
                        self.assertEqual(json.loads(value), body["position"])
            again = self.json_of("check", model, "--json", *words)
            for body in again["moved"]:  # round-off
                self.assertLess(max(body["distance"], body["angle"]), 1e-11)

    def test_velocities_after_assembly(self):
        self.assertNotIn("velocities at the start", self.run_it("check", "lever.yaml").out)
        spin = ["--set", "bodies.bob.angular_velocity=[0, 3, 0]"]
        said = self.run_it("check", "pendulum.yaml", *spin)
        self.assertIn("`galpha check` prints them as they are after assembly", said.err)
        # kinetic energy of the change is least: m L^2 w + J w = J 3
        rate = 0.1 * 3 / 2.1
        self.assertRegex(said.out, rf"bob.angular_velocity +0 +{rate:.6g} +0  rad/s")
        said = self.json_of("check", "pendulum.yaml", "--json", *spin)["initial"]["velocities"]
        self.assertAlmostEqual(said["bob.velocity"][2], -rate, 12)
        again = ["--set", f"bodies.bob.velocity=[0, 0, {-rate!r}]",
                 "--set", f"bodies.bob.angular_velocity=[0, {rate!r}, 0]"]
        self.assertEqual(self.run_it("check", "pendulum.yaml", *again).err, "")

    def test_motions_may_set_velocities(self):
        motor = "--set", "motions={motor: {joint: hinge, velocity: 6}}"
        self.assertEqual(self.run_it("run", "pendulum.yaml", "--no-results", *motor).err, "")
        spin = "--set", "bodies.bob.angular_velocity=[0, 1, 0]"
        said = self.summary("pendulum.yaml", *motor, *spin)["warnings"]
        self.assertEqual([w["code"] for w in said], ["start-moved"])
        self.assertEqual(said[0]["element"], "bob")
        self.assertIn("that of body bob by 6 m/s and 5 rad/s", said[0]["message"])
        said = self.run_it("run", "pendulum.yaml", "--no-results", *motor, *spin).err
        self.assertIn("5 rad/s\n  remedy: correct positions", said)

    def test_view_without_positions(self):
        self.run_it("run", "pendulum.yaml", "-o", "x.h5", "--set", "output.channels=[energy]")
        said = self.run_it("view", "x.h5").err
        self.assertIn("nothing will move\n  remedy: run with --view, or add *.position", said)

    def test_unused_parameters(self):
        said = self.json_of("check", "lever.yaml", "--json")["warnings"]
        unused = [w for w in said if w["code"] == "unused-parameter"]
        self.assertEqual(len(unused), 1)
        self.assertIn("the parameter unused", unused[0]["message"])
        self.assertTrue(unused[0]["remedy"])
        said = self.json_of("check", "lever.yaml", "--json", "--set", "bodies.a.mass=unused")
        self.assertNotIn("unused-parameter", [w["code"] for w in said["warnings"]])
        self.assertNotIn("unused-parameter",
                         [w["code"] for w in self.summary("lever.yaml")["warnings"]])

    def test_freedom_without_motions(self):
        self.assertIn("degrees of freedom  0 (1 without motions)",
                      self.run_it("check", os.path.join(EXAMPLES, "four_bar.yaml")).out)
        self.assertIn("degrees of freedom  1\n", self.run_it("check", "pendulum.yaml").out)
        stop = "--set", "joints.hinge.limits={max: 1}"
        said = self.run_it("check", "pendulum.yaml", *stop).out
        self.assertRegex(said, r"hinge +stop +1\n")
        self.assertIn("(1 open: stops not reached)", said)
        both = ["--set", "joints.hinge.friction={coefficient: 0.1, radius: 0.1, model: stiction}"]
        self.assertRegex(self.run_it("check", "pendulum.yaml", *both).out, r"hinge +stiction +1\n")
        said = self.run_it("check", "pendulum.yaml", *stop, *both).out
        self.assertRegex(said, r"hinge +stiction and stop +1\n")
        said = self.run_it("check", "pendulum.yaml", *stop).out
        self.assertIn("degrees of freedom  1\n", said)  # the stop holds nothing yet

    def test_channels_expressions_cannot_use(self):
        for channel in ("h.force.x", "push.force.y", "energy.total", "a.acceleration.x",
                        "solver.step", "m.torque"):
            said = self.run_it("check", "lever.yaml", "--set",
                               f'forces.push.force[0]="2*{channel}"', code=2).err
            self.assertIn(f"'{channel}' cannot be used: it follows from the forces", said)
            self.assertIn("use positions, velocities, joint coordinates, spring lengths and their "
                          "rates", said)
        said = self.run_it("check", "lever.yaml", "--set", 'forces.push.force[0]="zz.force.x"',
                           code=2).err
        self.assertIn("unknown name", said)
        said = self.run_it("check", "lever.yaml", "--set",
                           'motions={m1: {joint: h, value: "a.position.x"}}', code=2).err
        self.assertIn("function of the time t, of inputs and of parameters", said)

    def test_channels_of_the_owner_are_listed(self):
        for channel, words in {
                "hinge.effort": "there are force, torque, multipliers, angle, rate (an effort "
                                "comes with a spring, damper, friction or limits of the joint",
                "bob.speed": "there are position, rotation, velocity, angular_velocity,",
                "hinge.anlge": "did you mean `hinge.angle`?"}.items():
            self.assertIn(words, self.run_it("run", "pendulum.yaml", "--set",
                                             f"output.channels=[{channel}]", code=2).err)

    def test_names_of_parameters_come_first(self):
        self.write("lever.yaml", LEVER.replace("unused: 3", "beta: 3"))
        self.assertIn("did you mean `parameters.beta`?",
                      self.run_it("check", "lever.yaml", "--set", "beta=4", code=2).err)

    def test_words_that_are_no_elements(self):
        for word in "friction", "limits":
            self.assertIn("is a field of joints: galpha elements revolute",
                          self.run_it("elements", word, code=2).err)
        self.assertIn("one step has nothing to be compared with",
                      self.run_it("converge", "pendulum.yaml", "--steps", "1e-2", code=2).err)

    def test_ground_has_no_channels(self):
        for name in ("ground", "ground.pin", "ground.pin.position"):
            said = self.run_it("run", "pendulum.yaml", "-q", "--set", "ground={points: {pin: [0, 0, 1]}}",
                               "--set", f"output.channels=[{name}]", code=2).err
            self.assertIn(f"`{name}`: the ground and its points do not move", said)

    def test_channels_that_were_not_output(self):
        self.run_it("run", "lever.yaml", "-q", "-o", "lever.h5", "--set",
                    "output.channels=[a.position]")
        for name in ("a.velocity.x", "h.angle", "energy.total", "b"):
            for words in (["-o", "x.svg"], ["--stats"]):
                said = self.run_it("plot", "lever.h5", name, *words, code=2).err
                self.assertIn(f"'{name}' is a channel of the model, but it is not in the results; "
                              "add it to `output.channels`", said)
        said = self.run_it("plot", "lever.h5", "a.velocitti.x", "-o", "x.svg", code=2).err
        self.assertIn("there is no channel", said)

    def test_null_on_absent_names(self):
        for path in ("forces.zz", "joints.kk", "bodies.c.shape", "motions.m1", "parameters.LL"):
            code = 2 if path == "bodies.c.shape" else 0
            self.run_it("check", "lever.yaml", "--set", path + "=null", code=code)
        said = self.run_it("check", "lever.yaml", "--set", "forces.pushh=null").err
        self.assertIn("nothing to remove, there is no `pushh`; did you mean `push`?", said)


class RoundOff(Case):
    def test_model_at_rest(self):
        self.write("rest.yaml", """\
galpha: 1
dimension: 2
gravity: [0, -9.81]
bodies:
  a: {mass: 3, inertia: 0.2, position: [0.3, -0.7]}
  b: {mass: 1, inertia: 0.1, position: [0.31, -1.2]}
joints:
  h: {type: fixed, between: [ground, a], at: [0.3, 0.1]}
  k: {type: revolute, between: [a, b], at: [0.3, -1], friction: {coefficient: 0.2, static: 0.5, radius: 1, model: stiction}}
simulate: {t_end: 5}
""")
        said = self.run_it("run", "rest.yaml", "-o", "rest.h5").out
        self.assertRegex(said, r"kinetic 0, potential -\S+, dissipated 0, work 0 J")
        self.assertNotRegex(said, r"energy balance error .* of ")
        self.assertRegex(self.run_it("run", "pendulum.yaml").out, r"balance error .* of ")
        for words in ("--list",), ("--stats",):
            said = self.run_it("plot", "rest.h5", *words).out
            self.assertNotRegex(said, r"\de-(1[6-9]|[2-9]\d)\b")

    def test_assembled_positions(self):
        """What turns about one axis has a quaternion with zeros, a parallelogram no rotation."""
        self.write("crank.yaml", """\
galpha: 1
bodies:
  crank: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], position: [0, 0, 0.05], points: {ball: [0, 0, 0.05]}}
  rod: {mass: 0.5, inertia: [1e-4, 7e-3, 7e-3], position: [0.2, 0.1, 0.15], points: {a: [-0.2, 0, 0]}}
  rocker: {mass: 1, inertia: [5e-3, 5e-3, 1e-3], position: [0.4, 0.2, 0.12], points: {ball: [0, 0, 0.12]}}
joints:
  bearing: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [1, 0, 0]}
  s1: {type: spherical, between: [crank.ball, rod.a]}
  s2: {type: distance, between: [rod, rocker.ball], length: 0.2}
  pivot: {type: revolute, between: [ground, rocker], at: [0.4, 0.2, 0], axis: [0, 1, 0]}
""")
        self.write("parallel.yaml", """\
galpha: 1
dimension: 2
bodies:
  left: {mass: 1, inertia: 0.1, position: [0, 0.5], points: {pin: [0, 0.5]}}
  bar: {mass: 0.7, inertia: 0.3, position: [1.1, 1.2], points: {a: [-1, 0], b: [1, 0]}}
  right: {mass: 1, inertia: 0.1, position: [2, 0.5], points: {pin: [0, 0.5]}}
joints:
  p: {type: revolute, between: [ground, left], at: [0, 0]}
  q: {type: revolute, between: [left.pin, bar.a]}
  r: {type: revolute, between: [bar.b, right.pin]}
  s: {type: revolute, between: [ground, right], at: [2, 0]}
""")
        for model, row in ("crank.yaml", "quaternion: "), ("parallel.yaml", "rotation: 0"):
            said = self.run_it("check", model).out
            said = said[said.index("assembled positions"):said.index("joints at the start")]
            self.assertIn(row, said)
            self.assertNotRegex(said, r"e-(1[6-9]|[2-9]\d)\b")

    def test_changed_velocity(self):
        """The first of two coupled shafts is slowed down, and hardly moved."""
        self.write("shafts.yaml", """\
galpha: 1
bodies:
  input: {mass: 1, inertia: [0.01, 0.02, 0.02], angular_velocity: [5, 0, 0]}
  middle: {mass: 1, inertia: [0.01, 0.02, 0.02], position: [0.5, 0, 0]}
  output: {mass: 1, inertia: [0.01, 0.02, 0.02], position: [1, 0, 0]}
  nut: {mass: 0.5, inertia: [0.001, 0.001, 0.001], position: [1.2, 0, 0]}
joints:
  bearing: {type: revolute, between: [ground, input], at: [-0.1, 0, 0], axis: [1, 0, 0]}
  u: {type: universal, between: [input, middle], at: [0.2, 0, 0], axis: [0, 1, 0], second_axis: [0, 0, 1]}
  cv: {type: constant-velocity, between: [middle, output], at: [0.8, 0, 0], axis: [1, 0, 0], second_axis: [1, 0, 0]}
  far: {type: cylindrical, between: [ground, output], at: [1, 0, 0], axis: [1, 0, 0]}
  thread: {type: screw, between: [output, nut], at: [1.2, 0, 0], axis: [1, 0, 0], pitch: 0.02}
  guide: {type: prismatic, between: [ground, nut], at: [1.2, 0, 0], axis: [1, 0, 0]}
simulate: {t_end: 0.1}
""")
        said = self.run_it("check", "shafts.yaml").err
        self.assertRegex(said, r"that of body input by [\d.]+ rad/s\n")

    def test_work_of_a_closed_cycle(self):
        said = self.run_it("run", os.path.join(EXAMPLES, "four_bar.yaml"), "--no-results").out
        self.assertIn("dissipated 0, work 0 J", said)

    def test_residuals_are_data(self):
        self.run_it("run", "pendulum.yaml", "-q", "-o", "p.h5", "--set",
                    "output.channels=[bob.position, solver]")
        said = self.run_it("plot", "p.h5", "--stats").out
        self.assertRegex(said, r"solver.position_residual .*e-1")

    def test_joints_at_the_origin(self):
        self.write("origin.yaml", """\
galpha: 1
dimension: 2
bodies: {a: {mass: 1, inertia: 1, rotation: 1e-3, points: {p: [1e-42, 1e-45]}}}
joints: {h: {type: revolute, between: [ground, a], at: a.p}, k: {type: distance, between: [[1, 0], a], length: 1}}
simulate: {t_end: 1}
""")
        said = self.run_it("check", "origin.yaml").out
        self.assertNotRegex(said[said.index("joints at"):said.index("Jacob")], r"e-\d\d")


class Info(Case):
    def test_step_limit_is_that_of_the_run(self):
        four_bar = os.path.join(EXAMPLES, "four_bar.yaml")
        words = ["--set", "simulate={t_end: 2, tolerance: 1e-5, rho_inf: 0.9}"]
        said = self.json_of("info", four_bar, "--json", *words)
        self.assertEqual(said["settings"]["max_step"], 2 / 500)
        self.assertIn("0.004 s, for functions of time: 1/500 of the run",
                      self.run_it("info", four_bar, *words).out)
        for method in "", ", method: explicit":
            words[1] = f"simulate={{t_end: 2, tolerance: 1e-5{method}}}"
            self.assertIn("0.04 s, for functions of time: 1/50 of the run",
                          self.run_it("info", four_bar, *words).out)
        words[1] = "simulate={t_end: 2, tolerance: 1e-5, max_step: 0.1}"
        self.assertEqual(self.json_of("info", four_bar, "--json", *words)["settings"]["max_step"],
                         0.1)
        said = self.run_it("info", "pendulum.yaml", "--set", "simulate={t_end: 1}").out
        self.assertIn("0 s, 0: no limit", said)

    def ranges(self, file):
        """{channel: [minimum, maximum, last]} as printed."""
        rows = {}
        for line in self.run_it("info", file).out.partition("channels")[2].splitlines()[1:]:
            words = line.split()
            rows[words[0]] = [float(x) for x in words[1:4]]
        return rows

    def test_small_numbers_of_small_mechanisms_are_shown(self):
        # a bead of 1e-18 kg on a spring, with an amplitude of a nanometre
        self.write("small.yaml", """\
galpha: 1
bodies: {bead: {type: point-mass, mass: 1e-18, position: [1e-9, 0, 0]}}
joints: {rail: {type: point-on-line, between: [ground, bead], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {spring: {type: user, on: bead, force: ["-1e-12*bead.position.x", 0, 0]}}
simulate: {t_end: 1e-2, step: 1e-5}
output: {channels: [bead.position, bead.velocity, rail.displacement, energy.kinetic]}
""")
        self.run_it("run", "small.yaml", "-q")
        shown, exact = self.ranges("small.h5"), self.json_of("info", "small.h5", "--json")
        self.assertAlmostEqual(shown["bead.position.x"][1], 1e-9, delta=1e-13)
        self.assertEqual(shown["bead.position.y"], [0, 0, 0])
        # sqrt(k/m) times the amplitude; half of k times its square
        self.assertAlmostEqual(shown["bead.velocity.x"][1], 1e-6, delta=1e-9)
        self.assertAlmostEqual(shown["energy.kinetic"][1], 0.5e-30, delta=1e-32)
        for channel in exact["channels"]:
            for k, part in enumerate(channel["parts"] or [""]):
                row = shown[".".join(filter(None, (channel["name"], part)))]
                for x, key in zip(row, ("min", "max", "last")):
                    want = channel[key][k] if part else channel[key]
                    self.assertAlmostEqual(x, want, delta=1e-5 * abs(want) + 1e-32)

    def test_result(self):
        self.run_it("run", "pendulum.yaml", "-q", "--csv", "out.csv")
        said = self.json_of("info", "pendulum.h5", "--json")
        self.assertEqual(said["kind"], "result")
        self.assertEqual(said["format"], "hdf5")
        self.assertEqual(said["status"], "done")
        self.assertEqual(said["frames"], 101)
        self.assertEqual(said["settings"]["step"], 1e-3)
        self.assertEqual(said["settings"]["formulation"], "index2")
        self.assertEqual(said["statistics"]["steps_accepted"], 1000)
        channels = {channel["name"]: channel for channel in said["channels"]}
        self.assertEqual(channels["bob.position"]["unit"], "m")
        with open(self.path("out.csv")) as file:
            rows = list(csv.DictReader(file))
        for k, part in enumerate("xyz"):
            column = [float(row[f"bob.position.{part}"]) for row in rows]
            self.assertEqual(channels["bob.position"]["min"][k], min(column))
            self.assertEqual(channels["bob.position"]["max"][k], max(column))
            self.assertEqual(channels["bob.position"]["last"][k], column[-1])
        other = self.json_of("info", "out.csv", "--json")
        self.assertEqual(other["format"], "csv")
        self.assertEqual(other["frames"], 101)
        text = self.run_it("info", "pendulum.h5").out
        for words in ("pendulum, HDF5, done", "0 ... 1 s, 101 frames", "steps_accepted",
                      "bob.position.x", "hinge.angle"):
            self.assertIn(words, text)
        self.run_it("info", "pendulum.h5", "--set", "a=1", code=2)

    def test_content_not_suffix(self):
        self.run_it("run", "pendulum.yaml", "-q", "-o", "a.dat", "--csv", "b.yaml")
        self.assertEqual(self.json_of("info", "a.dat", "--json")["format"], "hdf5")
        self.assertEqual(self.json_of("info", "b.yaml", "--json")["format"], "csv")
        os.rename(self.path("pendulum.yaml"), self.path("c.h5"))
        self.assertEqual(self.json_of("info", "c.h5", "--json")["kind"], "model")

    def test_model(self):
        said = self.json_of("info", "pendulum.yaml", "--json", "--set", "parameters.length=2")
        self.assertEqual(said["kind"], "model")
        self.assertEqual(said["parameters"], {"length": 2})
        self.assertEqual(said["bodies"],
                         [{"name": "bob", "type": "rigid", "mass": 2, "points": ["tip"]}])
        self.assertEqual(said["joints"],
                         [{"name": "hinge", "type": "revolute", "bodies": ["ground", "bob"]}])
        self.assertEqual(said["settings"]["t_end"], 1)
        names = {channel["name"] for channel in said["channels"]}
        for name in ("bob.acceleration", "hinge.force", "bob.tip.velocity", "solver.step"):
            self.assertIn(name, names)
        # every channel that is shown may be asked for
        self.summary("pendulum.yaml", "--set", "output.channels=" + json.dumps(sorted(names)))
        text = self.run_it("info", "-", input=PENDULUM.encode()).out
        for words in ("bodies (1)", "joints (1)", "parameters (1)", "hinge.force"):
            self.assertIn(words, text)

    def test_mistakes(self):
        self.run_it("info", "none.h5", code=3)
        self.write("bad.yaml", "galpha: 1\nbodies: {a: {mas: 1}}\n")
        self.assertIn("mass", self.run_it("info", "bad.yaml", code=2).err)
        self.write("bad.h5", "\x89HDF\r\n\x1a\n nothing")
        with open(self.path("bad.h5"), "wb") as file:
            file.write(b"\x89HDF\r\n\x1a\n nothing")
        self.run_it("info", "bad.h5", code=2)
        self.write("bad.csv", "time,a\n0,1\n1\n")
        self.run_it("info", "bad.csv", code=2)


class Results(Case):
    def test_iterations_of_methods_that_have_any(self):
        words = ["run", "pendulum.yaml", "--no-results", "--set", "simulate.step=null"]
        alpha = self.run_it(*words, "--set", "simulate.method=generalized-alpha").out
        self.assertIn("\n  Newton  ", alpha)
        self.assertIn("(velocity)\n", alpha)
        for name in "index3", "hht-i3":
            said = self.run_it("run", "pendulum.yaml", "--no-results", "--set",
                               f"simulate.formulation={name}").out
            self.assertIn("(position), not imposed on velocities\n", said)
        explicit = self.run_it(*words, "--set", "simulate.method=explicit").out
        self.assertIn("\n  solver  ", explicit)
        self.assertNotIn("Newton", explicit)

    def test_effort_of_motors_is_output(self):
        said = self.summary(os.path.join(EXAMPLES, "robot_arm.yaml"), "--set",
                            "output.channels=null", "--set", "simulate.t_end=0.01")
        for name in ("turn.effort", "lift.effort", "reach.effort", "base.angle", "elbow.force"):
            self.assertIn(name, said["final"])
        said = self.summary("pendulum.yaml", "--set", "joints.hinge.damping=1")
        self.assertIn("hinge.effort", said["final"])
        self.assertNotIn("hinge.effort", self.summary("pendulum.yaml")["final"])

    def test_sign_of_torsion_springs(self):
        """As the tension of a spring: positive where the second body is turned forwards; a spring
        in a hinge has the effort on the second body, the opposite."""
        self.write("torsion.yaml", """\
galpha: 1
dimension: 2
bodies: {a: {mass: 1, inertia: 2}}
joints: {h: {type: revolute, between: [ground, a], stiffness: 3, rest: -0.1}}
forces: {s: {type: torsion-spring, between: [ground, a], stiffness: 3, angle: -0.1}}
simulate: {t_end: 1e-9, step: 1e-9}
output: {channels: [h.effort, s.torque, a.angular_acceleration]}
""")
        final = self.summary("torsion.yaml")["final"]
        self.assertAlmostEqual(final["s.torque"], 0.3, 6)
        self.assertAlmostEqual(final["h.effort"], -0.3, 6)
        self.assertAlmostEqual(final["a.angular_acceleration"], -0.3, 6)
        said = self.run_it("elements", "torsion-spring").out
        self.assertIn("opposite on the second", " ".join(said.split()))

    def top(self, *settings):
        words = [word for setting in settings for word in ("--set", setting)]
        self.run_it("run", os.path.join(EXAMPLES, "heavy_top.yaml"), "-q", "--csv", "top.csv",
                    "--no-results", "--set", "output.every=1e-3", "--set", "simulate.t_end=0.1",
                    "--set", "output.channels=[pivot.multipliers, pivot.force]", *words)
        with open(self.path("top.csv")) as file:
            return [{name: float(x) for name, x in row.items()} for row in csv.DictReader(file)]

    def test_multipliers_are_those_of_the_scheme(self):
        """The transient of [ABC14], section 4: 115.207 N at the twelfth step of 1 ms, in lambda
        as index 3 computes it from plain start values; not in the reaction, which is that of the
        acceleration level. The reference is a run with steps of 10 microseconds."""
        plain = self.top("simulate.formulation=index3", "simulate.start=plain",
                         "simulate.rho_inf=0.9", "simulate.step=1e-3")
        fine = self.top("simulate.formulation=index2", "simulate.step=1e-5")
        errors = [abs(a["pivot.multipliers.2"] - b["pivot.multipliers.2"])
                  for a, b in zip(plain, fine)]
        # its own error is about 1e-4 N
        self.assertAlmostEqual(max(errors), 115.207, delta=2e-3)
        self.assertEqual(errors.index(max(errors)), 12)
        for part in "xyz":
            error = max(abs(a["pivot.force." + part] - b["pivot.force." + part])
                        for a, b in zip(plain, fine))
            self.assertLess(error, 5)
        # the reference knows no transient: there the two agree but for the sign
        for row in fine:
            self.assertAlmostEqual(abs(row["pivot.multipliers.2"]), abs(row["pivot.force.z"]),
                                   delta=1e-2)


class Balance(Case):
    """The balance of energy judges the motion: it is as good as the tolerance, and shrinks with
    it until only the interpolation between steps is left, which is far below it."""

    def balance(self, model, tolerance, *words):
        energy = self.summary(model, "--set", "simulate.step=null", "--set",
                              f"simulate.tolerance={tolerance}", *words)["energy"]
        return energy["drift_max"] / energy["scale"]

    def check(self, model, *words, shrinks=True):
        tolerances = (1e-4, 1e-5, 1e-6)
        errors = [self.balance(model, t, *words) for t in tolerances]
        for tolerance, error in zip(tolerances, errors):
            self.assertLess(error, tolerance, model)
        if shrinks:
            self.assertLess(errors[2], max(errors[0] / 10, 1e-11), f"{model}: {errors}")
        return errors

    def test_driven(self):
        """Kinematically driven: positions are exact, and so must be the balance."""
        for name in ("four_bar", "quick_return", "cardan_shaft", "screw_jack"):
            errors = self.check(os.path.join(EXAMPLES, name + ".yaml"), shrinks=False)
            self.assertLess(max(errors), 1e-7, name)

    def test_fixed_steps(self):
        """Second order at least, in a mechanism that is driven: the work is not the limit."""
        path = os.path.join(EXAMPLES, "four_bar.yaml")
        errors = []
        for step in (4e-3, 2e-3):
            energy = self.summary(path, "--set", "simulate.tolerance=null", "--set",
                                  f"simulate.step={step}")["energy"]
            errors.append(energy["drift_max"] / energy["scale"])
        self.assertGreater(errors[0] / errors[1], 8, errors)

    def test_motors_with_dynamics(self):
        self.check(os.path.join(EXAMPLES, "crane.yaml"), "--set", "simulate.t_end=5")

    def test_damped(self):
        self.check("pendulum.yaml", "--set", "joints.hinge.damping=0.7", "--set",
                   "simulate.t_end=3")

    def test_friction_from_reactions(self):
        self.check("pendulum.yaml", "--set",
                   "joints.hinge.friction={coefficient: 0.2, radius: 0.1, transition: 0.05}",
                   "--set", "simulate.t_end=1")

    def test_motor_on_a_swinging_arm(self):
        self.write("arm.yaml", PENDULUM.replace("joints:", """\
  arm: {mass: 1, inertia: [0.05, 0.05, 0.05], position: [1.5, 0, 0]}
joints:
  elbow: {type: revolute, between: [bob, arm], at: [1, 0, 0], axis: [0, 1, 0]}""")
                   + 'motions:\n  motor: {joint: elbow, value: "0.5*sin(5*t)"}\n')
        self.check("arm.yaml", "--set", "simulate.t_end=2")

    def test_channels_between_steps(self):
        """energy.work in the output closes the balance as well, also between steps, where kinetic
        energy has the error of interpolated velocities: 3e-6 of it at 500 steps."""
        self.run_it("run", os.path.join(EXAMPLES, "four_bar.yaml"), "-q", "--csv", "out.csv",
                    "--no-results", "--set", "output.every=0.0137", "--set",
                    "output.channels=[energy]", "--set", "simulate.step=null")
        with open(self.path("out.csv")) as file:
            rows = [{name: float(x) for name, x in row.items()} for row in csv.DictReader(file)]
        sums = [row["energy.total"] + row["energy.dissipated"] - row["energy.work"]
                for row in rows]
        scale = max(row["energy.kinetic"] for row in rows)
        self.assertLess(max(sums) - min(sums), 1e-5 * scale)


class WrongFiles(Case):
    """A file of one kind where another is expected: what it is, and which command takes it."""

    def setUp(self):
        super().setUp()
        self.run_it("run", "pendulum.yaml", "-q", "-o", "result.h5", "--csv", "result.csv",
                    "--checkpoint", "state", "--view", "page.html")
        with open(self.path("program"), "wb") as file:
            file.write(bytes(range(256)))

    def refused(self, words, *parts):
        said = self.run_it(*words, code=2)
        self.assertEqual(said.out, "")
        self.assertEqual(said.err.count("\n"), 1, said.err)
        for part in parts:
            self.assertIn(part, said.err)

    def test_model_expected(self):
        kinds = {"result.h5": ("HDF5", "`galpha info`, `plot` and `view`"),
                 "result.csv": ("CSV", "`galpha info`, `plot` and `view`"),
                 "state": ("checkpoint", "galpha resume"),
                 "page.html": ("HTML page", "browser"), "program": ("binary",)}
        for file, parts in kinds.items():
            for command in ("run", "check", "converge"):
                self.refused([command, file], "not a model", *parts)
        for file in ("state", "page.html", "program"):
            self.refused(["info", file], "not a model", *kinds[file])
        shown = json.loads(self.run_it("run", "state", "--json", code=2).out)
        self.assertIn("checkpoint", shown["message"])

    def test_result_expected(self):
        kinds = {"state": ("checkpoint", "galpha resume"), "page.html": ("HTML page",),
                 "program": ("binary",)}
        for file, parts in kinds.items():
            self.refused(["view", file], "not a result", *parts)
        kinds["pendulum.yaml"] = ("model", "galpha run")
        for file, parts in kinds.items():
            for words in (["plot", file], ["plot", file, "--list"], ["repair", file],
                          ["plot", "result.h5", "--compare", file]):
                self.refused(words, "not a result", *parts)

    def test_names_without_their_ending(self):
        os.rename(self.path("result.csv"), self.path("table.csv"))
        os.rename(self.path("result.h5"), self.path("broken.h5.part"))
        cases = [([command, "pendulum"], "pendulum.yaml") for command in
                 ("run", "check", "converge", "info", "view", "plot")]
        cases += [([command, name], file) for command in ("plot", "view", "repair")
                  for name, file in (("table", "table.csv"), ("broken", "broken.h5.part"),
                                     ("broken.h5", "broken.h5.part"))]
        cases.append((["plot", "table.csv", "--compare", "broken.h5"], "broken.h5.part"))
        cases += [([command, "pendulum.yml"], "pendulum.yaml") for command in ("run", "check", "view")]
        cases += [(["plot", "table.h5"], "table.csv")]
        for words, file in cases:
            said = self.run_it(*words, code=3)
            self.assertEqual(said.out, "")
            self.assertIn(f"there is no such file; did you mean {file}?", said.err)
        for words in ["plot", "pendulum.h5"], ["view", "pendulum.csv"], ["repair", "pendulum.h5"]:
            self.assertIn("there is no such file; `galpha run pendulum.yaml` writes results",
                          self.run_it(*words, code=3).err)
        self.assertIn("did you mean pendulum.yaml?",
                      json.loads(self.run_it("run", "pendulum", "--json", code=3).out)["message"])
        for command in ("run", "plot"):
            self.assertNotIn("did you mean", self.run_it(command, "nothing", code=3).err)

    def test_channel_before_result(self):
        for words in ([], ["--stats"], ["--list"]):
            self.refused(["plot", "hinge.angle", "result.h5", *words],
                         "the result comes first: galpha plot result.h5 hinge.angle")
        said = self.run_it("plot", "missing.h5", "result.h5", code=3).err
        self.assertNotIn("comes first", said)
        self.refused(["plot", "result.h5", "result.csv"],
                     "to compare with that result: --compare result.csv")

    def test_checkpoint_expected(self):
        kinds = {"result.h5": ("HDF5",), "result.csv": ("CSV",), "program": ("binary",),
                 "pendulum.yaml": ("model", "--checkpoint")}
        for file, parts in kinds.items():
            self.refused(["resume", file], "not a checkpoint", *parts)

    def test_repair_of_truncated_files(self):
        for name in ("result.h5", "result.csv"):
            with open(self.path(name), "rb") as file:
                content = file.read()
            with open(self.path("cut"), "wb") as file:
                file.write(content[: 2 * len(content) // 3 + 1])
            self.refused(["repair", "cut"], "cannot be repaired")
            said = self.run_it("repair", name)
            self.assertIn("nothing to repair", said.out)


# a puck in a carriage strikes its stop there
CARRIAGE = """\
galpha: 1
dimension: 2
gravity: [0, -9.81]
bodies:
  carriage: {mass: 5, inertia: 0.01}
  puck: {mass: 0.5, inertia: 1e-4, position: [0, 0.1], velocity: [10, 0]}
joints:
  slide: {type: prismatic, between: [ground, carriage], axis: [1, 0], friction: {coefficient: 0.2, model: stiction}}
  slot: {type: prismatic, between: [carriage, puck], axis: [1, 0], limits: {max: 0.05, restitution: 0.8}}
simulate: {t_end: 0.03}
output: {channels: [slide.rate]}
"""


class Impacts(Case):
    def test_friction_has_no_impulses(self):
        """An impact reverses the sliding of a joint with stiction, and releases one that sticks;
        both had been held, and momentum was lost."""
        self.write("carriage.yaml", CARRIAGE)
        friction = 0.2 * 5.5 * 9.81
        for before in -0.5, 0:
            # the gap closes at 10 - s', where s'' = friction / 5 while the carriage slides back
            slows = friction / 5 if before else 0
            u = 10 - before
            t = (u - (u * u - 4 * 0.5 * slows * 0.05) ** 0.5) / slows if slows else 0.05 / u
            rate = before + slows * t
            after = rate + 1.8 * 0.5 * (10 - rate) / 5.5
            expected = after - friction / 5 * (0.03 - t)
            for setting in "method=generalized-alpha", "method=radau", "method=explicit", "step=1e-4":
                said = self.summary("carriage.yaml", "--set", f"bodies.carriage.velocity=[{before}, 0]",
                                    "--set", "simulate." + setting)
                self.assertAlmostEqual(said["final"]["slide.rate"], expected, 7, setting)
                self.assertLess(said["energy"]["drift_max"], 1e-10)
                self.assertEqual(said["warnings"], [])


class Usage(Case):
    def test_keys_in_the_wrong_place(self):
        for words in (["--set", "step=1e-4"], ["--set", "t_end=2"]):
            key = words[1].split("=")[0]
            said = self.run_it("run", "pendulum.yaml", *words, code=2).err
            self.assertIn(f"unknown key `{key}`, did you mean `simulate.{key}`?", said)
        said = self.run_it("run", "pendulum.yaml", "--set", "channels=[bob]", code=2).err
        self.assertIn("unknown key `channels`, did you mean `output.channels`?", said)
        said = self.run_it("run", "pendulum.yaml", "--set", "length=5", code=2).err
        self.assertIn("unknown key `length`, did you mean `parameters.length`?", said)

    def test_file_instead_of_a_command(self):
        said = self.run_it("pendulum.yaml", code=2).err
        self.assertEqual(said, "galpha: there is no command 'pendulum.yaml'; did you mean 'galpha run "
                               "pendulum.yaml'?\n")

    def test_coefficients_where_they_count(self):
        for method, count in (("auto", 1), ("generalized-alpha", 1), ("explicit", 0), ("radau", 0)):
            self.run_it("run", "pendulum.yaml", "-q", "--set", "simulate.step=null", "--set",
                        f"simulate.method={method}")
            said = self.run_it("info", "pendulum.h5").out
            self.assertEqual(said.count("    formulation              index2"), count, said)
            self.assertEqual(said.count("    beta                     0.277"), count, said)
            self.assertNotIn("none", said)

    def test_empty_values(self):
        for words in (["--output="], ["-o", ""], ["--csv="], ["--view", ""], ["--checkpoint="]):
            said = self.run_it("run", "pendulum.yaml", *words, code=2)
            self.assertEqual(said.out, "")
            self.assertIn("a value is missing, expected FILE", said.err)
        self.run_it("run", "pendulum.yaml", "-q")
        self.run_it("plot", "pendulum.h5", "--title", "")

    def test_results_that_cannot_be_written(self):
        os.mkdir(self.path("folder"))
        for path in ("folder", "none/x.h5"):
            said = self.run_it("run", "pendulum.yaml", "-o", path, code=3)
            self.assertEqual(said.out, "")
            self.assertEqual(said.err.count("\n"), 1)

    def test_version(self):
        self.assertEqual(self.run_it("version").out, self.run_it("--version").out)


class Set(Case):
    def test_values_that_nothing_reads(self):
        """A misspelt parameter would leave the model as it is."""
        for command in ("run", "check", "info", "view", "converge"):
            said = self.run_it(command, "pendulum.yaml", "--set", "parameters.lenght=3", code=2)
            self.assertIn("did you mean `length`?", said.err)
        self.assertEqual(self.files(), ["pendulum.yaml"])
        said = self.run_it("run", "pendulum.yaml", "--set", "parameters.x=3", code=2)
        self.assertIn("no such parameter", said.err)
        self.write("spare.yaml", PENDULUM.replace("{length: 1}", "{length: 1, spare: 2}"))
        said = self.run_it("run", "spare.yaml", "--set", "parameters.spare=3", code=2)
        self.assertIn("no effect", said.err)
        self.run_it("run", "spare.yaml", "--set", "parameters.length=3")
        self.run_it("run", "pendulum.yaml", "--set", "parameters.x=3", "--set",
                    "joints.hinge.damping=x")
        for path in ("simulate.stepp", "output.evry", "bodies.bob.mas", "joints.hinge.axs",
                     "joints.hing.axis", "gravty", "simulat.step"):
            said = self.run_it("run", "pendulum.yaml", "--set", path + "=1", code=2)
            self.assertIn("did you mean", said.err)


DRIVEN_SLIDER = """\
galpha: 1
name: slider-crank driven at the slider
dimension: 2
bodies:
  crank: {mass: 1, inertia: 0.01, position: [0.05, 0.0866025403784], rotation: 60 deg}
  rod: {mass: 1, inertia: 0.03, position: [0.25, 0.0866025403784]}
  slider: {mass: 1, inertia: 0.01, position: [0.4, 0]}
joints:
  main: {type: revolute, between: [ground, crank], at: [0, 0]}
  pin: {type: revolute, between: [crank, rod], at: [0.1, 0.1732050807568]}
  wrist: {type: revolute, between: [rod, slider], at: [0.4, 0]}
  guide: {type: prismatic, between: [ground, slider], at: [0.4, 0], axis: [1, 0]}
motions:
  push: {joint: guide, value: "0.2*t"}
simulate: {t_end: 2}
"""

# the motor turns the crank to where rod and rocker are in line
SHORT_ROCKER = """\
galpha: 1
name: four-bar whose crank cannot turn fully
dimension: 2
bodies:
  crank: {mass: 1, inertia: 0.1, position: [0, 0.5], rotation: 90 deg}
  rod: {mass: 1, inertia: 0.1, position: [0.5, 1]}
  rocker: {mass: 1, inertia: 0.1, position: [1.25, 0.5]}
joints:
  a: {type: revolute, between: [ground, crank], at: [0, 0]}
  b: {type: revolute, between: [crank, rod], at: [0, 1]}
  c: {type: revolute, between: [rod, rocker], at: [1, 1]}
  d: {type: revolute, between: [rocker, ground], at: [1.5, 0]}
motions:
  motor: {joint: a, velocity: -1}
simulate: {t_end: 10}
"""

STRAIGHT = """\
galpha: 1
name: two rods stretched straight
dimension: 2
gravity: [0, -9.81]
bodies:
  a: {mass: 1, inertia: 0.1, position: [0.5, 0]}
  b: {mass: 1, inertia: 0.1, position: [1.5, 0]}
joints:
  p: {type: revolute, between: [ground, a], at: [0, 0]}
  q: {type: revolute, between: [a, b], at: [1, 0]}
  r: {type: revolute, between: [b, ground], at: [2, 0]}
simulate: {t_end: 1}
"""


LONG = """\
galpha: 1
gravity: [0, 0, -9.81e7]
bodies:
  rod: {mass: 1, inertia: [8.3e12, 8.3e12, 1e12], position: [5e6, 0, 0]}
joints:
  pin: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}
simulate: {t_end: 1, step: 0.01}
"""

SHAFT = """\
galpha: 1
bodies:
  shaft: {mass: 1, inertia: [0.1, 0.1, 0.02], position: [0, 0, 1], angular_velocity: [2, 0.5, 0], velocity: [0.5, -2, 0]}
joints:
  bend: {type: constant-velocity, between: [ground, shaft], at: [0, 0, 0], axis: [0, 0, 1]}
forces:
  twist: {type: torque, on: shaft, frame: body, torque: [0, 0, 0.1]}
simulate: {t_end: 3}
"""


class Singular(Case):
    def test_shafts_that_fold_back(self):
        self.write("shaft.yaml", SHAFT)
        # generalized-alpha passes the position, and so does auto with it
        for method in "explicit", "radau":
            said = self.run_it("run", "shaft.yaml", "--no-results", "-q", "--set",
                               f"simulate.method={method}", code=1).err
            self.assertIn("joints.bend: at t = 1.526", said)
            self.assertIn("its shafts fold back on each other", said)
            self.assertIn("try: a motion in which the bend stays below half a turn", said)

    def test_lengths_too_large_for_index2(self):
        self.write("long.yaml", LONG)
        said = self.run_it("run", "long.yaml", "--no-results", "-q", code=1).err
        self.assertIn("the mechanism measures 5e+06 m, and `index2` with fixed steps", said)
        self.run_it("run", "long.yaml", "--no-results", "-q", "--set", "simulate.formulation=index3")

    def test_motor_into_a_dead_point(self):
        for text, name in ((DRIVEN_SLIDER, "push"), (SHORT_ROCKER, "motor")):
            self.write("dead.yaml", text)
            for setting in ("method=auto", "step=1e-2", "method=radau", "tolerance=1e-4"):
                said = self.run_it("run", "dead.yaml", "-q", "--no-results", "--set",
                                   "simulate." + setting, code=1).err
                self.assertIn(f"motions.{name}: at t = ", said)
                self.assertIn("dead point", said.splitlines()[0])
                self.assertIn("try: a motion that the mechanism can follow", said)
                self.assertNotIn("tolerance", said.splitlines()[-1])
        # the 45,000 steps to it would not be fewer with another method
        said = self.json_of("run", "dead.yaml", "--json", "--no-results", "--set",
                            "simulate.method=generalized-alpha", code=1)
        self.assertEqual(said["failure"]["code"], "GA_ERR_STEP_SIZE")
        self.assertEqual(said["warnings"], [])

    def test_start(self):
        self.write("straight.yaml", STRAIGHT)
        said = self.run_it("check", "straight.yaml")
        self.assertRegex(said.out, r"degrees of freedom  1 .*\n +in this position, which is singular")
        self.assertIn("singular position", said.err)
        self.assertNotIn("redundant", said.out + said.err)
        self.assertTrue(self.json_of("check", "straight.yaml", "--json")["singular"])
        said = self.run_it("run", "straight.yaml", "-q", "--no-results", code=1).err
        self.assertIn("try: start a few degrees beside", said)
        # small or large, the same
        self.write("small.yaml", STRAIGHT.replace("0.5, 0]", "0.5e-4, 0]")
                   .replace("1.5, 0]", "1.5e-4, 0]").replace("[1, 0]", "[1e-4, 0]")
                   .replace("[2, 0]", "[2e-4, 0]").replace("inertia: 0.1", "inertia: 1e-9"))
        self.assertTrue(self.json_of("check", "small.yaml", "--json")["singular"])

    def test_redundancy_is_not_singular(self):
        self.write("loop.yaml", LOOP)
        self.assertFalse(self.json_of("check", "loop.yaml", "--json")["singular"])
        for name in ("screw_jack", "four_bar_spatial", "bricard", "scotch_yoke"):
            said = self.json_of("check", os.path.join(EXAMPLES, name + ".yaml"), "--json")
            self.assertFalse(said["singular"], name)

    def test_freedom_at_stops(self):
        self.write("rest.yaml", """\
galpha: 1
dimension: 2
gravity: [0, -9.81]
bodies: {a: {mass: 1, inertia: 0.1, position: [0, 1]}}
joints:
  g: {type: prismatic, between: [ground, a], axis: [0, 1], limits: {min: 0}}
simulate: {t_end: 1}
""")
        said = self.run_it("check", "rest.yaml").out
        self.assertIn("degrees of freedom  0 (1 while no joint rests at a stop)", said)
        said = self.run_it("check", "rest.yaml", "--set", "joints.g.limits.min=-1").out
        self.assertIn("degrees of freedom  1\n", said)
        self.assertIn("constraints         3 (1 open", said)

    def test_step_far_too_large(self):
        said = self.run_it("run", os.path.join(EXAMPLES, "slider_crank.yaml"), "--no-results",
                           "-q", "--set", "simulate.formulation=hht-i3", "--set",
                           "simulate.step=0.05", "--set", "simulate.t_end=5", code=1).err
        self.assertIn("simulate.step = 0.05 s is too large", said)
        self.assertIn("try: a smaller simulate.step, or error control", said)
        # too large for a disc that rolls on nearly flat: where such steps take it, it falls
        self.write("disc.yaml", """\
galpha: 1
gravity: [1.24, -2.4666, 2.0287]
bodies:
  b:
    mass: 0.405
    position: [-0.653927435523173, -0.3715108981693661, -0.3343786432077144]
    velocity: [0.007959687085857413, -0.15960076586593752, -0.3803176653544643]
    inertia: [0.0045718, 0.010188, 0.0093805, -0.0025967, 0.0013637, 0.00065997]
    rotation: {axis: [0.6915, 0.5094, -0.5122], angle: -0.6563}
    angular_velocity: [-1.7689873788544594, 0.15948071630036526, 0.6852743602115164]
joints:
  j:
    type: rolling-disc
    between: [ground, b]
    radius: 0.5181
    axis: [0.4668, 0.1206, 0.8761]
    plane:
      point: [-0.3472, -0.1938, 0.3032]
      normal: [-0.9375819798475193, 0.05619891986714014, -0.34319340388616537]
simulate: {t_end: 1, step: 0.01}
""")
        said = self.run_it("run", "disc.yaml", "--no-results", "-q", code=1).err
        self.assertIn("simulate.step = 0.01 s is too large", said)
        self.assertNotIn("falls flat", said)


class Demo(Case):
    def test_demo(self):
        """`make demo` ends with a page that moves, and with commands that work."""
        tools = os.path.join(os.path.dirname(EXAMPLES), "tools")
        program = os.path.abspath(support.PROGRAM)
        done = subprocess.run([os.path.join(tools, "demo"), program, self.path("")],
                              capture_output=True, timeout=120)
        said = done.stdout.decode()
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("demo.h5", self.files())
        if "demo.html" in self.files():  # a build with the viewer
            self.assertIn(f"open {self.path('')}/demo.html in a browser", said)
        commands = [line.split("    ")[1].strip() for line in said.splitlines()
                    if line.startswith("    galpha ")]
        self.assertEqual(len(commands), 4)
        for words in commands:
            words = words.split("   ")[0].replace('"', "").split()[1:]
            words = [os.path.join(EXAMPLES, os.path.basename(w)) if w.startswith("examples/") else w
                     for w in words]
            if "--view" not in words:
                self.run_it(*words)


class Pages(Case):
    def test_names_of_pictures(self):
        self.run_it("run", "pendulum.yaml", "-q")
        for words in (["view", "pendulum.h5", "-o", "x.png"], ["view", "pendulum.yaml", "-o", "x.SVG"],
                      ["run", "pendulum.yaml", "--view", "x.mp4"]):
            self.assertIn("ends in .html", self.run_it(*words, code=2).err)
        self.assertEqual(self.files(), ["pendulum.h5", "pendulum.yaml"])


class Angles(Case):
    """In rad and in degrees, wherever people read them."""

    def test_tables(self):
        self.run_it("run", "pendulum.yaml", "-q", "--set", "simulate.t_end=0.2")
        low = self.json_of("plot", "pendulum.h5", "hinge.angle", "--stats", "--json")
        rad = low["results"][0]["channels"][0]["max"]
        self.assertEqual(len(low["results"][0]["channels"]), 1)
        for words in (["plot", "pendulum.h5", "hinge.angle", "--stats"],
                      ["plot", "pendulum.h5", "hinge.angle", "--list"], ["info", "pendulum.h5"]):
            lines = self.run_it(*words).out.splitlines()
            at = next(k for k, line in enumerate(lines) if "hinge.angle" in line)
            self.assertIn("deg", lines[at + 1])
            self.assertIn(f" {rad:.6g} ", lines[at])
            self.assertRegex(lines[at + 1], rf" {rad * 57.29577951308232:.5f}"[:-2])
            self.assertNotIn("deg", lines[at])
        self.assertNotIn("deg", self.run_it("plot", "pendulum.h5", "bob.position", "--stats").out)

    def test_curves(self):
        self.run_it("run", "pendulum.yaml", "-q", "--set",
                    "output.channels=[default, hinge.rate, bob.angular_acceleration]")
        for channel, unit in (("hinge.angle", "deg"), ("hinge.rate", "deg/s"),
                              ("bob.angular_acceleration.y", "deg/s\u00b2")):
            def labels(*words):
                self.run_it("plot", "pendulum.h5", channel, *words, "-o", "x.svg")
                with open(self.path("x.svg")) as file:
                    return file.read()
            rad, deg = labels(), labels("--degrees")
            self.assertIn(f"({unit.replace('deg', 'rad')})", rad)
            self.assertIn(f"({unit})", deg)
            # the picture is that of the numbers times 180/pi
            expression = "180/pi*" + channel
            self.run_it("plot", "pendulum.h5", expression, "--y-label", f"{channel} ({unit})", "-o",
                        "y.svg")
            with open(self.path("y.svg")) as file:
                paths = [line for line in file if "<path" in line or "points=" in line]
            self.assertEqual([line for line in deg.splitlines(True) if "<path" in line or
                              "points=" in line], paths)
        self.run_it("plot", "pendulum.h5", "hinge.rate", "--x", "hinge.angle", "--degrees", "-o", "x.svg")
        with open(self.path("x.svg")) as file:
            text = file.read()
        self.assertIn("(deg)", text)
        self.assertNotIn("rad", text)
        said = self.run_it("plot", "pendulum.h5", "--degrees", "--stats", code=2).err
        self.assertIn("--stats cannot be combined with --degrees", said)

    def test_plain_numbers_beyond_a_turn(self):
        limits = lambda low, high: ["--set", f"joints.hinge.limits={{min: {low}, max: {high}}}"]
        said = self.run_it("check", "pendulum.yaml", *limits(-30, "60 deg")).err
        self.assertIn("warning: joints.hinge.limits.min: `-30` is an angle in rad, 4.77 turns; if "
                      "degrees are meant, write `-30 deg`\n", said)
        self.assertEqual(said.count("\n"), 1)
        for low, high in (("-30 deg", "720 deg"), ("-6*pi", "6*pi"), (-6, 6.28)):
            self.assertEqual(self.run_it("check", "pendulum.yaml", *limits(low, high)).err, "")
        for value in ("bodies.bob.rotation={axis: [0, 1, 0], angle: 90}",
                      "bodies.bob.rotation={xyz: [0, 90, 0]}", "joints.hinge.rest=45",
                      "forces={s: {type: torsion-spring, between: [ground, bob], axis: [0, 1, 0], "
                      "stiffness: 1, angle: 45}}"):
            said = self.run_it("check", "pendulum.yaml", "--set", value).err
            self.assertEqual(said.count("if degrees are meant"), 1, said)
            self.assertNotIn("if degrees", self.run_it("run", "pendulum.yaml", "-q", "--no-results",
                                                       "--set", value).err)
        self.write("flat.yaml", "galpha: 1\ndimension: 2\nbodies: {a: {mass: 1, inertia: 1, rotation: 90}}\n"
                   "joints: {g: {type: prismatic, between: [ground, a], limits: {max: 100}}}\n")
        said = self.run_it("check", "flat.yaml").err
        self.assertEqual(said.count("if degrees are meant"), 1)
        for number, count in ((15, 1), ("15 deg", 0), ("900 deg", 0), ("4*pi", 0), (6, 0)):
            said = self.run_it("check", "pendulum.yaml", "--set", f"parameters.tilt={number}", "--set",
                               "bodies.bob.rotation={axis: [0, 1, 0], angle: -tilt}").err
            self.assertEqual(said.count("is an angle of -15 rad, 2.39 turns; if degrees are meant, write "
                                        "`15 deg` where"), count, said)

    def test_limits_in_info(self):
        self.write("limits.yaml", PENDULUM.replace("axis: [0, 1, 0]}", "axis: [0, 1, 0], "
                   "limits: {min: -30 deg, max: 60 deg, restitution: 0.5}}"))
        said = self.run_it("info", "limits.yaml").out
        self.assertIn("ground - bob, stops -0.5236 ... 1.047 rad (-30 ... 60 deg), restitution 0.5\n", said)
        limits = self.json_of("info", "limits.yaml", "--json")["joints"][0]["limits"]
        self.assertEqual([(l["coordinate"], l["model"], l["restitution"]) for l in limits],
                         [("angle", "stop", 0.5)])
        self.assertAlmostEqual(limits[0]["max"], 1.0471975511965976)
        buffers = ["--set", "joints.hinge={type: cylindrical, between: [ground, bob], axis: [0, 1, 0], "
                   "displacement: {limits: {max: 0.1, model: buffer, stiffness: 1}}}"]
        self.assertIn("ground - bob, buffers of displacement max 0.1 m\n",
                      self.run_it("info", "limits.yaml", *buffers).out)
        limits = self.json_of("info", "limits.yaml", "--json", *buffers)["joints"][0]["limits"]
        self.assertEqual(limits, [{"coordinate": "displacement", "model": "buffer", "min": None,
                                   "max": 0.1}])


class Overwriting(Case):
    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_checkpoints_replace_checkpoints_only(self):
        self.write("notes.txt", "remember the milk\n")
        self.run_it("run", "pendulum.yaml", "-q", "-o", "old.h5")
        for name in ("notes.txt", "old.h5", "pendulum.yaml"):
            before = self.content(name)
            said = self.run_it("run", "pendulum.yaml", "-q", "--checkpoint", name, code=2).err
            self.assertEqual(said.count("\n"), 1)
            self.assertIn("would be overwritten", said)
            self.assertEqual(self.content(name), before)
        self.write("empty", "")
        for _ in range(2):
            self.run_it("run", "pendulum.yaml", "-q", "--checkpoint", "empty")
        self.assertTrue(self.content("empty").startswith(b"galpha checkpoint"))

    def test_results_replace_no_model_and_no_checkpoint(self):
        self.write("other.yaml", "# mine\n" + PENDULUM)
        self.run_it("run", "pendulum.yaml", "-q", "--checkpoint", "state")
        for name, kind in (("other.yaml", "model"), ("state", "checkpoint")):
            before = self.content(name)
            for option in ("-o", "--csv"):
                said = self.run_it("run", "pendulum.yaml", "-q", option, name, code=2).err
                self.assertIn(f"{name}: this is a {kind}, which would be overwritten", said)
            self.assertEqual(self.content(name), before)

    def test_devices(self):
        said = self.run_it("run", "pendulum.yaml", "-o", "/dev/null", code=2)
        self.assertIn("HDF5 cannot be written to /dev/null, which is no regular file; --no-results "
                      "writes none", said.err)
        self.assertEqual(said.out, "")
        self.run_it("run", "pendulum.yaml", "--no-results", "--csv", "/dev/null")

    def test_standard_input(self):
        model = PENDULUM.encode()
        said = self.run_it("run", "-", input=model).out
        self.assertIn("model.h5, 101 rows\n", said)
        other = model.replace(b"mass: 2", b"mass: 3")
        said = self.run_it("run", "-", input=other).out
        self.assertIn("model.h5, 101 rows; replaces an earlier result of this name\n", said)
        self.assertNotIn("replaces", self.run_it("run", "-", "-o", "model.h5", input=other).out)


class Racks(Case):
    MODEL = """\
galpha: 1
dimension: 2
bodies:
  pinion: {mass: 0.2, inertia: 4e-5, position: [0, 0.02]}
  bar: {mass: 3, inertia: 1}
joints:
  shaft: {type: revolute, between: [ground, pinion], at: [0, 0.02]}
  slide: {type: prismatic, between: [ground, bar], axis: [1, 0]}
  mesh: {type: rack, joints: [shaft, slide], radius: 0.02}
  other: {type: gear, joints: [shaft, turn], ratio: 2}
  turn: {type: revolute, between: [ground, disc]}
motions: {motor: {joint: shaft, velocity: 10}}
simulate: {t_end: 1}
""".replace("joints:", "  disc: {mass: 1, inertia: 1}\njoints:", 1)

    def test_radius_may_be_negative(self):
        self.write("rack.yaml", self.MODEL)
        for radius in 0.02, -0.02:
            final = self.summary("rack.yaml", "--set", f"joints.mesh.radius={radius}")["final"]
            self.assertAlmostEqual(final["slide.displacement"], 10 * radius, 9)
        said = self.run_it("check", "rack.yaml", "--set", "joints.mesh.radius=0", code=2).err
        self.assertIn("joints.mesh.radius: is zero: the joints would not be coupled", said)

    def test_units_of_efforts(self):
        self.write("rack.yaml", self.MODEL)
        channels = self.json_of("info", "rack.yaml", "--json")["channels"]
        units = {c["name"]: c["unit"] for c in channels}
        self.assertEqual((units["mesh.effort"], units["other.effort"]), ("N", "N m"))


class PointMasses(Case):
    def test_joints_that_would_hold_rotations(self):
        """A payload welded to a rod is no reason for the rod to keep its rotation."""
        text = PENDULUM.replace("joints:", "  load: {type: point-mass, mass: 1, position: [2, 0, 0]}\njoints:")
        for joint, warns in (("fixed", True), ("revolute", True), ("prismatic", True), ("universal", True),
                             ("cylindrical", True), ("planar", True), ("screw, pitch: 1", True),
                             ("spherical", False), ("point-on-line", False), ("point-on-plane", False)):
            self.write("load.yaml", text.replace(
                "simulate:", f"  j: {{type: {joint}, between: [bob, load], at: load}}\nsimulate:"))
            said = self.run_it("check", "load.yaml").err
            self.assertEqual("warning: joints.j.between: one of the two is a point mass" in said,
                             warns, joint + said)
            for other in ("ground, load", "other, load"):  # nothing that could turn
                self.write("load.yaml", text.replace("joints:", "  other: {type: point-mass, mass: 1, "
                                                     "position: [2, 0, 0]}\njoints:").replace(
                    "simulate:", f"  j: {{type: {joint}, between: [{other}]}}\nsimulate:"))
                self.assertNotIn("point mass", self.run_it("check", "load.yaml").err)
        spring = ("forces={s: {type: torsion-spring, between: [bob, load], axis: [0, 1, 0], "
                  "stiffness: 1}}")
        self.write("load.yaml", text)
        said = self.run_it("check", "load.yaml", "--set", spring).err
        self.assertIn("warning: forces.s.between: one of the two is a point mass", said)
        self.write("flat.yaml", """\
galpha: 1
dimension: 2
bodies: {rod: {mass: 1, inertia: 1}, load: {type: point-mass, mass: 1, position: [1, 0]}}
joints: {j: {type: revolute, between: [rod, load], at: load}}
""")
        self.assertNotIn("point mass", self.run_it("check", "flat.yaml").err)


class UsualPlot(Case):
    def test_without_coordinates_of_joints(self):
        """Rotations are angles, too; what was asked for is drawn."""
        self.write("lever.yaml", LEVER.replace("b.p]}\n", "b.p], damping: 1}\n").replace(
            "  m: {type: revolute, between: [b.q, [1, 1.2]]}\n", ""))
        self.run_it("run", "lever.yaml", "-q", "-o", "x.h5", "--set",
                    "output.channels=[a.rotation, b.position, k.effort]")
        self.run_it("plot", "x.h5", "-o", "x.svg")
        with open(self.path("x.svg")) as file:
            text = file.read()
        for label in ("a.rotation (rad)", "b.position (m)", "k.effort (N m)"):
            self.assertIn(label, text)
        self.run_it("run", "lever.yaml", "-q", "-o", "x.h5")
        self.run_it("plot", "x.h5", "-o", "x.svg")
        with open(self.path("x.svg")) as file:
            text = file.read()
        self.assertNotIn("rotation", text)
        self.assertNotIn("effort", text)


class MisspeltKeys(Case):
    def test_one_message_for_each(self):
        """A required key with a slip is not asked for a second time."""
        for right, wrong in (("mass: 2", "mas: 2"), ("inertia:", "inertai:"), ("type:", "typ:"),
                             ("between:", "betwen:"), ("t_end:", "tend:"), ("galpha:", "galpah:"),
                             ("bodies:", "bodys:")):
            self.write("slip.yaml", PENDULUM.replace(right, wrong))
            said = self.run_it("check", "slip.yaml", code=2).err
            name = wrong.split(":")[0]
            self.assertIn(f"unknown key `{name}`, did you mean `{right.split(':')[0]}`?", said)
            self.assertNotIn("needs", said)
        self.write("slip.yaml", PENDULUM.replace("mass: 2", "massss: 2, mss: 1"))
        self.assertEqual(self.run_it("check", "slip.yaml", code=2).err.count("\n"), 2)
        self.write("slip.yaml", PENDULUM.replace("mass: 2, ", ""))
        self.assertIn("needs `mass`", self.run_it("check", "slip.yaml", code=2).err)


class Elements(Case):
    def test_other_words(self):
        words = {"ball": "spherical", "hinge": "revolute", "weld": "fixed",
                 "slider": "prismatic", "motor": "motion", "rod": "distance",
                 "spring": "spring-damper", "Hinge": "revolute", "revolut": "revolute"}
        for word, name in words.items():
            said = self.run_it("elements", word, code=2)
            self.assertIn(f"did you mean '{name}'?", said.err)


support.main()
