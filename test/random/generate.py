"""Random mechanisms from a seed, as the dictionaries that model files contain.

    mechanism(seed, family)

Lengths, masses and times are near 1 while a mechanism is put together; `convert` then gives it
other units, so that inertias cover six decades and more. Joints are placed by `at` and `axis` in
the world, which makes every placement of the bodies consistent and closes every loop. Velocities
are projected onto the constraints by mechanics.py, an independent solver; a rough start has them,
or the positions, a little off.

Families (each a member of FAMILIES): what a mechanism is made of.
    tree, loop, redundant, planar   the structure
    driven                          motions, gears, racks
    rolling                         discs that roll
    friction                        regularised friction in joints
    rough                           starts that do not fit the joints
    stops                           rigid limits; not in FAMILIES, see --families and --with of net.py
"""

import math
import random

import numpy as np

import mechanics

TREE_JOINTS = {
    # weight in trees
    "revolute": 4,
    "prismatic": 2,
    "cylindrical": 2,
    "spherical": 3,
    "universal": 2,
    "planar": 1,
    "screw": 1,
    "fixed": 1,
    "distance": 1,
    "point-on-line": 1,
    "point-on-plane": 1,
    "constant-velocity": 1,
}
LOOP_JOINTS = ["distance", "point-on-line", "point-on-plane", "spherical", "cylindrical"]
RESTING_JOINTS = ["revolute", "prismatic", "cylindrical", "universal", "screw"]  # all coordinates may have stops
PLANAR_JOINTS = {"revolute": 4, "prismatic": 2, "fixed": 1, "distance": 1, "point-on-line": 1}
WORST_START = 1e3  # condition of the constraints beyond which a loop is not closed at the start


