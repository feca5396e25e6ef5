"""What must hold for every mechanism. Each property takes (net, model), raises Violation when it
does not hold, Excluded when it says nothing about this model, and else returns.

Errors are measured in states, made dimensionless by the model: positions by its size, velocities
by size over duration, rotations in rad, angular velocities by 1 over duration. Bounds come from

    growth     by how much a small disturbance of the start has grown at the end, measured
    errors     of a run, from the same run with halved steps
    condition  of the constraint gradient, from the independent solver
    NEWTON     to which a step is solved: increments below 1e-11, docs/error_control.md
"""

import json
import math
import os
import random
import subprocess

import numpy as np

import generate
import mechanics

NEWTON = 1e-11
EPS = 2.2e-16
STEPS = 100  # of runs that are compared step by step
GROWTH_LIMIT = 1e3  # beyond: disturbances dominate; chaotic or unstable
CONDITION_LIMIT = 1e4  # beyond: nearly singular
# until a run counts as endless; the sanitizers are slower
RUN_SECONDS = float(os.environ.get("GALPHA_RUN_SECONDS", "60"))
FLAT = 0.2  # sine of the angle between a rolling disc and its plane below which it falls flat


class Violation(Exception):
    pass


class Excluded(Exception):
    """The property says nothing here although it applies: chaos, singular positions. Counted."""


class Inapplicable(Exception):
    """The property is about other models."""


FOLDED = "shafts fold back on each other"  # of a constant-velocity joint
TOO_LARGE = "is too large: the energy balance"  # says the program of steps with which it fails


class ProgramFailed(Exception):
    """galpha ended with an error on a model that is right."""


class Net:
    """Runs the program, remembers runs of the model at hand."""

    def __init__(self, program, scratch):
        self.program, self.scratch = program, scratch
        self.memory, self.runs = {}, 0

    def forget(self):
        self.memory = {}

    def remember(self, key, make):
        if key not in self.memory:
            try:
                self.memory[key] = make()
            except (Excluded, ProgramFailed) as why:
                self.memory[key] = why
        value = self.memory[key]
        if isinstance(value, Exception):
            raise value
        return value

    def run(self, model, table=False, **settings):
        """A run with these settings of `simulate`: the JSON of the program; with every step's channels."""
        spec = with_output({**model, "simulate": {**model["simulate"], **settings}}, table)
        text = json.dumps(spec, indent=1)
        return self.remember((text, table), lambda: self.call(text, table))

    def call(self, text, table):
        self.runs += 1
        path, csv = (os.path.join(self.scratch, n) for n in ("model.json", "result.csv"))
        with open(path, "w") as f:
            f.write(text)
        arguments = [self.program, "run", path, "--json", "--quiet", "--no-results"] + (["--csv", csv] if table else [])
        try:
            done = subprocess.run(arguments, capture_output=True, timeout=RUN_SECONDS, check=False, text=True)
        except subprocess.TimeoutExpired as slow:
            raise ProgramFailed(f"no end within {RUN_SECONDS:g} s") from slow
        if done.returncode != 0:
            why = (done.stderr.strip() or done.stdout.strip()).replace(path, "model")
            if FOLDED in why:
                raise Excluded("a constant-velocity joint that folds back, as the program says")
            raise ProgramFailed(f"exit code {done.returncode}: {why[:600]}")
        result = json.loads(done.stdout)
        if table:
            result["table"] = read_csv(csv)
        return result


def read_csv(path):
    with open(path) as f:
        names = f.readline().strip().split(",")
        data = np.array([line.split(",") for line in f], float)
    return {n: data[:, k] for k, n in enumerate(names)}


def with_output(model, table):
    bodies = list(model["bodies"])
    channels = bodies if not table else bodies + [n for s in ("joints", "motions", "forces") for n in model.get(s, {})] + ["energy"]
    # Two output times are enough where only the end is looked at.
    return {**model, "output": {"channels": channels} if table else {"every": model["simulate"]["t_end"], "channels": channels}}


def read_state(m, values, t):
    """A state from channels: `values(name, count)`."""
    n = len(m.bodies)
    s = mechanics.State(np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), np.zeros((n, 3)), t)
    for i, name in enumerate(m.bodies):
        s.x[i], s.v[i] = (m.vector(values(f"{name}.{c}")) for c in ("position", "velocity"))
        if m.is_point[i]:
            continue
        if m.planar:
            s.R[i] = mechanics.rodrigues(np.array([0, 0, 1.0]), values(f"{name}.rotation"))
            s.w[i] = [0, 0, values(f"{name}.angular_velocity")]
        else:
            s.R[i] = mechanics.from_quaternion(np.array(values(f"{name}.rotation")))
            s.w[i] = values(f"{name}.angular_velocity")
    return s