class Draft:
    """A mechanism under construction."""

    def __init__(self, seed, family):
        self.rng = random.Random(f"{family}-{seed}")
        self.family = family
        self.planar = family == "planar" or (family in ("driven", "friction", "stops", "rolling", "rough") and self.rng.random() < 0.3)
        self.conservative = family in ("tree", "loop", "redundant", "planar", "rolling") and self.rng.random() < 0.3
        self.model = {"galpha": 1, "name": f"{family} {seed}"}
        if self.planar:
            self.model["dimension"] = 2
        # Comes to rest on its stops: nothing but gravity, narrow limits on every coordinate.
        self.narrow = family == "stops" and self.chance(0.5)
        self.model.update(gravity=self.vector(self.number(1.0 if self.narrow else 0.0, 3.0)), parameters={}, bodies={}, joints={}, motions={}, forces={})

    def number(self, low, high):
        return round(self.rng.uniform(low, high), 4)

    def chance(self, p):
        return self.rng.random() < p

    def log(self, low, high):
        return float(f"{10 ** self.rng.uniform(math.log10(low), math.log10(high)):.4g}")

    def vector(self, size):
        v = [self.rng.gauss(0, 1) for _ in range(2 if self.planar else 3)]
        norm = math.hypot(*v) or 1.0
        return [round(size * c / norm, 4) for c in v]

    def axis(self):
        return [0.0, 0.0, 1.0] if self.chance(0.2) and not self.planar else self.vector(1.0)

    # Bodies

    def add_body(self, near):
        name = f"b{len(self.model['bodies'])}"
        size = self.number(0.3, 1.0)
        mass = self.log(0.1, 10) if not self.chance(0.1) else self.log(0.003, 300)
        position = [round(c + d, 4) for c, d in zip(near, self.vector(size))]
        body = {"mass": mass, "position": position, "velocity": self.vector(self.number(0, 1.0))}
        if self.planar:
            body["inertia"] = self.significant(mass * size**2 * self.number(0.05, 0.5))
            body["rotation"] = self.number(-3, 3)
            body["angular_velocity"] = self.number(-1.5, 1.5)
        else:
            body["inertia"] = self.inertia(mass * size**2)
            body["rotation"] = {"axis": self.axis(), "angle": self.number(-3, 3)}
            body["angular_velocity"] = self.vector(self.number(0, 1.5))
        body["points"] = {"p": self.vector(self.number(0.1, size)), "q": self.vector(self.number(0.1, size))}
        self.model["bodies"][name] = body
        return name

    def significant(self, x):
        return float(f"{x:.5g}")

    def inertia(self, scale):
        """Principal moments of a cloud of three masses on the axes, turned: always physical."""
        a, b, c = (self.number(0.02, 0.4) for _ in range(3))
        J = np.diag([b + c, a + c, a + b]) * scale
        if self.chance(0.6):
            R = mechanics.rodrigues(np.array(self.vector(1.0)), self.number(-3, 3))
            J = R @ J @ R.T
            return [self.significant(x) for x in (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])]
        return [self.significant(J[i, i]) for i in range(3)]

    def place_of(self, body):
        return [0.0] * (2 if self.planar else 3) if body == "ground" else self.model["bodies"][body]["position"]

    # Joints

    def add_joint(self, kind, first, second, at):
        name = f"j{len(self.model['joints'])}"
        j = {"type": kind, "between": [first, second]}
        points = lambda b: f"{b}.{self.rng.choice('pq')}" if b != "ground" else self.vector(self.number(0.5, 2))
        if kind == "distance":
            j["between"] = [points(first), points(second)]
        elif kind != "gear":
            j["at"] = at
        if kind in ("revolute",) and self.planar:
            pass
        elif kind not in ("fixed", "spherical", "distance"):
            j["axis"] = self.axis()
        if kind == "screw":
            j["pitch"] = self.number(-1, 1) or 0.3
        if kind == "universal":
            a = np.array(j["axis"])
            other = np.cross(a, self.vector(1.0))
            j["second_axis"] = [float(c) for c in other / np.linalg.norm(other)]
        if kind == "constant-velocity":
            j["second_axis"] = [round(a + 0.4 * b, 4) for a, b in zip(j["axis"], self.vector(1.0))]
        self.model["joints"][name] = j
        return name

    def add_actions(self, name):
        """Springs, dampers, buffers and friction along the coordinates of a joint."""
        j = self.model["joints"][name]
        coordinates = mechanics.COORDINATES.get(j["type"], [])
        if j["type"] == "spherical" and self.chance(0.3):
            j.update(self.action("angle"))
            j.pop("rest", None)
            if self.family == "friction":
                j["friction"] = self.friction("angle")
            return
        if j["type"] == "planar":
            # x and y alike: which directions they have is not for a model to know
            if self.chance(0.4):
                j["angle"] = self.action("angle")
            return
        for c in coordinates:
            if self.chance(0.5):
                fields = self.action(c)
                if self.family == "friction":
                    fields["friction"] = self.friction(c)
                if len(coordinates) == 1:
                    j.update(fields)
                else:
                    j[c] = fields

    def action(self, coordinate):
        fields = {}
        if self.chance(0.6):
            fields["stiffness"] = self.log(0.1, 30)
            if self.chance(0.5):
                fields["rest"] = self.number(-0.5, 0.5)
        if (self.chance(0.4) or not fields) and not self.conservative:
            fields["damping"] = self.log(0.01, 1)
        return fields

    def friction(self, coordinate):
        f = {"coefficient": self.number(0.05, 0.3), "transition": self.log(0.05, 0.5)}
        if coordinate in mechanics.ANGLES:
            f["radius"] = self.number(0.02, 0.1)
        if self.chance(0.3):
            f["preload"] = self.number(0, 1)
        if self.chance(0.3):
            f["static"] = round(1.5 * f["coefficient"], 4)
        return f

    # Forces

    def add_forces(self):
        bodies = list(self.model["bodies"])
        kinds = ["spring-damper", "bushing", "gravity-field"]
        if not self.conservative:
            kinds += ["force", "torque", "user"]
        for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
            kind = self.rng.choice(kinds)
            body = self.rng.choice(bodies)
            other = self.rng.choice([b for b in ["ground"] + bodies if b != body])
            if kind not in ("spring-damper", "gravity-field") and (self.is_point(body) or self.is_point(other)):
                continue  # point masses take no torque and have no axes
            name = f"f{len(self.model['forces'])}"
            self.model["forces"][name] = getattr(self, "make_" + kind.replace("-", "_"))(body, other, name)
        hinges = [n for n, j in self.model["joints"].items() if j["type"] in ("revolute", "cylindrical")]
        if hinges and self.chance(0.25):
            j = self.model["joints"][self.rng.choice(hinges)]
            spring = {"type": "torsion-spring", "between": j["between"], "stiffness": self.log(0.1, 20), "angle": self.number(-1, 1)}
            if not self.conservative:
                spring["damping"] = self.log(0.01, 0.5)
            if not self.planar:
                spring["axis"] = j["axis"]
            self.model["forces"][f"f{len(self.model['forces'])}"] = spring

    def point(self, body):
        if body == "ground":
            return self.vector(self.number(0.5, 2))
        return body if self.is_point(body) else f"{body}.{self.rng.choice('pq')}"

    def is_point(self, body):
        return body != "ground" and self.model["bodies"][body].get("type") == "point-mass"

    def make_spring_damper(self, body, other, name):
        s = {"type": "spring-damper", "between": [self.point(other), self.point(body)], "stiffness": self.log(0.3, 30)}
        if self.chance(0.5) and not self.conservative:
            s["damping"] = self.log(0.01, 1)
        if self.chance(0.5):
            s["length"] = self.number(0.3, 1.5)
        if self.chance(0.2):
            s["preload"] = self.number(-1, 1)
        if self.chance(0.2):
            self.model["parameters"][f"k_{name}"] = self.number(0.1, 1)
            self.model["parameters"][f"l_{name}"] = self.number(0.3, 1)
            s["force"] = f"k_{name}*(length - l_{name})"
        return s

    def make_bushing(self, body, other, name):
        n = 2 if self.planar else 3
        s = {"type": "bushing", "between": [other, body], "at": [round(c + d, 4) for c, d in zip(self.place_of(body), self.vector(0.3))]}
        s["stiffness"] = [self.log(1, 50) for _ in range(n)] + [self.log(0.1, 5) for _ in range(1 if self.planar else 3)]
        if not self.conservative:
            s["damping"] = [self.significant(0.03 * k) for k in s["stiffness"]]
        s["rotation"] = self.number(-1, 1) if self.planar else {"axis": self.axis(), "angle": self.number(-2, 2)}
        return s

    def signal(self, size):
        kind = self.rng.choice(["constant", "harmonic", "step", "expression"])
        if kind == "constant":
            return self.number(-size, size)
        if kind == "harmonic":
            return {"harmonic": {"amplitude": self.number(-size, size), "frequency": self.number(0.2, 1.5), "phase": self.number(-3, 3)}}
        if kind == "step":
            return {"step": {"start": 0.1, "end": self.number(0.3, 0.9), "from": 0, "to": self.number(-size, size)}}
        name = f"w_{len(self.model['parameters'])}"
        self.model["parameters"][name] = self.number(1, 5)
        amplitude = f"f_{len(self.model['parameters'])}"
        self.model["parameters"][amplitude] = self.number(-size, size)
        return f"{amplitude}*cos({name}*t)"

    def make_force(self, body, other, name):
        s = {"type": "force", "on": self.point(body), "frame": "body", "force": [self.signal(2) for _ in range(2 if self.planar else 3)]}
        if self.chance(0.3):
            s["against"] = other
        return s

    def make_torque(self, body, other, name):
        t = [self.torque_signal() for _ in range(1 if self.planar else 3)]
        s = {"type": "torque", "on": body, "frame": "body", "torque": t[0] if self.planar else t}
        if self.chance(0.3):
            s["against"] = other
        return s

    def torque_signal(self):
        s = self.signal(0.5)
        if isinstance(s, str):  # a torque has other units than a force
            old = s.split("*")[0]
            new = old.replace("f_", "m_")
            self.model["parameters"][new] = self.model["parameters"].pop(old)
            s = s.replace(old, new)
        return s

    def make_user(self, body, other, name):
        self.model["parameters"][f"d_{name}"] = self.number(0.05, 0.5)
        c, n = f"d_{name}", 1 if self.planar else 3
        t = [f"-{c}*{body}.angular_velocity" + ("" if self.planar else f".{x}") for x in "xyz"[:n]]
        return {"type": "user", "on": self.point(body), "frame": "body", "torque": t[0] if self.planar else t}

    def make_gravity_field(self, body, other, name):
        s = {"type": "gravity-field"}
        if self.chance(0.5):
            s["bodies"] = [body]
        if self.chance(0.5):
            s["acceleration"] = self.vector(self.number(0.1, 2))
        else:
            s.update(center=self.vector(6.0), strength=self.number(0.5, 20))
        return s

    # Structures

    def tree(self, count):
        for k in range(count):
            parent = "ground" if k == 0 or self.chance(0.2) else self.rng.choice(list(self.model["bodies"]))
            body = self.add_body(self.place_of(parent))
            if self.chance(0.1) and k > 0 and not self.narrow:
                continue  # a free body
            weights = PLANAR_JOINTS if self.planar else TREE_JOINTS
            kind = self.rng.choices(list(weights), list(weights.values()))[0]
            if self.narrow:
                kind = self.rng.choice(RESTING_JOINTS[:2] if self.planar else RESTING_JOINTS)
            if self.chance(0.1):
                parent, body = body, parent  # the second side may be ground or the parent
            a, b = self.place_of(parent), self.place_of(body)
            u = self.number(0.1, 0.9)
            at = [round(x + u * (y - x) + d, 4) for x, y, d in zip(a, b, self.vector(0.1))]
            self.add_actions(self.add_joint(kind, parent, body, at))

    def close_loops(self, count):
        for _ in range(count):
            bodies = list(self.model["bodies"])
            if len(bodies) < 2:
                return
            first, second = self.rng.sample(["ground"] + bodies, 2)
            kinds = ["distance", "point-on-line", "revolute"] if self.planar else LOOP_JOINTS
            at = [round((x + y) / 2 + d, 4) for x, y, d in zip(self.place_of(first), self.place_of(second), self.vector(0.3))]
            name = self.add_joint(self.rng.choice(kinds), first, second, at)
            if not self.moves(WORST_START):
                del self.model["joints"][name]

    def moves(self, worst):
        """The mechanism has a degree of freedom left, and no row is nearly redundant."""
        m = mechanics.Model(self.model)
        s = m.start
        rows = m.constraint_rows(s, curvature=False)
        if not rows:
            return True
        A = np.linalg.solve(m.mass_root(), m.jacobian(rows).T).T
        S = np.linalg.svd(A / np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None], compute_uv=False)
        return len(rows) < len(m.columns()) and S[-1] * worst > S[0]

    def add_redundancy(self):
        """A second hinge on the same axis, or a flat four-bar linkage in space."""
        hinges = [j for j in self.model["joints"].values() if j["type"] in ("revolute", "prismatic", "cylindrical") and "axis" in j]
        if hinges and self.chance(0.5):
            j = self.rng.choice(hinges)
            along = np.array(j["axis"]) / np.linalg.norm(j["axis"])
            at = [float(x) for x in np.array(j["at"]) + self.number(0.2, 0.6) * along]
            name = f"j{len(self.model['joints'])}"
            self.model["joints"][name] = {"type": j["type"], "between": j["between"], "at": at, "axis": j["axis"]}
            return
        E = mechanics.frame_along(np.array(self.axis()))
        corners = np.array([[0, 0], [self.number(0.3, 0.5), self.number(0.4, 0.7)], [self.number(1.2, 1.5), self.number(0.6, 0.9)], [self.number(1.1, 1.5), -self.number(0.1, 0.3)]])
        origin = np.array(self.vector(0.5))
        at = [[float(f"{c:.12g}") for c in origin + E[:, :2] @ p] for p in corners]
        axis = [float(c) for c in E[:, 2]]
        names = []
        for a, b in zip(at[:-1], at[1:]):
            name = self.add_body([0, 0, 0])
            self.model["bodies"][name]["position"] = [float(f"{(x + y) / 2:.12g}") for x, y in zip(a, b)]
            names.append(name)
        chain = ["ground"] + names + ["ground"]
        for k in range(4):
            name = f"j{len(self.model['joints'])}"
            self.model["joints"][name] = {"type": "revolute", "between": [chain[k], chain[k + 1]], "at": at[k], "axis": axis}

    def add_drives(self):
        """Motions on some joints, gears and racks between others."""
        free = []
        for name, j in self.model["joints"].items():
            for c in mechanics.COORDINATES.get(j["type"], []):
                if c not in ("x", "y"):
                    free.append((name, c))
        self.rng.shuffle(free)
        plan = self.rng.choice([["motion"], ["gear"], ["motion", "gear"], ["gear", "gear"], ["motion", "motion"]])
        for kind in plan:
            if kind == "motion" and free:
                name, c = free.pop()
                m = {"joint": name, "coordinate": c}
                if self.chance(0.3):
                    m["velocity"] = {"harmonic": {"amplitude": self.number(-0.6, 0.6), "frequency": self.number(0.2, 1), "phase": 1.5707963267948966}}
                elif self.chance(0.5):
                    m["value"] = {"step": {"start": -0.2, "end": self.number(1.3, 1.8), "from": 0, "to": self.number(-0.5, 0.5)}}
                    p = m["value"]["step"]
                    u = -p["start"] / (p["end"] - p["start"])
                    # zero at the start, as coordinates are
                    p["from"] = 0.0
                    at_start = p["to"] * u**3 * (10 - 15 * u + 6 * u * u)
                    p["from"] -= at_start
                    p["to"] -= at_start
                else:
                    m["value"] = {"harmonic": {"amplitude": self.number(-0.3, 0.3), "frequency": self.number(0.2, 1.0)}}
                self.keep_if_it_moves("motions", f"m{len(self.model['motions'])}", m)
            elif kind == "gear" and len(free) >= 2:
                (first, c1), (second, c2) = free.pop(), free.pop()
                angular = [c in mechanics.ANGLES for c in (c1, c2)]
                if angular == [True, False]:
                    g = {"type": "rack", "joints": [first, second], "radius": self.number(0.1, 0.5)}
                else:
                    g = {"type": "gear", "joints": [first, second], "ratio": self.number(-2, 2) or 1.0}
                g.update(coordinate1=c1, coordinate2=c2)
                self.keep_if_it_moves("joints", f"j{len(self.model['joints'])}", g)

    def keep_if_it_moves(self, section, name, entry):
        self.model[section][name] = entry
        if not self.moves(WORST_START):
            del self.model[section][name]

    def rolling(self):
        """A disc on a plane of the ground, and perhaps something on the disc."""
        disc = self.add_body(self.place_of("ground"))
        b = self.model["bodies"][disc]
        radius = self.number(0.3, 0.8)
        dim = 2 if self.planar else 3
        normal = np.array(self.vector(1.0))
        normal /= np.linalg.norm(normal)
        j = {"type": "rolling-disc", "between": ["ground", disc], "radius": radius}
        point = np.array(self.vector(0.5))
        height = radius
        if not self.planar:
            axis = np.array(self.vector(1.0))
            R = mechanics.rotation_matrix(b["rotation"])
            lean = np.sqrt(1 - (normal @ (R @ axis) / np.linalg.norm(axis)) ** 2)
            if lean < 0.7:  # far from flat on the ground, where the contact is singular
                axis = R.T @ np.cross(normal, self.vector(1.0))
                axis = np.round(axis / np.linalg.norm(axis), 4)
                lean = np.sqrt(1 - (normal @ (R @ axis) / np.linalg.norm(axis)) ** 2)
            j["axis"] = [float(c) for c in axis]
            height = radius * lean
        j["plane"] = {"point": [float(c) for c in point], "normal": [float(c) for c in normal]}
        tangent = np.array(self.vector(0.6))
        tangent -= normal * (normal @ tangent)
        b["position"] = [float(c) for c in point + tangent + height * normal][:dim]
        self.model["joints"]["j0"] = j
        g = np.array(self.model["gravity"])
        self.model["gravity"] = [round(float(c), 4) for c in g - (g @ normal + 2.0) * normal]
        if self.chance(0.6):
            self.tree_on(disc)

    def tree_on(self, parent):
        body = self.add_body(self.place_of(parent))
        weights = PLANAR_JOINTS if self.planar else TREE_JOINTS
        kind = self.rng.choices(list(weights), list(weights.values()))[0]
        at = [round((x + y) / 2 + d, 4) for x, y, d in zip(self.place_of(parent), self.place_of(body), self.vector(0.1))]
        self.add_actions(self.add_joint(kind, parent, body, at))

    def add_stops(self):
        """Rigid limits on coordinates of joints: one or both ends, any restitution."""
        narrow = self.narrow
        for name, j in self.model["joints"].items():
            coordinates = mechanics.COORDINATES.get(j["type"], [])
            for c in coordinates:
                if c in ("x", "y") or not (narrow or self.chance(0.7)):
                    continue
                limits = {"restitution": self.rng.choice([0, 0, 0.3] if narrow else [0, 0.3, 0.7, 0.95])}
                if self.chance(0.3):
                    limits["slowest"] = 1e-3
                widest = 0.04 if narrow else 0.3
                if narrow or self.chance(0.7):
                    limits["max"] = self.number(0.02, widest)
                if narrow or self.chance(0.7) or "max" not in limits:
                    limits["min"] = -self.number(0.02, widest)
                (j if len(coordinates) == 1 else j.setdefault(c, {}))["limits"] = limits

    def add_buffers(self):
        for j in self.model["joints"].values():
            coordinates = mechanics.COORDINATES.get(j["type"], [])
            if len(coordinates) == 1 and self.chance(0.2):
                j["limits"] = {"max": self.number(0.02, 0.3), "model": "buffer", "stiffness": self.log(20, 300)}
                if self.chance(0.3) and not self.conservative:
                    j["limits"].update(damping=self.log(0.1, 1), depth=0.01)

    def fit_velocities(self):
        """Velocities on the constraints, by the independent solver."""
        m = mechanics.Model(self.model)
        v = m.consistent_velocity(m.start, m.velocity_of(m.start))
        write_velocities(self.model, m, m.with_velocity(m.start, v))

    def roughen(self):
        """Velocities that do not fit; points that should meet and do not quite."""
        for name, j in list(self.model["joints"].items()):
            if j["type"] in ("spherical", "revolute") and "at" in j and "ground" not in j["between"] and self.chance(0.7):
                a, b = j["between"]
                m = mechanics.Model(self.model)
                for body, point in ((a, f"to_{name}"), (b, f"on_{name}")):
                    i = m.index[body]
                    local = m.to_body(i, m.vector(j["at"]))[: 2 if self.planar else 3]
                    off = [round(1e-3 * c, 6) for c in self.vector(1.0)]
                    self.model["bodies"][body]["points"][point] = [float(x + d) for x, d in zip(local, off)]
                j["between"] = [f"{a}.to_{name}", f"{b}.on_{name}"]
                del j["at"]


def write_velocities(spec, m, state):
    for i, name in enumerate(m.bodies):
        b = spec["bodies"][name]
        b["velocity"] = [float(c) for c in state.v[i][: 2 if m.planar else 3]]
        if not m.is_point[i]:
            b["angular_velocity"] = float(state.w[i][2]) if m.planar else [float(c) for c in state.w[i]]


FAMILIES = ["tree", "loop", "redundant", "planar", "driven", "rolling", "friction", "rough"]


def mechanism(seed, family):
    """A model dictionary without `simulate` details but its duration."""
    d = Draft(seed, family)
    count = d.rng.choice([1, 2, 2, 3, 3, 4, 5])
    if family == "redundant":
        d.planar = False
        if d.chance(0.5):
            d.tree(d.rng.choice([1, 2]))
        d.add_redundancy()
    elif family == "rolling":
        d.rolling()
    else:
        d.tree(max(2, count) if family in ("loop", "driven", "rough") else count)
        if family == "loop" or (family == "planar" and d.chance(0.5)):
            d.close_loops(d.rng.choice([1, 1, 2, 3]))
    if family in ("tree", "planar", "loop") and d.chance(0.3):
        d.add_buffers()
    if family != "stops" and d.chance(0.2) and len(d.model["bodies"]) > 1:
        make_point_mass(d)
    if family == "driven":
        d.add_drives()
    if family == "stops":
        d.add_stops()
    if not d.narrow:
        d.add_forces()
    d.model["simulate"] = {"t_end": 1.0}
    d.fit_velocities()
    if family == "rough":
        d.roughen()
    scales = [2.0 ** d.rng.randint(-4, 4), 2.0 ** d.rng.randint(-10, 10), 2.0 ** d.rng.randint(-3, 3)]
    model = convert(d.model, *scales) if d.chance(0.5) else d.model
    return {k: v for k, v in model.items() if v not in ({}, [])}