def row(table, k):
    """Channels of one output time as a function of their names."""

    def values(name):
        if name in table:
            return float(table[name][k])
        for parts in ("wxyz", "xyz", "xy"):
            if f"{name}.{parts[-1]}" in table and f"{name}.{parts[0]}" in table:
                return [float(table[f"{name}.{p}"][k]) for p in parts]
        raise KeyError(name)

    return values


def final(m, run):
    return read_state(m, lambda n: run["final"][n], run["t_end"])


def distance(m, a, b):
    """How far two states are apart, dimensionless."""
    L, T = m.size, m.duration
    worst = 0.0
    for i in range(len(m.bodies)):
        turned = a.R[i].T @ b.R[i]
        sine = 0.5 * np.linalg.norm([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
        angle = 0.0 if m.is_point[i] else math.atan2(sine, (np.trace(turned) - 1) / 2)
        worst = max(worst, np.linalg.norm(a.x[i] - b.x[i]) / L, angle,
                    np.linalg.norm(a.v[i] - b.v[i]) * T / L, np.linalg.norm(a.w[i] - b.w[i]) * T)
    return float(worst)


def fastest(m, s):
    """The size of the velocities, dimensionless; at least 1."""
    L, T = m.size, m.duration
    return max([1.0] + [np.linalg.norm(v) * T / L for v in s.v] + [np.linalg.norm(w) * T for w in s.w])


def fixed_step(model):
    return model["simulate"]["t_end"] / STEPS


# What a model is --------------------------------------------------------------------------------


def functions_of_time(model):
    """Is anything but the state in its equations?"""
    if model.get("motions"):
        return True
    for e in list(model.get("joints", {}).values()) + list(model.get("forces", {}).values()):
        values = []
        for key in ("force", "torque", "acceleration", "length"):
            v = e.get(key)
            values += v if isinstance(v, list) else [v]
        if any(isinstance(v, dict) or (isinstance(v, str) and "*t" in v) for v in values):
            return True
    return False


def conservative(model):
    """No dissipation, no work from outside."""
    if functions_of_time(model):
        return False
    for e in list(model.get("joints", {}).values()) + list(model.get("forces", {}).values()):
        parts = [e] + [v for v in e.values() if isinstance(v, dict)]
        if any(p.get("damping") or p.get("friction") for p in parts):
            return False
        if e["type"] in ("force", "torque", "user"):
            return False
    return True


def knows_its_start(model):
    """Elements that are free as they are at t = 0, wherever that is: bushings, springs of ball joints."""
    elements = list(model.get("joints", {}).values()) + list(model.get("forces", {}).values())
    return any(e["type"] == "bushing" or (e["type"] == "spherical" and e.get("stiffness")) for e in elements)


def has_stops(model):
    for j in model.get("joints", {}).values():
        for p in [j] + [v for v in j.values() if isinstance(v, dict)]:
            if "limits" in p and p["limits"].get("model", "stop") == "stop":
                return True
    return False


def needs(condition, reason):
    if not condition:
        raise Inapplicable(reason)


# Sensitivity ------------------------------------------------------------------------------------


def disturbed(model, seed, size):
    """The model with its start moved by `size` along the constraints, positions and velocities."""
    m = mechanics.Model(model)
    rng = np.random.default_rng(seed)
    s = m.start
    rows = m.constraint_rows(s, curvature=False)
    L, T = m.size, m.duration
    unit = np.array([L if c < 3 else 1.0 for _, c in m.columns()])
    dq, dv = (rng.standard_normal(len(unit)) * unit for _ in range(2))
    if rows:
        B = m.jacobian(rows)
        A = np.linalg.solve(m.mass_root(), B.T).T
        A /= np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None]
        dq = np.linalg.solve(m.mass_root().T, project(A, m.mass_root().T @ dq))
    largest = np.max(abs(dq / unit))
    if largest < 1e-12 * np.max(abs(unit)) or len(m.columns()) == 0:
        raise Excluded("nothing can move")
    dq *= size / largest
    moved = s.copy()
    for k, (i, c) in enumerate(m.columns()):
        if c < 3:
            moved.x[i, c] += dq[k]
    for i in range(len(m.bodies)):
        theta = np.array([sum(dq[k] for k, key in enumerate(m.columns()) if key == (i, 3 + c)) for c in range(3)])
        moved.R[i] = moved.R[i] @ mechanics.exponential(theta[None])[0].real
    v = m.velocity_of(moved) + size * dv / T
    moved = m.with_velocity(moved, m.consistent_velocity(moved, v))
    return generate.restart(model, m, moved), m, moved


def project(A, y):
    return y - A.T @ np.linalg.lstsq(A.T, y, rcond=mechanics.RANK)[0]


def growth(net, model):
    """Amplification of disturbances of the start, at the end; the larger of two."""

    def measure():
        m = mechanics.Model(model)
        h = fixed_step(model)
        base = final(m, net.run(model, step=h))
        size, worst = 1e-6, 1.0
        for seed in range(2):
            try:
                other, _, moved = disturbed(model, seed, size)
            except Excluded:
                return 1.0
            start = max(size, distance(m, m.start, moved))
            worst = max(worst, distance(m, base, final(m, net.run(other, step=h))) / start)
        return worst

    try:
        value = net.remember(("growth", json.dumps(model)), measure)
    except ProgramFailed as why:
        if TOO_LARGE not in str(why):
            raise
        raise Excluded("fixed steps are too large, as the program says") from why
    if value > GROWTH_LIMIT:
        raise Excluded("chaotic or unstable")
    return value


def condition(net, model):
    """The worst condition of the constraints along the way."""

    def measure():
        m = mechanics.Model(model)
        table = net.run(model, table=True, step=fixed_step(model))["table"]
        worst = 1.0
        for k in range(0, len(table["time"]), 20):
            values = row(table, k)
            s = read_state(m, values, table["time"][k])
            follow(m, values)
            check_regular(m, s, 1.0)
            rows = m.constraint_rows(s, curvature=False)
            if rows:
                A = np.linalg.solve(m.mass_root(), m.jacobian(rows).T).T
                S = np.linalg.svd(A / np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None], compute_uv=False)
                S = S[S > mechanics.RANK * S[0]]
                worst = max(worst, S[0] / S[-1])
        return float(worst)

    value = net.remember(("condition", json.dumps(model)), measure)
    if value > CONDITION_LIMIT:
        raise Excluded("nearly singular")
    return value