def make_point_mass(d):
    """Turns a body without joints that need rotations into a point mass."""
    for name, body in d.model["bodies"].items():
        users = [j for j in d.model["joints"].values() if any(str(p).split(".")[0] == name for p in j.get("between", []))]
        if all(j["type"] == "distance" for j in users):
            for j in users:
                j["between"] = [name if str(p).split(".")[0] == name else p for p in j["between"]]
            for key in ("inertia", "rotation", "angular_velocity", "points"):
                body.pop(key, None)
            body["type"] = "point-mass"
            return


# Units ----------------------------------------------------------------------------------------


def convert(model, L, M, T):
    """The same mechanism in units in which lengths, masses and times are L, M, T times as large."""
    force, torque = M * L / T**2, M * L**2 / T**2

    def times(x, f):
        return [times(y, f) for y in x] if isinstance(x, list) else x * f

    def function(x, f):
        if isinstance(x, list):
            return [function(y, f) for y in x]
        if isinstance(x, str):
            return x
        if isinstance(x, dict):
            (kind, p), = x.items()
            p = dict(p)
            for key in ("amplitude", "offset", "from", "to"):
                if key in p:
                    p[key] *= f
            for key in ("start", "end"):
                if key in p:
                    p[key] *= T
            for key in ("frequency", "omega"):
                if key in p:
                    p[key] /= T
            return {kind: p}
        return x * f

    def action(fields, angular):
        stiffness = torque if angular else M / T**2
        unit = 1.0 if angular else L
        out = dict(fields)
        for key, f in (("stiffness", stiffness), ("damping", stiffness * T), ("rest", unit)):
            if key in out:
                out[key] *= f
        if "friction" in out:
            fr = dict(out["friction"])
            for key, f in (("transition", unit / T), ("radius", L), ("preload", force)):
                if key in fr:
                    fr[key] *= f
            out["friction"] = fr
        if "limits" in out:
            li = dict(out["limits"])
            for key, f in (("min", unit), ("max", unit), ("slowest", unit / T), ("depth", unit), ("stiffness", stiffness), ("damping", stiffness * T)):
                if key in li:
                    li[key] *= f
            out["limits"] = li
        return out

    def place(p):
        return times(p, L) if isinstance(p, list) else p

    def between(e):
        if "between" in e:
            e["between"] = [place(p) for p in e["between"]]
        for key in ("at",):
            if key in e:
                e[key] = times(e[key], L)

    def bushing_matrix(value, unit):
        n = len(value)
        split = 2 if n == 3 else 3
        scale = [1.0] * split + [L] * (n - split)
        if isinstance(value[0], list):
            return [[x * unit * scale[i] * scale[j] for j, x in enumerate(row)] for i, row in enumerate(value)]
        return [x * unit * scale[i] ** 2 for i, x in enumerate(value)]

    prefixes = {"k": M / T**2, "l": L, "f": force, "m": torque, "w": 1 / T, "d": torque * T}
    out = dict(model)
    if "gravity" in out:
        out["gravity"] = times(out["gravity"], L / T**2)
    out["parameters"] = {n: v * prefixes[n[0]] for n, v in model.get("parameters", {}).items()}
    out["bodies"] = {}
    for name, b in model.get("bodies", {}).items():
        b = dict(b)
        for key, f in (("mass", M), ("inertia", M * L**2), ("position", L), ("velocity", L / T), ("angular_velocity", 1 / T)):
            if key in b:
                b[key] = times(b[key], f)
        if "points" in b:
            b["points"] = {n: times(p, L) for n, p in b["points"].items()}
        out["bodies"][name] = b
    out["joints"] = {}
    kinds = {n: j["type"] for n, j in model.get("joints", {}).items()}

    def angular_of(joint, coordinate):
        return (coordinate or mechanics.COORDINATES[kinds[joint]][0]) in mechanics.ANGLES

    for name, j in model.get("joints", {}).items():
        j = dict(j)
        between(j)
        coordinates = mechanics.COORDINATES.get(j["type"], [])
        if j["type"] == "spherical":
            j = action(j, True)
        elif len(coordinates) == 1:
            j = action(j, coordinates[0] in mechanics.ANGLES)
        for c in coordinates:
            if len(coordinates) > 1 and c in j:
                j[c] = action(j[c], c in mechanics.ANGLES)
        for key in ("pitch", "radius"):
            if key in j:
                j[key] *= L
        if "length" in j:
            j["length"] = function(j["length"], L)
        if "plane" in j and "point" in j["plane"]:
            j["plane"] = {**j["plane"], "point": times(j["plane"]["point"], L)}
        if j["type"] == "gear":
            first, second = (angular_of(n, j.get(c)) for n, c in zip(j["joints"], ("coordinate1", "coordinate2")))
            j["ratio"] *= (1 if second else L) / (1 if first else L)
        out["joints"][name] = j
    out["motions"] = {}
    for name, m in model.get("motions", {}).items():
        unit = 1.0 if angular_of(m["joint"], m.get("coordinate")) else L
        m = dict(m)
        for key, f in (("value", unit), ("velocity", unit / T)):
            if key in m:
                m[key] = function(m[key], f)
        out["motions"][name] = m
    out["forces"] = {}
    for name, f in model.get("forces", {}).items():
        f = dict(f)
        between(f)
        kind = f["type"]
        if kind == "spring-damper":
            table = (("stiffness", M / T**2), ("damping", M / T), ("length", L), ("preload", force), ("transition", L))
        elif kind == "torsion-spring":
            table = (("stiffness", torque), ("damping", torque * T), ("preload", torque))
        elif kind == "gravity-field":
            table = (("acceleration", L / T**2), ("center", L), ("strength", L**3 / T**2))
        else:
            table = ()
        for key, factor in table:
            if key in f:
                f[key] = function(f[key], factor)
        if kind == "spring-damper" and "force" in f:
            f["force"] = function(f["force"], force)
        if kind in ("force", "torque", "user"):
            for key, factor in (("force", force), ("torque", torque)):
                if key in f:
                    f[key] = function(f[key], factor)
        if kind == "bushing":
            for key, unit in (("stiffness", M / T**2), ("damping", M / T)):
                if key in f:
                    f[key] = bushing_matrix(f[key], unit)
        out["forces"][name] = f
    s = dict(model.get("simulate", {}))
    for key in ("t_end", "t_start", "step", "max_step"):
        if key in s:
            s[key] *= T
    out["simulate"] = s
    return out