def follow(m, values):
    """Full turns of angles, from the channels."""
    for name, j in m.joints.items():
        for c in j.coordinates:
            if c in mechanics.ANGLES:
                j.turns[c] = values(f"{name}.{c}")
    for f in m.forces:
        if f.kind == "torsion-spring":
            f.turns = values(f"{f.name}.angle")


# Equations of motion ----------------------------------------------------------------------------


def sampled_states(net, model):
    """Channels and states at the start, on the way and at the end of a run."""
    m = mechanics.Model(model)
    table = net.run(model, table=True, step=fixed_step(model))["table"]
    last = len(table["time"]) - 1
    for k in sorted({0, last // 3, last}):
        values = row(table, k)
        follow(m, values)
        yield m, values, read_state(m, values, table["time"][k])


def accelerations_are_right(net, model):
    """Accelerations, coordinates and joint reactions are those of the independent solver."""
    needs(not has_stops(model), "stops")
    for m, values, s in sampled_states(net, model):
        where = f"t = {s.t:g}"
        check_coordinates(m, values, s, where)
        check_force_channels(m, values, s, where)
        try:
            r = m.solve(s)
        except mechanics.Undefined as why:
            raise Inapplicable(str(why)) from why
        except mechanics.Unsolvable as why:
            raise Excluded(str(why)) from why
        check_regular(m, s, r.condition)
        F = m.mass_root()
        got = np.array([vectors(m, values, i)[c] for i, c in m.columns()])
        mine = np.array([(r.a[i] if c < 3 else r.alpha[i])[c % 3] for i, c in m.columns()])
        # Both solve A a~ = -gamma with A = B M^(-1/2): round-off grows by the condition of the
        # normal equations; CIRCLE points give gamma to 1e-12.
        allowed = (1e3 * EPS * r.condition**2 + 1e-11) * (r.load + sum_of_loads(m, s) + inertia_scale(m))
        off = float(np.max(abs(F.T @ (got - mine)))) if len(mine) else 0.0
        if not off <= allowed:
            k = int(np.argmax(abs(F.T @ (got - mine))))
            raise Violation(f"{where}: acceleration of {m.bodies[m.columns()[k][0]]} is {got[k]:.12g}, should be {mine[k]:.12g} "
                            f"(off {off:.2g}, allowed {allowed:.2g})")
        if r.redundant == 0:
            check_wrenches(m, values, r, where)


def check_regular(m, s, condition):
    """Positions where the equations nearly lose their solution are left out."""
    if condition > CONDITION_LIMIT:
        raise Excluded("nearly singular")
    if m.uprightness(s) < FLAT:
        raise Excluded("a disc that falls flat")


def vectors(m, values, i):
    """Acceleration and angular acceleration of a body from its channels, six numbers."""
    name = m.bodies[i]
    a = m.vector(values(f"{name}.acceleration"))
    if m.is_point[i]:
        return np.concatenate([a, np.zeros(3)])
    alpha = values(f"{name}.angular_acceleration")
    return np.concatenate([a, [0, 0, alpha] if m.planar else alpha])


def sum_of_loads(m, s):
    """Size of all forces, each by itself, so that their cancelling costs what it costs."""
    return float(np.linalg.norm(np.linalg.solve(m.mass_root(), np.array([m.applied(s)[i, c] for i, c in m.columns()]))))


def inertia_scale(m):
    """M^(1/2) a of a motion over the model's size in its duration: what counts as zero beside it."""
    return math.sqrt(float(np.max(m.mass))) * m.size / m.duration**2


def check_coordinates(m, values, s, where):
    for name, j in m.joints.items():
        for c in j.coordinates:
            if c in ("x", "y"):
                continue
            mine = float(j.coordinate(c, m.frame(j.a, s), m.frame(j.b, s))[0].real)
            got = values(f"{name}.{c}")
            unit = 1.0 if c in mechanics.ANGLES else m.size
            if abs(got - mine) > 1e-10 * unit * (1 + abs(mine)):
                raise Violation(f"{where}: {name}.{c} is {got:.12g}, should be {mine:.12g}")


def check_force_channels(m, values, s, where):
    """What springs, bushings, fields and applied forces say they exert."""
    for force in m.forces:
        f = np.zeros((len(m.bodies), 6))
        try:
            force.add(s, f)
        except mechanics.Undefined:
            continue
        if force.kind == "torque" or (force.kind == "user" and "force" not in force.spec):
            continue  # has a torque only
        got = values(f"{force.name}.torque" if force.kind == "torsion-spring" else f"{force.name}.force")
        if force.kind in ("spring-damper", "torsion-spring"):
            body = force.b if force.b >= 0 else force.a
            mine = float(np.linalg.norm(f[body, :3] if force.kind == "spring-damper" else f[body, 3:]))
            off, size = abs(abs(got) - mine), mine + spring_scale(m, force)
        elif force.kind == "gravity-field":
            mine = f[:, :3].sum(axis=0)
            off, size = np.linalg.norm(m.vector(got) - mine), float(np.max(abs(f)))
        elif force.kind in ("bushing", "force", "user") and force.b >= 0:
            mine = f[force.b, :3]
            off = np.linalg.norm(m.vector(got) - mine)
            size = float(np.linalg.norm(mine)) + spring_scale(m, force)
        else:
            continue
        if off > 1e-11 * size:
            raise Violation(f"{where}: channel of {force.name} ({force.kind}) is {got}, should be {mine}")


def spring_scale(m, force):
    """The load of a spring stretched by the size of the model: round-off of lengths shows at this scale."""
    stiffness, damping = (np.max(np.abs(force.spec.get(k) or [0.0])) for k in ("stiffness", "damping"))
    return float(stiffness + damping / m.duration) * m.size + 1e-300


def check_wrenches(m, values, r, where):
    """Joint reactions. Their error, as a generalised force, is the condition times round-off of the load."""
    for name, (force, torque) in r.wrench.items():
        got_f = m.vector(values(f"{name}.force"))
        got_t = values(f"{name}.torque")
        got_t = np.array([0, 0, got_t]) if m.planar else np.array(got_t)
        if m.planar:
            torque = np.array([0, 0, torque[2]])
        scale = max(np.linalg.norm(w[0]) + np.linalg.norm(w[1]) / m.size for w in r.wrench.values())
        weight = math.sqrt(float(np.max(m.mass))) * (r.load + inertia_scale(m))
        allowed = (1e3 * EPS * r.condition**2 + 1e-11) * (scale + weight)
        off = max(np.linalg.norm(got_f - force), np.linalg.norm(got_t - torque) / m.size)
        if not off <= allowed:
            raise Violation(f"{where}: {name}.force {fmt(got_f)}, torque {fmt(got_t)}; should be {fmt(force)}, {fmt(torque)} "
                            f"(off {off:.2g}, allowed {allowed:.2g})")


def fmt(v):
    return "[" + ", ".join(f"{x:.8g}" for x in v) + "]"


def newton_and_euler(net, model):
    """Reactions from channels and applied forces balance every body's inertia, friction and
    redundant joints included. Only accelerations and channels enter, no solver."""
    needs(not has_stops(model), "stops")
    for m, values, s in sampled_states(net, model):
        try:
            total, size = balance(m, values, s)
        except mechanics.Undefined as why:
            raise Inapplicable(str(why)) from why
        spread = float(np.max(m.mass) / np.min(m.mass))
        for i, name in enumerate(m.bodies):
            off = max(np.linalg.norm(total[i, :3]), 0 if m.is_point[i] else np.linalg.norm(total[i, 3:]) / m.size)
            # Sums of numbers as large as `size`, each with a few rounding errors. A light body
            # between heavy ones makes the linear equations as ill-conditioned as their masses
            # are apart.
            allowed = (1e-11 + 1e3 * EPS * spread) * size
            if not off <= allowed:
                raise Violation(f"t = {s.t:g}: forces on {name} do not balance: {fmt(total[i])} (off {off:.2g}, allowed {allowed:.2g})")


def balance(m, values, s):
    """Inertia minus forces of every body (force world, moment body axes), and the size of the terms."""
    f = m.applied(s)
    size = float(np.max(abs(f[:, :3]))) + float(np.max(abs(f[:, 3:]))) / m.size + float(np.max(m.mass)) * m.size / m.duration**2
    for name, j in m.joints.items():
        force, torque = m.vector(values(f"{name}.force")), values(f"{name}.torque")
        torque = np.array([0, 0, torque]) if m.planar else np.array(torque)
        size = max(size, np.linalg.norm(force), np.linalg.norm(torque) / m.size)
        at = j.markers(m.frame(j.a, s), m.frame(j.b, s))[2][0].real
        for body, sign in ((j.b, 1.0), (j.a, -1.0)):
            if body >= 0:
                f[body, :3] += sign * force
                f[body, 3:] += s.R[body].T @ (sign * (torque + np.cross(at - s.x[body], force)))
    for name, coordinates in drives(m):
        effort = values(f"{name}.effort")
        for joint, c, factor in coordinates:
            j = m.joints[joint]
            G = m.coordinate_terms(j, c, s)[0]
            size = max(size, abs(effort * factor) * max(np.max(abs(G[:3])), np.max(abs(G[3:])) / m.size))
            mechanics.add_pair(f, j, effort * factor * G)
    total = np.zeros_like(f)
    for i in range(len(m.bodies)):
        a = vectors(m, values, i)
        total[i, :3] = m.mass[i] * a[:3] - f[i, :3]
        size = max(size, np.linalg.norm(m.mass[i] * a[:3]))
        if not m.is_point[i]:
            moment = m.inertia[i] @ a[3:]
            total[i, 3:] = moment - f[i, 3:]
            size = max(size, np.linalg.norm(moment) / m.size)
        if m.planar:
            total[i, [2, 3, 4]] = 0
    return total, size


def drives(m):
    """Gears and motions: (name, [(joint, coordinate, effort along it by the channel)])."""
    for name, g in m.gears.items():
        ratio = g["ratio"] if g["type"] == "gear" else g["radius"]
        (j1, c1), (j2, c2) = (m.coordinate_pair(n, g.get(c)) for n, c in zip(g["joints"], ("coordinate1", "coordinate2")))
        yield name, [(j2.name, c2, 1.0), (j1.name, c1, -ratio)]
    for name, d in m.motions.items():
        j, c = m.coordinate_pair(d["joint"], d.get("coordinate"))
        yield name, [(j.name, c, 1.0)]


def trajectory_is_right(net, model):
    """The end of the motion is that of the independent solver."""
    needs(not has_stops(model), "stops")
    m = mechanics.Model(model)
    needs(len(m.bodies) <= 2, "too large for the independent solver")
    tolerance = 1e-6
    g = growth(net, model)
    condition(net, model)
    table = net.run(model, table=True, tolerance={"relative": tolerance, "absolute": tolerance * m.size * 1e-2})["table"]
    s = read_state(m, row(table, 0), table["time"][0])
    follow(m, row(table, 0))
    try:
        mine, _ = mechanics.integrate(m, s, model["simulate"]["t_end"], tolerance / 100)
    except mechanics.Undefined as why:
        raise Inapplicable(str(why)) from why
    except mechanics.Unsolvable as why:
        raise Excluded(str(why)) from why
    got = read_state(m, row(table, -1), table["time"][-1])
    off = distance(m, got, mine)
    # The tolerance is a target for the sum of local errors, which the motion then amplifies; the
    # other solver's error is a hundredth of it. Largest values as docs/error_control.md has them.
    allowed = 10 * tolerance * g * fastest(m, mine)
    if not off <= allowed:
        raise Violation(f"the end is off by {off:.2g}, allowed {allowed:.2g} (growth {g:.2g})")


# Different ways to the same motion ---------------------------------------------------------------

WAYS = {
    "index3": {"formulation": "index3"},
    "soi2": {"formulation": "soi2"},
    "hht-i3": {"formulation": "hht-i3", "method": "hht", "alpha": -0.1},
    "se3": {"kinematics": "se3"},
    "se3 index3": {"kinematics": "se3", "formulation": "index3"},
    "cayley": {"map": "cayley"},
    "hht": {"method": "hht", "alpha": -0.1},
    "newmark": {"method": "newmark"},
    "wbz": {"method": "wbz", "rho_inf": 0.8},
    "rho_inf 0.5": {"rho_inf": 0.5},
    "se3 soi2 cayley": {"kinematics": "se3", "formulation": "soi2", "map": "cayley"},
}
SAME = {
    "dense": {"solver": "dense"},
    "sparse": {"solver": "sparse"},
    "block": {"solver": "block"},
    "full Newton": {"newton": "full"},
    "ab07": {"scaling": "ab07"},
}  # not `scaling: none`: matrices of heavy bodies are then singular to working precision


def chosen(model, table, count):
    rng = random.Random(json.dumps(model, sort_keys=True))
    return rng.sample(sorted(table), count)


def converged(net, model, **settings):
    """End state and its error, from steps h, h/2, h/4; finer where differences do not fall yet."""
    m = mechanics.Model(model)
    h = fixed_step(model)
    ends = [final(m, net.run(model, step=h / 2**k, **settings)) for k in range(3)]
    for k in range(3, 6):
        coarse, fine = distance(m, ends[-3], ends[-2]), distance(m, ends[-2], ends[-1])
        if coarse >= 2.5 * fine or fine < 1e-10:
            ratio = max(2.5, min(4.0, coarse / max(fine, 1e-300)))
            return ends[-1], fine / (ratio - 1)
        ends.append(final(m, net.run(model, step=h / 2**k, **settings)))
    raise Excluded("steps of 1/3200 of the time do not resolve it")


def started(net, m, model, **settings):
    """The state at the start, as galpha makes it."""
    if max(residuals(m, m.start)) < 1e-12 * m.size:
        return m.start
    table = net.run(model, table=True, step=fixed_step(model), **settings)["table"]
    return read_state(m, row(table, 0), table["time"][0])


def ways_agree(net, model):
    """Formulations, kinematics and methods end in the same state, within their errors."""
    needs(not has_stops(model), "stops")
    m = mechanics.Model(model)
    g = growth(net, model)
    condition(net, model)
    base, error = converged(net, model)
    for way in chosen(model, WAYS, 2):
        end, other = converged(net, model, **WAYS[way])
        off = distance(m, base, end)
        # Errors of second order are known to their leading term: a factor of 2 for the rest. A
        # start that had to be moved is moved along the coordinates chosen.
        apart = distance(m, started(net, m, model), started(net, m, model, **WAYS[way]))
        allowed = 2 * (error + other + g * apart) + 4 * STEPS * NEWTON * g * fastest(m, end)
        if not off <= allowed:
            raise Violation(f"{way}: the end differs from index2 by {off:.2g}, allowed {allowed:.2g} (errors {error:.2g} and {other:.2g})")


def solvers_agree(net, model):
    """Linear solvers, scalings and Newton's variants take the same steps."""
    same_steps(net, model, [(way, model, None, SAME[way]) for way in chosen(model, SAME, 2)])


def same_steps(net, model, others):
    """Runs with fixed steps end in the same state, up to the accuracy of Newton's method."""
    m = mechanics.Model(model)
    g = growth(net, model)
    kappa = condition(net, model)
    steps = resolving_steps(net, model)
    base = final(m, net.run(model, step=m.duration / steps))
    for what, other, back, settings in others:
        m2 = mechanics.Model(other)
        end = final(m2, net.run(other, step=m2.duration / steps, **settings))
        end = back(m2, end) if back else end
        off = distance(m, base, end)
        # Each step leaves an error of NEWTON times the largest values, or round-off times the
        # condition, which the motion then amplifies.
        allowed = steps * max(NEWTON, EPS * kappa**2) * g * fastest(m, base)
        if not off <= allowed:
            raise Violation(f"{what}: the end differs by {off:.2g}, allowed {allowed:.2g} (growth {g:.2g}, condition {kappa:.2g})")


def resolving_steps(net, model):
    """How many steps follow the motion: with steps that do not, a step may have two solutions, and
    which one Newton's method finds is chance."""
    m = mechanics.Model(model)

    def end_with(k):
        try:
            return final(m, net.run(model, step=m.duration / STEPS / 2**k))
        except ProgramFailed as why:
            if TOO_LARGE not in str(why):
                raise
            return None  # it says so itself: shorter steps have to do it

    ends = [end_with(k) for k in range(2)]
    for k in range(2, 6):
        ends.append(end_with(k))
        if None in ends[-3:]:
            continue
        coarse, fine = distance(m, ends[-3], ends[-2]), distance(m, ends[-2], ends[-1])
        if coarse < 0.03 * fastest(m, ends[-1]) and (fine < 0.5 * coarse or coarse < 1e-6):
            return STEPS * 2 ** (k - 2)
    raise Excluded("steps of 1/800 of the time do not resolve it")


def units_do_not_matter(net, model):
    """Other units of length, mass and time give the same motion.

    Step by step with index 3 and SOI2. The multipliers eta of index 2 correct increments by
    B^T eta, [ABC14] eq. (58), which adds metres and radians: its steps agree only within their
    error, see ways_agree."""
    needs(not has_stops(model), "stops")
    rng = random.Random(json.dumps(model, sort_keys=True))
    model = {**model, "simulate": {**model["simulate"], "formulation": rng.choice(["index3", "soi2"])}}
    L, M, T = (2.0 ** rng.choice([-9, -5, 3, 8]) for _ in range(3))

    def back(_, s):
        return mechanics.State(s.x / L, s.R, s.v * T / L, s.w * T, s.t / T)

    same_steps(net, model, [(f"units {L:g} m, {M:g} kg, {T:g} s", generate.convert(model, L, M, T), back, {})])


def names_do_not_matter(net, model):
    """Other names in another order give the same motion."""
    needs(not has_stops(model), "stops")
    other, names = generate.rename(model, json.dumps(model, sort_keys=True))
    m = mechanics.Model(model)

    def back(m2, s):
        order = [m2.index[names[n]] for n in m.bodies]
        return mechanics.State(s.x[order], s.R[order], s.v[order], s.w[order], s.t)

    same_steps(net, model, [("renamed and reordered", other, back, {})])


def world_may_turn(net, model):
    """A rotated world gives a rotated motion."""
    needs(not has_stops(model), "stops")
    needs(model.get("dimension", 3) == 3, "planar")
    rng = random.Random(json.dumps(model, sort_keys=True))
    R = mechanics.rodrigues(np.array([rng.gauss(0, 1) for _ in range(3)]), rng.uniform(0.3, 3))

    def back(_, s):
        return mechanics.State(s.x @ R, R.T @ s.R, s.v @ R, s.w, s.t)

    same_steps(net, model, [("rotated", generate.rotate(model, R), back, {})])


def planar_is_spatial(net, model):
    """A planar model moves as the spatial one that stays in z = 0."""
    needs(not has_stops(model), "stops")
    needs(model.get("dimension", 3) == 2, "spatial")
    same_steps(net, model, [("in space", generate.to_space(model), None, {})])


def energy_balances(net, model):
    """What the energy balance misses is an error of integration: it falls with the steps."""
    needs(not has_stops(model), "stops")
    growth(net, model)
    condition(net, model)
    h = fixed_step(model)
    drifts = []
    for k in range(6):
        e = net.run(model, step=h / 2**k)["energy"]
        # Energies are differences of what may be large: their round-off belongs to the scale.
        scale = max(e["scale"], abs(e["initial"]) * 1e-4, 1e-300)
        drifts.append(e["drift_max"] / scale)
        # Second order asks for a quarter at each halving; at least a half must be seen, unless it
        # is down to what Newton's method leaves in the sum over all steps.
        if drifts[-1] < STEPS * 2**k * NEWTON:
            return
        if k >= 2 and drifts[-1] < 0.5 * drifts[-2] < 0.25 * drifts[-3] and drifts[-1] < 0.1:
            return
    raise Violation("the balance does not close as steps shrink: " + ", ".join(f"{d:.2g}" for d in drifts))


def tolerance_is_met(net, model):
    """Errors are below the tolerance, but for what the motion makes of them, and fall with it:
    with the default method, and with generalized-alpha."""
    needs(not has_stops(model), "stops")
    m = mechanics.Model(model)
    g = growth(net, model)
    condition(net, model)
    tight = 1e-8
    for method in {}, {"method": "generalized-alpha"}:
        run = lambda tol: net.run(model, tolerance={"relative": tol, "absolute": tol * min(1.0, m.size)}, **method)
        reference = final(m, run(tight))
        for tol in (1e-3, 1e-4, 1e-5, 1e-6):
            off = distance(m, reference, final(m, run(tol)))
            allowed = 10 * (tol + tight) * g * fastest(m, reference)
            if not off <= allowed:
                raise Violation(f"tolerance {tol:g}: the end is off by {off:.2g}, allowed {allowed:.2g} (growth {g:.2g})")


def time_may_run_backwards(net, model):
    """Conservative, rho_inf = 1, index 3: velocities turned round, it comes back."""
    needs(not has_stops(model), "stops")
    needs(conservative(model), "not conservative")
    needs(not knows_its_start(model), "cannot be written down from another start")
    m = mechanics.Model(model)
    g = growth(net, model)
    condition(net, model)
    h = fixed_step(model)
    settings = {"formulation": "index3", "rho_inf": 1.0}
    errors = []
    for k in range(5):
        try:
            table = net.run(model, table=True, step=h / 2**k, **settings)["table"]
            begin, end = (read_state(m, row(table, i), table["time"][i]) for i in (0, -1))
            follow(m, row(table, -1))
            back = generate.restart(model, m, end, reverse=True)
            s = final(m, net.run(back, step=h / 2**k, **settings))
        except ProgramFailed as why:
            if k == 4 or TOO_LARGE not in str(why):
                raise
            errors.append(math.inf)  # it says so itself: shorter steps have to do it
            continue
        s.v, s.w = -s.v, -s.w
        errors.append(distance(m, begin, s))
        # The trapezoidal rule is its own inverse. What is left comes from the velocities, which
        # index 3 lets off the constraints by O(h^2) and the new start puts back.
        if errors[-1] < STEPS * 2**k * NEWTON * g * fastest(m, begin):
            return
        if k >= 2 and errors[-1] < 0.35 * errors[-2] < 0.2 * errors[-3] and errors[-1] < 0.05 * g:
            return
    raise Violation("it does not come back: " + ", ".join(f"{e:.2g}" for e in errors))


def start_is_consistent(net, model):
    """The start that galpha makes fits the joints; velocities that fit are not touched."""
    m = mechanics.Model(model)
    table = net.run(model, table=True, step=fixed_step(model))["table"]
    s = read_state(m, row(table, 0), table["time"][0])
    follow(m, row(table, 0))
    position, velocity = residuals(m, s)
    unit = fastest(m, s) * m.size / m.duration
    if position > 1e-11 * m.size or velocity > 1e-10 * unit:
        raise Violation(f"residuals of the start: {position:.2g} (position), {velocity:.2g} (velocity)")
    written_p, written_v = residuals(m, m.start)
    if written_p < 1e-13 * m.size and written_v < 1e-12 * unit and distance(m, m.start, s) > 1e-9 * fastest(m, s):
        raise Violation(f"a consistent start was moved by {distance(m, m.start, s):.2g}")


def residuals(m, s):
    rows = m.constraint_rows(s, curvature=False)
    return max([abs(r[4]) for r in rows] or [0.0]), max([abs(r[3]) for r in rows] or [0.0])


def limits_hold(net, model):
    """No coordinate passes a stop by more than 1e-9 of the model's size."""
    needs(has_stops(model), "no stops")
    m = mechanics.Model(model)
    for settings in ({"tolerance": 1e-5}, {"step": fixed_step(model)}):
        table = net.run(model, table=True, **settings)["table"]
        for name, j in m.joints.items():
            for c in j.coordinates:
                fields = j.spec if len(j.coordinates) == 1 else j.spec.get(c, {})
                limits = fields.get("limits", {})
                if limits.get("model", "stop") != "stop":
                    continue
                unit = 1.0 if c in mechanics.ANGLES else m.size
                value = table[f"{name}.{c}"]
                over = max(np.max(value - limits["max"]) if "max" in limits else -1, np.max(limits["min"] - value) if "min" in limits else -1)
                if over > 1e-9 * unit:
                    raise Violation(f"{settings}: {name}.{c} passes its stop by {over:.2g}")


def rest_stays(net, model):
    """What has come to rest on a stop does not leave it by itself: a damped model goes on resting."""
    needs(has_stops(model), "no stops")
    needs(not functions_of_time(model), "driven")
    m = mechanics.Model(model)
    table = net.run(model, table=True, tolerance=1e-5, t_end=4 * model["simulate"]["t_end"])["table"]
    times, speed = table["time"], np.zeros(len(table["time"]))
    for name, i in m.index.items():
        parts = [k for k in table if k.startswith(f"{name}.velocity") or k.startswith(f"{name}.angular_velocity")]
        for k in parts:
            speed = np.maximum(speed, abs(table[k]) * m.duration / (m.size if ".velocity" in k else 1.0))
    resting = speed < 1e-8
    first = int(np.argmax(resting)) if resting.any() else None
    needs(first is not None and first > 0 and times[first] < 0.8 * times[-1] and resting[first : first + 5].all(), "does not come to rest")
    if speed[first:].max() > 1e-4:
        raise Violation(f"at rest from t = {times[first]:g} on, it moves again at t = {times[first + int(np.argmax(speed[first:] > 1e-4))]:g}")


ALWAYS = [accelerations_are_right, newton_and_euler, start_is_consistent]
ROTATING = [
    ways_agree,
    tolerance_is_met,
    energy_balances,
    time_may_run_backwards,
    units_do_not_matter,
    names_do_not_matter,
    world_may_turn,
    planar_is_spatial,
    solvers_agree,
    trajectory_is_right,
]
STOPS = [limits_hold, rest_stays]
ALL = {p.__name__: p for p in ALWAYS + ROTATING + STOPS}