# Other views of the same mechanism ------------------------------------------------------------


def rotate(model, R):
    """The mechanism in a world turned by R. Body axes, and what is given in them, stay."""
    v = lambda x: [float(c) for c in R @ np.array(x, float)]
    place = lambda p: v(p) if isinstance(p, list) else p
    out = dict(model)
    out["gravity"] = v(model.get("gravity", [0, 0, 0]))
    out["bodies"] = {}
    for name, b in model["bodies"].items():
        b = dict(b)
        for key in ("position", "velocity"):
            if key in b:
                b[key] = v(b[key])
        if b.get("type") != "point-mass":
            b["rotation"] = {"matrix": (R @ mechanics.rotation_matrix(b.get("rotation"))).tolist()}
        out["bodies"][name] = b
    for section in ("joints", "forces"):
        out[section] = {}
        for name, e in model.get(section, {}).items():
            e = dict(e)
            if "between" in e:
                e["between"] = [place(p) for p in e["between"]]
            body_axes = e["type"] == "rolling-disc" or e.get("frame") == "body"
            for key in ("at", "axis", "second_axis", "center", "acceleration"):
                if key in e and not body_axes:
                    e[key] = v(e[key])
            if "plane" in e:
                e["plane"] = {k: v(x) for k, x in e["plane"].items()}
            if e["type"] == "bushing":
                e["rotation"] = {"matrix": (R @ mechanics.rotation_matrix(e.get("rotation"))).tolist()}
            out[section][name] = e
    return out


def rename(model, seed):
    """Other names, in another order. Returns the model and old name -> new name of bodies."""
    rng = random.Random(seed)
    old = [n for s in ("bodies", "joints", "motions", "forces") for n in model.get(s, {})]
    new = [f"n{k}x" for k in range(len(old))]
    rng.shuffle(new)
    names = dict(zip(old, new))

    def text(x):
        if isinstance(x, str):
            head, dot, tail = x.partition(".")
            return names[head] + dot + tail if head in names else x
        return x

    def inside(x, key=None):
        if isinstance(x, dict):
            return {k: inside(y, k) for k, y in x.items()}
        if isinstance(x, list):
            return [inside(y, key) for y in x]
        if isinstance(x, str) and key in ("between", "on", "against", "joint", "joints", "bodies"):
            return text(x)
        if isinstance(x, str) and key in ("force", "torque"):
            return mechanics.CHANNEL.sub(lambda m: text(m.group(1)), x)
        return x

    out = dict(model)
    for section in ("bodies", "joints", "motions", "forces"):
        entries = [(names[n], inside(e)) for n, e in model.get(section, {}).items()]
        rng.shuffle(entries)
        out[section] = dict(entries)
    return out, names


def to_space(model):
    """A planar mechanism as a spatial one that moves in z = 0."""
    z = lambda v: list(v) + [0.0]
    place = lambda p: z(p) if isinstance(p, list) else p
    out = {k: v for k, v in model.items() if k != "dimension"}
    out["gravity"] = z(model.get("gravity", [0, 0]))
    out["bodies"] = {}
    for name, b in model["bodies"].items():
        b = dict(b)
        for key in ("position", "velocity"):
            if key in b:
                b[key] = z(b[key])
        if b.get("type") != "point-mass":
            b["inertia"] = [b["inertia"]] * 3
            b["rotation"] = {"axis": [0, 0, 1], "angle": b.get("rotation", 0)}
            b["angular_velocity"] = [0, 0, b.get("angular_velocity", 0)]
            b["points"] = {n: z(p) for n, p in b.get("points", {}).items()}
        out["bodies"][name] = b
    for section in ("joints", "forces"):
        out[section] = {}
        for name, e in model.get(section, {}).items():
            e = dict(e)
            if "between" in e:
                e["between"] = [place(p) for p in e["between"]]
            for key in ("at", "axis", "center", "acceleration"):
                if key in e:
                    e[key] = z(e[key])
            if e["type"] in ("revolute", "torsion-spring"):
                e["axis"] = [0, 0, 1]
            if e["type"] == "rolling-disc":
                e["axis"] = [0, 0, 1]
                e["plane"] = {k: z(x) for k, x in e["plane"].items()}
            if e["type"] in ("prismatic", "point-on-line") and "axis" not in e:
                e["axis"] = [1, 0, 0]
            if isinstance(e.get("force"), list):
                e["force"] = e["force"] + [0.0]
            if "torque" in e:
                e["torque"] = [0, 0, e["torque"].replace("angular_velocity", "angular_velocity.z") if isinstance(e["torque"], str) else e["torque"]]
            if e["type"] == "bushing":
                e["rotation"] = {"axis": [0, 0, 1], "angle": e.get("rotation", 0)}
                for key in ("stiffness", "damping"):
                    if key in e:
                        x, y, r = e[key]
                        e[key] = [x, y, x, r, r, r]
            out[section][name] = e
    return out


def restart(model, m, state, reverse=False):
    """The mechanism whose start is the given state of it: joints, springs and rests move along.

    Only for what keeps no memory beside the state: no motions, no functions of time."""
    flat = 2 if m.planar else 3
    world = lambda i, p: p if i < 0 else state.x[i] + state.R[i] @ p
    axes = lambda i, E: E if i < 0 else state.R[i] @ E
    numbers = lambda v: [float(c) for c in v[:flat]]
    out = dict(model)
    sign = -1.0 if reverse else 1.0
    out["bodies"] = {}
    for i, name in enumerate(m.bodies):
        b = dict(model["bodies"][name])
        b["position"], b["velocity"] = numbers(state.x[i]), numbers(sign * state.v[i])
        if not m.is_point[i]:
            R = state.R[i]
            b["rotation"] = math.atan2(R[1, 0], R[0, 0]) if m.planar else {"matrix": R.tolist()}
            w = sign * state.w[i]
            b["angular_velocity"] = float(w[2]) if m.planar else numbers(w)
        out["bodies"][name] = b
    out["joints"] = {}
    for name, spec in model.get("joints", {}).items():
        spec = dict(spec)
        if name in m.joints:
            j = m.joints[name]
            # Each coordinate becomes zero; springs and limits move by what it was.
            for c in j.coordinates:
                fields = spec if len(j.coordinates) == 1 else spec.get(c)
                if fields is None or c in ("x", "y"):
                    continue
                value = m.coordinate_terms(j, c, state)[3]
                if fields.get("stiffness"):
                    fields = {**fields, "rest": fields.get("rest", 0) - value}
                if "limits" in fields:
                    li = dict(fields["limits"])
                    for end in ("min", "max"):
                        if end in li:
                            li[end] -= value
                    fields = {**fields, "limits": li}
                spec = fields if len(j.coordinates) == 1 else {**spec, c: fields}
            if spec["type"] == "distance":
                spec["length"] = float(np.linalg.norm(world(j.b, j.pb) - world(j.a, j.pa)))
            elif spec["type"] == "rolling-disc":
                pass
            else:
                if "at" in spec:
                    spec["at"] = numbers(world(j.b, j.pb))
                if spec["type"] == "universal":
                    E, F = axes(j.a, j.Ea), axes(j.b, j.Eb)
                    spec["axis"], spec["second_axis"] = numbers(E[:, 0]), numbers(F[:, 1])
                elif "axis" in spec:
                    spec["axis"] = numbers(axes(j.a, j.Ea)[:, 2])
                    if "second_axis" in spec:
                        spec["second_axis"] = numbers(axes(j.b, j.Eb)[:, 2])
        out["joints"][name] = spec
    out["forces"] = {}
    for f in m.forces:
        spec = dict(f.spec)
        if f.kind == "spring-damper":
            spec.setdefault("length", float(f.start_length))
        if f.kind == "torsion-spring":
            A, B = f.frames(state)
            Ra, Rb = (A.R @ f.Ea)[0].real, (B.R @ f.Eb)[0].real
            angle = math.atan2(Rb[:, 0] @ Ra[:, 1], Rb[:, 0] @ Ra[:, 0])
            spec["angle"] = spec.get("angle", 0) - angle
            if "axis" in spec:
                spec["axis"] = numbers(Ra[:, 2])
        out["forces"][f.name] = spec
    return out
