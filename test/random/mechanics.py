"""Accelerations and reactions of a model, written from docs/model.md alone.

A second opinion on what `galpha` computes. It shares neither code nor method with the library:
the equations of motion stand on acceleration level,

    M a = f - B^T lambda,    B a + gamma = 0,

positions x and velocities x' in the world, angular velocities w in body axes. Only positions of
markers, joint coordinates and residuals of constraints are written down here. Derivatives come
from complex arithmetic: the rows of B by a complex step of 1e-30, which has no truncation error,
gamma = d^2/ds^2 Phi(x + s x', R exp(s w~), t + s) from values on a circle in the complex plane.

Models are the dictionaries that a model file contains, in space or in the plane; planar ones are
treated as spatial ones that move in z = 0, with the rows that the plane does not have left out.
What the documents do not define (the transition of a cable, Stribeck friction) raises Undefined.
"""

import math
import re

import numpy as np

STEP = 1e-30  # of the complex step: its square vanishes beside 1
CIRCLE = 16  # points on the circle for second derivatives
RANK = 1e-9  # singular values below this, relative to the largest, are redundant rows


class Undefined(Exception):
    """The documents do not say what the model does."""


class Unsolvable(Exception):
    """No unique acceleration: the friction loop jams."""


# Vectors and rotations; every array has a leading axis of points that are evaluated at once ----


def skew(w):
    out = np.zeros(w.shape[:-1] + (3, 3), dtype=w.dtype)
    out[..., 0, 1], out[..., 0, 2] = -w[..., 2], w[..., 1]
    out[..., 1, 0], out[..., 1, 2] = w[..., 2], -w[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -w[..., 1], w[..., 0]
    return out


def dot(a, b):
    return (a * b).sum(axis=-1)


def turn(R, v):
    """R v."""
    return np.einsum("...ij,...j->...i", R, v)


def length(v):
    """Euclidean length, analytic in complex arguments."""
    return np.sqrt(dot(v, v))


def rotation_matrix(value):
    """Body axes in the world, from the forms of docs/model.md."""
    if value is None:
        return np.eye(3)
    if isinstance(value, (int, float)):
        return rodrigues(np.array([0.0, 0.0, 1.0]), value)
    if "axis" in value:
        return rodrigues(np.array(value["axis"], float), value["angle"])
    if "quaternion" in value:
        return from_quaternion(np.array(value["quaternion"], float))
    if "matrix" in value:
        return np.array(value["matrix"], float)
    a, b, c = value["xyz"]
    ex, ey, ez = np.eye(3)
    return rodrigues(ex, a) @ rodrigues(ey, b) @ rodrigues(ez, c)


def rodrigues(axis, angle):
    n = axis / np.linalg.norm(axis)
    N = skew(n)
    return np.eye(3) + math.sin(angle) * N + (1 - math.cos(angle)) * N @ N


def from_quaternion(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(R):
    """Unit quaternion w, x, y, z with w >= 0, by the largest component."""
    K = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    i = int(np.argmax(K))
    if i == 0:
        q = [1 + K[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    elif i == 1:
        q = [R[2, 1] - R[1, 2], 1 + 2 * R[0, 0] - K[0], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]]
    elif i == 2:
        q = [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 + 2 * R[1, 1] - K[0], R[1, 2] + R[2, 1]]
    else:
        q = [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 + 2 * R[2, 2] - K[0]]
    q = np.array(q)
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def exponential(theta):
    """exp(theta~) for small or complex theta: Rodrigues with series near zero."""
    a2 = dot(theta, theta)[..., None, None]
    small = abs(a2) < 1e-3
    safe = np.where(small, 1.0, a2)
    a = np.sqrt(safe)
    # sin(a)/a and (1 - cos a)/a^2; the series are exact to 1e-17 below |a|^2 = 1e-3
    s = np.where(small, 1 - a2 / 6 + a2**2 / 120 - a2**3 / 5040, np.sin(a) / a)
    c = np.where(small, 0.5 - a2 / 24 + a2**2 / 720 - a2**3 / 40320, (1 - np.cos(a)) / safe)
    W = skew(theta)
    return np.eye(3) + s * W + c * (W @ W)


def rotation_vector(R):
    """Rotation vector, analytic, for angles well below pi."""
    half_trace = (R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2] - 1) / 2
    v = 0.5 * np.stack(
        [R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1
    )
    s2 = dot(v, v)  # sin^2
    if np.any(half_trace.real < -0.9):
        raise Undefined("a rotation vector near a half turn")
    small = (abs(s2) < 1e-4) & (half_trace.real > 0)
    safe = np.where(small, 0.25, s2)
    # asin(s)/s by its series near zero, error below 1e-17; else from the half angle, smooth to pi
    s = np.sqrt(safe)
    angle = 2 * np.arctan(s / (1 + half_trace))
    series = 1 + s2 / 6 + 3 * s2**2 / 40 + 15 * s2**3 / 336 + 105 * s2**4 / 3456
    return v * np.where(small, series, angle / s)[..., None]


class Frame:
    """A moving frame: position x, axes R, velocity v (world), angular velocity w (body axes)."""

    __slots__ = ("x", "R", "v", "w")

    def __init__(self, x, R, v, w):
        self.x, self.R, self.v, self.w = x, R, v, w


# Functions of time ----------------------------------------------------------------------------


def piece(knots, t):
    return int(np.searchsorted(knots, t, side="right")) - 1


def function_of_time(spec, names):
    """A function of complex t. `names`: parameters of the model."""
    if isinstance(spec, (int, float)):
        return lambda t: spec + 0 * t
    if isinstance(spec, str):
        code = python_expression(spec)
        return lambda t: eval(code, {**FUNCTIONS, **names, "t": t}) + 0 * t
    (kind, p), *rest = [(k, v) for k, v in spec.items() if k not in ("spline", "outside")]
    assert not rest
    if kind == "harmonic":
        w = p["omega"] if "omega" in p else 2 * math.pi * p.get("frequency", 0)
        return lambda t: p.get("offset", 0) + p.get("amplitude", 1) * np.sin(w * t + p.get("phase", 0))
    if kind in ("ramp", "step"):
        a, b, lo, hi = p.get("start", 0), p.get("end", 1), p.get("from", 0), p.get("to", 1)

        def blend(t):
            u = (t - a) / (b - a)
            u = np.where(u.real < 0, 0, np.where(u.real > 1, 1, u))
            return lo + (hi - lo) * (u if kind == "ramp" else u**3 * (10 - 15 * u + 6 * u**2))

        return blend
    if kind == "table" and spec.get("spline", "linear") == "linear":
        knots = np.array([x for x, _ in p], float)
        values = np.array([y for _, y in p], float)
        if spec.get("outside", "hold") != "hold":
            raise Undefined("tables are tested with `hold` only")

        def line(t):
            k = np.clip(np.searchsorted(knots, t.real, side="right") - 1, 0, len(knots) - 2)
            u = (t - knots[k]) / (knots[k + 1] - knots[k])
            u = np.where(u.real < 0, 0, np.where(u.real > 1, 1, u))
            return values[k] + u * (values[k + 1] - values[k])

        return line
    raise Undefined(f"function of time {kind}")


FUNCTIONS = {name: getattr(np, name) for name in ("sin", "cos", "exp", "sqrt", "tanh")}
FUNCTIONS["pi"] = math.pi


def python_expression(text):
    return compile(text.replace("^", "**"), "<expression>", "eval")


CHANNEL = re.compile(r"\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)")


# Joints ---------------------------------------------------------------------------------------

ANGLES = {"angle", "angle1", "angle2"}
COORDINATES = {
    "revolute": ["angle"],
    "prismatic": ["displacement"],
    "cylindrical": ["angle", "displacement"],
    "universal": ["angle1", "angle2"],
    "planar": ["x", "y", "angle"],
    "screw": ["angle"],
    "point-on-line": ["displacement"],
}


def perpendicular(n):
    trial = np.eye(3)[int(np.argmin(abs(n)))]
    x = trial - n * (n @ trial)
    return x / np.linalg.norm(x)


def frame_along(n):
    """Right-handed axes with z along n, as columns."""
    n = n / np.linalg.norm(n)
    x = perpendicular(n)
    return np.column_stack([x, np.cross(n, x), n])


def bend(a, b):
    """The smallest rotation that takes direction a to b."""
    axis = np.cross(a, b)
    s, c = np.linalg.norm(axis), a @ b
    return np.eye(3) if s < 1e-14 else rodrigues(axis, math.atan2(s, c))


class Joint:
    """Markers fixed in two bodies, and what must hold between them."""

    def __init__(self, name, spec, model):
        self.name, self.spec, self.kind = name, spec, spec["type"]
        self.planar = model.planar
        (self.a, pa, named_a), (self.b, pb, named_b) = (model.place(p) for p in spec["between"])
        if "at" in spec:
            at = model.vector(spec["at"])
            pa = pb = at
        elif self.kind == "rolling-disc":
            pa = model.vector(spec.get("plane", {}).get("point", [0, 0, 0]))
        elif self.kind != "distance":
            # "ground" alone takes the other side's place; two bare bodies meet at the second's
            # centre of mass
            if not named_a and not named_b:
                pa = pb
            elif not named_a:
                pa = pb
            elif not named_b:
                pb = pa
        z = np.array([0.0, 0.0, 1.0])
        if self.kind == "rolling-disc":
            plane = spec.get("plane", {})
            normal = plane.get("normal", [0, 1] if self.planar else [0, 0, 1])
            Ea = frame_along(model.vector(normal))
            axis = model.world_axes(self.b) @ np.array(spec.get("axis", [0, 0, 1]), float)
            Eb = frame_along(z if self.planar else axis)
        elif self.kind == "universal":
            a1, a2 = (np.array(spec[k], float) for k in ("axis", "second_axis"))
            a1, a2 = a1 / np.linalg.norm(a1), a2 / np.linalg.norm(a2)
            Ea = Eb = np.column_stack([a1, a2, np.cross(a1, a2)])
        else:
            default = [1, 0] if self.planar and self.kind in ("prismatic", "point-on-line") else [0, 0, 1]
            axis = model.vector(spec.get("axis", default))
            Ea = Eb = frame_along(axis)
            if self.kind == "constant-velocity":
                second = model.vector(spec.get("second_axis", spec.get("axis", default)))
                second = second / np.linalg.norm(second)
                Eb = bend(Ea[:, 2], second) @ Ea
        self.pa, self.Ea = model.to_body(self.a, pa), model.world_axes(self.a).T @ Ea
        self.pb, self.Eb = model.to_body(self.b, pb), model.world_axes(self.b).T @ Eb
        self.Wa, self.Wb = model.world_axes(self.a).T, model.world_axes(self.b).T
        self.coordinates = COORDINATES.get(self.kind, [])
        self.turns = {}  # reference angle of each angular coordinate, turns counted
        length_spec = spec.get("length")
        if self.kind == "distance":
            start = np.linalg.norm(pb - pa)
            self.length = function_of_time(start if length_spec is None else length_spec, model.names)

    def markers(self, A, B):
        xa, xb = A.x + turn(A.R, self.pa), B.x + turn(B.R, self.pb)
        return xa, A.R @ self.Ea, xb, B.R @ self.Eb

    def rows(self, A, B, t):
        """Residuals of the holonomic constraints, as a list."""
        xa, Ea, xb, Eb = self.markers(A, B)
        d = xb - xa
        a, b = [Ea[..., i] for i in range(3)], [Eb[..., i] for i in range(3)]
        kind, flat = self.kind, self.planar
        meet = [d[..., i] for i in range(2 if flat else 3)]
        if kind == "fixed":
            return meet + ([dot(a[0], b[1])] if flat else [dot(a[0], b[1]), dot(a[1], b[2]), dot(a[2], b[0])])
        if kind == "revolute":
            return meet + ([] if flat else [dot(a[0], b[2]), dot(a[1], b[2])])
        if kind == "prismatic":
            if flat:
                return [self.across(A, d), dot(turn(A.R, self.Wa[:, 0]), turn(B.R, self.Wb[:, 1]))]
            return [dot(a[0], d), dot(a[1], d), dot(a[0], b[1]), dot(a[1], b[2]), dot(a[2], b[0])]
        if kind == "cylindrical":
            return [dot(a[0], d), dot(a[1], d), dot(a[0], b[2]), dot(a[1], b[2])]
        if kind == "spherical":
            return meet
        if kind == "universal":
            return meet + [dot(a[0], b[1])]
        if kind == "planar":
            return [dot(a[2], d), dot(a[0], b[2]), dot(a[1], b[2])]
        if kind == "screw":
            advance = dot(a[2], d) - self.spec["pitch"] / (2 * math.pi) * self.coordinate("angle", A, B)
            return [dot(a[0], d), dot(a[1], d), dot(a[0], b[2]), dot(a[1], b[2]), advance]
        if kind == "distance":
            return [length(d) - self.length(t)]
        if kind == "point-on-line":
            return [self.across(A, d)] if flat else [dot(a[0], d), dot(a[1], d)]
        if kind == "point-on-plane":
            return [dot(a[2], d)]
        if kind == "constant-velocity":
            return meet + [dot(a[0], b[1]) - dot(a[1], b[0])]
        if kind == "rolling-disc":
            return [dot(a[2], d) - self.spec["radius"] * self.lean(a[2], b[2])[1]]
        raise Undefined(kind)

    def across(self, A, d):
        """In the plane: the part of d across the axis of the first marker."""
        return dot(turn(A.R, np.cross(np.array([0, 0, 1.0]), self.Ea[:, 2])), d)

    def lean(self, normal, axis):
        """Direction in the disc's plane nearest the normal, unit length, and its part along the normal."""
        u = normal - dot(normal, axis)[..., None] * axis
        size = length(u)
        return u / size[..., None], size

    def uprightness(self, A, B):
        """1 for a disc that stands, 0 for one that lies flat, where rolling is singular."""
        if self.kind != "rolling-disc":
            return 1.0
        _, Ea, _, Eb = self.markers(A, B)
        return float(self.lean(Ea[..., 2], Eb[..., 2])[1][0].real)

    def nearness(self, A, B, size):
        """A distance is singular where it is zero: how far that is, by the size of the model."""
        if self.kind != "distance":
            return 1.0
        xa, _, xb, _ = self.markers(A, B)
        return min(1.0, float(np.linalg.norm((xb - xa)[0].real)) / size)

    def speed_rows(self, A, B):
        """Residuals of the nonholonomic constraints: no slip at the contact."""
        if self.kind != "rolling-disc":
            return []
        xa, Ea, xb, Eb = self.markers(A, B)
        u, _ = self.lean(Ea[..., 2], Eb[..., 2])
        contact = xb - self.spec["radius"] * u
        slip = velocity_at(B, contact) - velocity_at(A, contact)
        if self.planar:
            return [self.across(A, slip)]
        return [dot(Ea[..., 0], slip), dot(Ea[..., 1], slip)]

    def contact(self, A, B):
        _, Ea, xb, Eb = self.markers(A, B)
        return xb - self.spec["radius"] * self.lean(Ea[..., 2], Eb[..., 2])[0]

    def coordinate(self, name, A, B):
        xa, Ea, xb, Eb = self.markers(A, B)
        d = xb - xa
        a, b = [Ea[..., i] for i in range(3)], [Eb[..., i] for i in range(3)]
        if name == "displacement":
            return dot(a[2], d)
        if name in ("x", "y"):
            raise Undefined("the directions of x and y of a planar joint")
        if name == "angle1":
            return self.unwound(name, dot(b[1], a[2]), dot(b[1], a[1]))
        if name == "angle2":
            return self.unwound(name, dot(b[0], np.cross(b[1], a[0])), dot(b[0], a[0]))
        return self.unwound(name, dot(b[0], a[1]), dot(b[0], a[0]))

    def unwound(self, name, s, c):
        """The angle whose sine and cosine are in proportion s : c, on the branch in `turns`."""
        reference = self.turns.get(name, 0.0)
        s0, c0 = math.sin(reference), math.cos(reference)
        return reference + 2 * np.arctan((s * c0 - c * s0) / (np.sqrt(s * s + c * c) + c * c0 + s * s0))

    def wind(self, A, B):
        """Follows angles to the frames given: the reference moves with them."""
        for name in self.coordinates:
            if name in ANGLES:
                self.turns[name] = float(self.coordinate(name, A, B)[0].real)


def velocity_at(body, point):
    return body.v + np.cross(turn(body.R, body.w), point - body.x)


# The model ------------------------------------------------------------------------------------


class State:
    """x, R, v (world), w (body axes) of every body, and the time."""

    def __init__(self, x, R, v, w, t=0.0):
        self.x, self.R, self.v, self.w, self.t = x, R, v, w, t

    def copy(self):
        return State(self.x.copy(), self.R.copy(), self.v.copy(), self.w.copy(), self.t)


class Accelerations:
    """a, alpha per body; wrench of each joint on its second body; condition of the rows."""


class Model:
    def __init__(self, spec):
        self.spec = spec
        self.planar = spec.get("dimension", 3) == 2
        self.names = dict(spec.get("parameters", {}))
        self.bodies = list(spec.get("bodies", {}))
        self.index = {name: i for i, name in enumerate(self.bodies)}
        self.read_bodies()
        self.joints = {
            name: Joint(name, j, self)
            for name, j in spec.get("joints", {}).items()
            if j["type"] not in ("gear", "rack")
        }
        self.gears = {n: j for n, j in spec.get("joints", {}).items() if j["type"] in ("gear", "rack")}
        self.motions = spec.get("motions", {})
        self.forces = [Force(name, f, self) for name, f in spec.get("forces", {}).items()]
        self.gravity = self.vector(spec.get("gravity", [0, 0, 0]))
        self.rows_of = self.list_rows()

    # Reading

    def vector(self, v):
        v = np.array(v, float)
        return np.append(v, 0.0) if len(v) == 2 else v

    def read_bodies(self):
        n = len(self.bodies)
        self.start = State(np.zeros((n, 3)), np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3)),
                           self.spec.get("simulate", {}).get("t_start", 0.0))
        self.mass, self.inertia, self.is_point = np.zeros(n), np.zeros((n, 3, 3)), [False] * n
        for i, name in enumerate(self.bodies):
            b = self.spec["bodies"][name]
            self.mass[i] = b["mass"]
            self.is_point[i] = b.get("type") == "point-mass"
            self.start.x[i] = self.vector(b.get("position", [0, 0, 0]))
            self.start.v[i] = self.vector(b.get("velocity", [0, 0, 0]))
            self.start.R[i] = rotation_matrix(b.get("rotation"))
            w = b.get("angular_velocity", 0.0 if self.planar else [0, 0, 0])
            self.start.w[i] = [0, 0, w] if self.planar else w
            if self.is_point[i]:
                self.inertia[i] = np.eye(3)  # never turns: its rotations are not among the unknowns
                continue
            J = b["inertia"]
            if self.planar:
                self.inertia[i] = J * np.eye(3)
            else:
                xy, xz, yz = J[3:] if len(J) == 6 else (0, 0, 0)
                self.inertia[i] = [[J[0], xy, xz], [xy, J[1], yz], [xz, yz, J[2]]]

    def place(self, p):
        """Body (-1: ground), world position at the start, and whether a point was named."""
        if isinstance(p, (list, tuple)):
            return -1, self.vector(p), True
        if p == "ground":
            return -1, np.zeros(3), False
        body, _, point = p.partition(".")
        i = self.index[body]
        local = self.spec["bodies"][body]["points"][point] if point else [0, 0, 0]
        return i, self.start.x[i] + self.start.R[i] @ self.vector(local), bool(point) or self.is_point[i]

    def world_axes(self, i):
        return np.eye(3) if i < 0 else self.start.R[i]

    def to_body(self, i, p):
        return p.copy() if i < 0 else self.start.R[i].T @ (p - self.start.x[i])

    # Evaluating

    def frame(self, i, state, count=1, dtype=complex):
        """`count` copies of a body's frame."""
        if i < 0:
            x, R, v, w = np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)
        else:
            x, R, v, w = state.x[i], state.R[i], state.v[i], state.w[i]
        make = lambda q: np.broadcast_to(q, (count,) + q.shape).astype(dtype)
        return Frame(make(x), make(R), make(v), make(w))

    def pair_gradient(self, a, b, function, state):
        """d function(A, B)/d(x_a, theta_a, x_b, theta_b): rows x 12, ground as any other body."""
        frames = []
        for k, i in enumerate((a, b)):
            f = self.frame(i, state, 12)
            for j in range(3):
                f.x[6 * k + j, j] += 1j * STEP
            spin = np.zeros((12, 3), complex)
            for j in range(3):
                spin[6 * k + 3 + j, j] = 1j * STEP
            f.R = f.R + f.R @ skew(spin)
            frames.append(f)
        if a == b:
            raise Undefined("a joint of a body with itself")
        return np.array([r.imag / STEP for r in function(*frames)]).reshape(-1, 12)

    def second_derivative(self, a, b, function, state, nearness=1.0):
        """d^2/ds^2 function(A(s), B(s), t + s) with velocities held, by Cauchy's formula.

        nearness: how far the function's next singularity is, 1 where there is none near."""
        rates = [np.linalg.norm(state.w[i]) for i in (a, b) if i >= 0] + [
            np.linalg.norm(state.v[i]) / self.size for i in (a, b) if i >= 0] + [1.0 / self.duration]
        radius = 0.1 * nearness / max(rates)  # series in powers of 0.1: sixteen points leave 1e-14
        s = radius * np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
        frames = []
        for i in (a, b):
            f = self.frame(i, state, CIRCLE)
            f.x = f.x + s[:, None] * f.v
            f.R = f.R @ exponential(s[:, None] * f.w)
            frames.append(f)
        weight = s**-2 * 2 / CIRCLE
        return np.array([(r * weight).sum().real for r in function(*frames, state.t + s)])

    def along_motion(self, a, b, function, state):
        """d/ds function(A(s), B(s)) with velocities held."""
        frames = []
        for i in (a, b):
            f = self.frame(i, state)
            f.x = f.x + 1j * STEP * f.v
            f.R = f.R + f.R @ skew(1j * STEP * f.w)
            frames.append(f)
        return np.array([r[0].imag / STEP for r in function(*frames)])

    def speed_gradient(self, a, b, function, state):
        """d function/d(v_a, w_a, v_b, w_b): rows x 12."""
        frames = []
        for k, i in enumerate((a, b)):
            f = self.frame(i, state, 12)
            for j in range(3):
                f.v[6 * k + j, j] += 1j * STEP
                f.w[6 * k + 3 + j, j] += 1j * STEP
            frames.append(f)
        return np.array([r.imag / STEP for r in function(*frames)]).reshape(-1, 12)

    @property
    def size(self):
        """A length of the model: the largest extent of what is written in it."""
        if not hasattr(self, "_size"):
            points = [self.start.x[i] for i in range(len(self.bodies))]
            for i, name in enumerate(self.bodies):
                for p in self.spec["bodies"][name].get("points", {}).values():
                    points.append(self.start.x[i] + self.start.R[i] @ self.vector(p))
            for j in self.joints.values():
                points.append(self.start.x[j.b] + self.start.R[j.b] @ j.pb if j.b >= 0 else j.pb)
            points = np.array(points + [np.zeros(3)])
            self._size = float(np.max(np.ptp(points, axis=0))) or 1.0
        return self._size

    @property
    def duration(self):
        s = self.spec.get("simulate", {})
        return s.get("t_end", 1.0) - s.get("t_start", 0.0)

    # Constraints: (owner, bodies, gradient 12 columns, gamma, residual)

    def list_rows(self):
        return list(self.joints.values())

    def coordinate_pair(self, joint_name, coordinate):
        joint = self.joints[joint_name]
        name = coordinate or joint.coordinates[0]
        return joint, name

    def constraint_rows(self, state, curvature=True):
        """Every row as (owner, [(body, 6 numbers)...], gamma, velocity residual, position residual).

        Without `curvature` gamma is left at 0, which saves half of the work."""
        out = []

        def add(owner, joint, G, gamma, rate, residual):
            for k in range(len(G)):
                out.append((owner, [(joint.a, G[k, :6]), (joint.b, G[k, 6:])], gamma[k], rate[k], residual[k]))

        for name, j in self.joints.items():
            A, B = self.frame(j.a, state), self.frame(j.b, state)
            here = lambda A, B: j.rows(A, B, state.t + 0j)
            G = self.pair_gradient(j.a, j.b, here, state)
            gamma = np.zeros(len(G))
            if curvature:
                gamma = self.second_derivative(j.a, j.b, j.rows, state, min(j.uprightness(A, B), j.nearness(A, B, self.size)))
            drift = np.array([np.ravel(r.imag)[0] / STEP for r in j.rows(A, B, np.array([state.t + 1j * STEP]))])
            rate = G @ self.pair_velocity(j, state) + drift
            add(name, j, G, gamma, rate, np.array([r[0].real for r in here(A, B)]))
            if j.kind == "rolling-disc":
                N = self.speed_gradient(j.a, j.b, j.speed_rows, state)
                slip = np.array([r[0].real for r in j.speed_rows(A, B)])
                add(name, j, N, self.along_motion(j.a, j.b, j.speed_rows, state), slip, 0 * slip)
        for name, g in self.gears.items():
            first, second = g["joints"]
            ratio = g["ratio"] if g["type"] == "gear" else g["radius"]
            parts, gamma, rate, residual = [], 0.0, 0.0, 0.0
            for joint_name, which, factor in ((second, "coordinate2", 1.0), (first, "coordinate1", -ratio)):
                j, c = self.coordinate_pair(joint_name, g.get(which))
                G, bias, speed, value = self.coordinate_terms(j, c, state)
                parts += [(j.a, factor * G[:6]), (j.b, factor * G[6:])]
                gamma, rate, residual = gamma + factor * bias, rate + factor * speed, residual + factor * value
            out.append((name, parts, gamma, rate, residual))
        for name, m in self.motions.items():
            j, c = self.coordinate_pair(m["joint"], m.get("coordinate"))
            G, bias, speed, value = self.coordinate_terms(j, c, state)
            f = function_of_time(m["value"] if "value" in m else m["velocity"], self.names)
            d = lambda t: f(t)
            first = float(np.ravel(d(np.array([state.t + 1j * STEP])))[0].imag / STEP)
            here = float(np.ravel(d(np.array([state.t + 0j])))[0].real)
            if "value" in m:
                radius = 1e-2 * self.duration
                s = radius * np.exp(2j * np.pi * np.arange(CIRCLE) / CIRCLE)
                second = ((d(state.t + s)) * s**-2 * 2 / CIRCLE).sum().real if smooth_near(m["value"], state.t, radius) else None
                if second is None:
                    raise Undefined("a corner of a motion")
                row = (bias - second, speed - first, value - here)
            else:
                row = (bias - first, speed - here, 0.0)
            out.append((name, [(j.a, G[:6]), (j.b, G[6:])], *row))
        return out

    def pair_velocity(self, j, state):
        out = np.zeros(12)
        for k, i in enumerate((j.a, j.b)):
            if i >= 0:
                out[6 * k : 6 * k + 3], out[6 * k + 3 : 6 * k + 6] = state.v[i], state.w[i]
        return out

    def coordinate_terms(self, j, c, state):
        """Gradient (12), second derivative along the motion, rate and value of a coordinate."""
        one = lambda A, B, *_: [j.coordinate(c, A, B)]
        G = self.pair_gradient(j.a, j.b, one, state)[0]
        bias = self.second_derivative(j.a, j.b, one, state)[0]
        value = one(self.frame(j.a, state), self.frame(j.b, state))[0][0].real
        return G, bias, float(G @ self.pair_velocity(j, state)), float(value)

    def uprightness(self, state):
        """Of the disc that lies flattest; 1 where there is none."""
        return min([j.uprightness(self.frame(j.a, state), self.frame(j.b, state)) for j in self.joints.values()] + [1.0])

    def wind(self, state):
        """Angles follow the state by less than half a turn."""
        for j in self.joints.values():
            j.wind(self.frame(j.a, state), self.frame(j.b, state))

    # Equations of motion

    def columns(self):
        """Unknown accelerations: (body, component), x'' in the world, w' in body axes."""
        if not hasattr(self, "_columns"):
            free = [0, 1, 5] if self.planar else [0, 1, 2, 3, 4, 5]
            self._columns = [(i, c) for i in range(len(self.bodies)) for c in free
                             if not (self.is_point[i] and c >= 3)]
        return self._columns

    def jacobian(self, rows):
        lookup = {key: k for k, key in enumerate(self.columns())}
        B = np.zeros((len(rows), len(lookup)))
        for r, (_, parts, *_rest) in enumerate(rows):
            for body, g in parts:
                for c in range(6):
                    if (body, c) in lookup:
                        B[r, lookup[body, c]] += g[c]
        return B

    def mass_root(self):
        """M^(1/2) as a factor F with M = F F^T, over the columns."""
        if not hasattr(self, "_root"):
            n = len(self.bodies)
            full = np.zeros((6 * n, 6 * n))
            for i in range(n):
                full[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self.mass[i] * np.eye(3)
                full[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = self.inertia[i]
            keep = [6 * i + c for i, c in self.columns()]
            self._root = np.linalg.cholesky(full[np.ix_(keep, keep)])
        return self._root

    def applied(self, state):
        """Forces on the bodies without reactions: force (world) and moment (body axes), n x 6."""
        f = np.zeros((len(self.bodies), 6))
        f[:, :3] = self.mass[:, None] * self.gravity
        for i in range(len(self.bodies)):
            if not self.is_point[i]:
                f[i, 3:] -= np.cross(state.w[i], self.inertia[i] @ state.w[i])
        for force in self.forces:
            force.add(state, f)
        return f

    def efforts(self, state):
        """What acts along coordinates, friction aside: name -> (joint, gradient, effort, friction, rate)."""
        out = []
        for name, j in self.joints.items():
            for c in j.coordinates:
                fields = j.spec if len(j.coordinates) == 1 else j.spec.get(c, {})
                if not any(fields.get(k) for k in ("stiffness", "damping", "friction", "limits")):
                    continue
                G, _, rate, value = self.coordinate_terms(j, c, state)
                effort = -fields.get("stiffness", 0) * (value - fields.get("rest", 0)) - fields.get("damping", 0) * rate
                effort += buffer(fields.get("limits"), value, rate)
                out.append((j, c, G, effort, fields.get("friction"), rate))
            if j.kind == "spherical" and any(j.spec.get(k) for k in ("stiffness", "damping", "friction")):
                out += self.ball_effort(j, state)
        return out

    def ball_effort(self, j, state):
        """Torque on the second body of a spherical joint, as a wrench in place of a gradient."""
        A, B = self.frame(j.a, state), self.frame(j.b, state)
        Ra, Rb = (A.R @ j.Ea)[0].real, (B.R @ j.Eb)[0].real
        theta = Ra @ rotation_vector((Ra.T @ Rb)[None])[0]
        rate = B.R[0].real @ B.w[0].real - A.R[0].real @ A.w[0].real
        torque = -j.spec.get("stiffness", 0) * theta - j.spec.get("damping", 0) * rate
        wrench = lambda torque: np.concatenate([np.zeros(3), -(A.R[0].real.T @ torque), np.zeros(3), B.R[0].real.T @ torque])
        speed = float(np.linalg.norm(rate))
        return [(j, None, wrench(torque), 1.0, None, 0.0)] + (
            [(j, None, wrench(rate / max(speed, 1e-300)), 0.0, j.spec["friction"], speed)] if j.spec.get("friction") else [])

    def solve(self, state):
        """Accelerations and reactions at a state."""
        rows = self.constraint_rows(state)
        B, gamma = self.jacobian(rows), np.array([r[2] for r in rows])
        F = self.mass_root()
        f0 = self.applied(state)
        efforts = self.efforts(state)
        friction = [0.0] * len(efforts)
        A = np.linalg.solve(F, B.T).T  # B F^-T
        scale = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
        A, gamma_s = A / scale[:, None], gamma / scale
        if len(rows):
            U, S, Vt = np.linalg.svd(A, full_matrices=False)
            rank = int((S > RANK * S[0]).sum())
            condition = S[0] / S[rank - 1]
        else:
            U, S, Vt, rank, condition = np.zeros((0, 0)), np.zeros(0), np.zeros((0, len(F))), 0, 1.0
        for attempt in range(200):
            f = f0.copy()
            for (j, _, G, effort, _, _), extra in zip(efforts, friction):
                add_pair(f, j, G * (effort + extra))
            y = np.linalg.solve(F, np.array([f[i, c] for i, c in self.columns()]))
            # A a~ + gamma = 0 with a~ = y - A^T lambda
            z = (U[:, :rank].T @ (A @ y + gamma_s)) / S[:rank] if rank else np.zeros(0)
            a = np.linalg.solve(F.T, y - Vt[:rank].T @ z)
            lam = (U[:, :rank] @ (z / S[:rank])) / scale if rank else np.zeros(len(rows))
            reactions = self.reactions(rows, lam)
            wanted = [self.friction_effort(e, reactions, state) for e in efforts]
            change = max([abs(w - o) for w, o in zip(wanted, friction)] or [0.0])
            friction = wanted
            if change <= 1e-15 * max([abs(w) for w in wanted] or [1.0]) or change == 0:
                break
        else:
            raise Unsolvable("friction does not settle")
        result = Accelerations()
        full = np.zeros((len(self.bodies), 6))
        for k, (i, c) in enumerate(self.columns()):
            full[i, c] = a[k]
        result.a, result.alpha = full[:, :3], full[:, 3:]
        result.condition, result.redundant = float(condition) / self.uprightness(state), len(rows) - rank
        result.dof = len(self.columns()) - rank
        result.rows, result.lam, result.reactions = rows, lam, reactions
        result.wrench = self.joint_wrenches(reactions, efforts, friction, state)
        result.efforts = efforts
        result.position_residual = max([abs(r[4]) for r in rows] or [0.0])
        result.velocity_residual = max([abs(r[3]) for r in rows] or [0.0])
        result.load = np.linalg.norm(y) + np.linalg.norm(z)
        result.null = Vt[rank:] if rank else None
        return result

    def reactions(self, rows, lam):
        """Force and moment (12 numbers: first, second body) of each joint's own rows."""
        out = {}
        for (owner, parts, *_), l in zip(rows, lam):
            if owner in self.joints:
                out.setdefault(owner, np.zeros(12))
                out[owner][:6] -= l * parts[0][1]
                out[owner][6:] -= l * parts[1][1]
        return out

    def friction_effort(self, effort, reactions, state):
        j, c, G, _, friction, rate = effort
        if not friction:
            return 0.0
        if friction.get("model", "regularised") != "regularised":
            raise Undefined("friction with sticking")
        force = reactions.get(j.name, np.zeros(12))[6:9]
        if j.kind == "spherical":
            pressing = np.linalg.norm(force)
        else:
            _, Ea, _, _ = j.markers(self.frame(j.a, state), self.frame(j.b, state))
            z = Ea[0].real[:, 0 if j.kind == "universal" else 2]
            along = abs(force @ z)
            across = np.linalg.norm(force - (force @ z) * z)
            pressing = {"prismatic": across, "cylindrical": across, "point-on-line": across, "planar": along}.get(j.kind, across + along)
        x = rate / friction.get("transition", 1e-3)
        sliding = friction["coefficient"]
        mu = (sliding + (friction.get("static", sliding) - sliding) * math.exp(-x * x / 9)) * math.tanh(3 * x)
        radius = friction["radius"] if j.kind == "spherical" or c in ANGLES else 1.0
        return -mu * radius * (pressing + friction.get("preload", 0))

    def joint_wrenches(self, reactions, efforts, friction, state):
        """Force, and torque at the joint, on each second body, world axes, as the channels have them."""
        out = {}
        for name, j in self.joints.items():
            w = reactions.get(name, np.zeros(12)).copy()
            for (owner, _, G, effort, _, _), extra in zip(efforts, friction):
                if owner is j:
                    w += G * (effort + extra)
            B = self.frame(j.b, state)
            _, _, xb, _ = j.markers(self.frame(j.a, state), B)
            arm = xb[0].real - B.x[0].real
            force = w[6:9]
            out[name] = force, B.R[0].real @ w[9:12] - np.cross(arm, force)
        return out

    def consistent_velocity(self, state, v):
        """The velocities nearest v, by the mass metric, that fit the constraints; columns() as unknowns."""
        rows = self.constraint_rows(state, curvature=False)
        if not rows:
            return v
        B, rate = self.jacobian(rows), np.array([r[3] for r in rows])
        drift = rate - B @ self.velocity_of(state)
        F = self.mass_root()
        A = np.linalg.solve(F, B.T).T
        scale = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
        y = F.T @ v
        correction = np.linalg.lstsq(A / scale[:, None], (A @ y + drift) / scale, rcond=RANK)[0]
        return np.linalg.solve(F.T, y - correction)

    def velocity_of(self, state):
        return np.array([(state.v[i] if c < 3 else state.w[i])[c % 3] for i, c in self.columns()])

    def with_velocity(self, state, v):
        out = state.copy()
        for k, (i, c) in enumerate(self.columns()):
            (out.v[i] if c < 3 else out.w[i])[c % 3] = v[k]
        return out


def add_pair(f, j, w):
    if j.a >= 0:
        f[j.a] += w[:6]
    if j.b >= 0:
        f[j.b] += w[6:]


def smooth_near(spec, t, radius):
    """No corner of a piecewise function within the radius."""
    if isinstance(spec, dict):
        for kind in ("step", "ramp"):
            if kind in spec:
                p = spec[kind]
                return all(abs(t - corner) > radius for corner in (p.get("start", 0), p.get("end", 1)))
    return True


def buffer(limits, value, rate):
    if not limits or limits.get("model", "stop") != "buffer":
        return 0.0
    for end, sign in (("max", 1.0), ("min", -1.0)):
        if end in limits:
            depth = sign * (value - limits[end])
            if depth > 0:
                if limits.get("damping") and depth < limits.get("depth", 1e-3):
                    raise Undefined("the onset of a buffer's damping")
                return -sign * max(0.0, limits["stiffness"] * depth + limits.get("damping", 0) * sign * rate)
    return 0.0


# Forces ---------------------------------------------------------------------------------------


class Force:
    def __init__(self, name, spec, model):
        self.name, self.spec, self.kind, self.model = name, spec, spec["type"], model
        if "between" in spec:
            (self.a, pa, named_a), (self.b, pb, named_b) = (model.place(p) for p in spec["between"])
            if self.kind == "bushing":
                if "at" in spec:
                    pa = pb = model.vector(spec["at"])
                elif not named_a:
                    pa = pb
                elif not named_b:
                    pb = pa
            self.pa, self.pb = model.to_body(self.a, pa), model.to_body(self.b, pb)
            self.start_length = np.linalg.norm(pb - pa)
            if self.kind in ("bushing", "torsion-spring"):
                if self.kind == "bushing":
                    E = rotation_matrix(spec.get("rotation"))
                else:
                    E = frame_along(model.vector(spec.get("axis", [0, 0, 1])))
                self.Ea, self.Eb = model.world_axes(self.a).T @ E, model.world_axes(self.b).T @ E
        if "on" in spec:
            self.b, p, _ = model.place(spec["on"])
            self.pb = model.to_body(self.b, p)

    def add(self, state, f):
        getattr(self, self.kind.replace("-", "_"))(state, f)

    def frames(self, state):
        return self.model.frame(self.a, state), self.model.frame(self.b, state)

    def push(self, f, state, body, point, force, torque=np.zeros(3)):
        """Adds a force at a point and a torque, all in world axes."""
        if body >= 0:
            moment = np.cross(point - state.x[body], force) + torque
            f[body, :3] += force
            f[body, 3:] += state.R[body].T @ moment

    def spring_damper(self, state, f):
        A, B = self.frames(state)
        xa, xb = (F.x[0].real + F.R[0].real @ p for F, p in ((A, self.pa), (B, self.pb)))
        va, vb = (velocity_at(F, x)[0].real for F, x in ((A, xa), (B, xb)))
        d = xb - xa
        l = np.linalg.norm(d)
        n = d / l
        rate = n @ (vb - va)
        s = self.spec
        if s.get("tension_only"):
            raise Undefined("the transition of a cable")
        tension = s.get("stiffness", 0) * (l - s.get("length", self.start_length)) + s.get("damping", 0) * rate
        tension += s.get("preload", 0)
        if "force" in s:
            names = {**self.model.names, "length": l, "rate": rate}
            tension += float(np.real(evaluate(s["force"], state.t, names)))
        self.push(f, state, self.b, xb, -tension * n)
        self.push(f, state, self.a, xa, tension * n)

    def torsion_spring(self, state, f):
        A, B = self.frames(state)
        Ra, Rb = (A.R @ self.Ea)[0].real, (B.R @ self.Eb)[0].real
        z = Ra[:, 2]
        angle = math.atan2(Rb[:, 0] @ Ra[:, 1], Rb[:, 0] @ Ra[:, 0])
        rate = z @ (B.R[0].real @ B.w[0].real - A.R[0].real @ A.w[0].real)
        s = self.spec
        reference = getattr(self, "turns", 0.0)
        angle += 2 * math.pi * round((reference - angle) / (2 * math.pi))
        self.turns = angle
        torque = -(s.get("stiffness", 0) * (angle - s.get("angle", 0)) + s.get("damping", 0) * rate + s.get("preload", 0))
        self.push(f, state, self.b, state.x[self.b] if self.b >= 0 else np.zeros(3), np.zeros(3), torque * z)
        self.push(f, state, self.a, state.x[self.a] if self.a >= 0 else np.zeros(3), np.zeros(3), -torque * z)

    def bushing(self, state, f):
        """f = -K (u, theta) - D (u', w): u in axes of the first frame, theta the rotation vector."""
        A, B = self.frames(state)
        n = 3 if self.model.planar else 6

        def deformation(A, B):
            xa, xb = A.x + turn(A.R, self.pa), B.x + turn(B.R, self.pb)
            Ra, Rb = A.R @ self.Ea, B.R @ self.Eb
            RaT = np.swapaxes(Ra, -1, -2)
            u, theta = turn(RaT, xb - xa), rotation_vector(RaT @ Rb)
            parts = [u[..., i] for i in range(3)] + [theta[..., i] for i in range(3)]
            return [parts[0], parts[1], parts[5]] if n == 3 else parts

        K, D = (matrix_of(self.spec.get(k), n) for k in ("stiffness", "damping"))
        e = np.array([x[0].real for x in deformation(A, B)])
        G = self.model.pair_gradient(self.a, self.b, deformation, state)
        rate = G @ self.model.pair_velocity(self, state)
        # The gradient of the energy e.K.e/2; the damper acts on the rates of the same coordinates.
        add_pair(f, self, -(K @ e + D @ rate) @ G)

    def gravity_field(self, state, f):
        s, m = self.spec, self.model
        for name in s.get("bodies", m.bodies):
            i = m.index[name]
            if "acceleration" in s:
                g = m.vector([float(np.real(evaluate(c, state.t, m.names))) for c in s["acceleration"]])
            else:
                r = m.vector(s["center"]) - state.x[i]
                g = s["strength"] * r / np.linalg.norm(r) ** 3
            f[i, :3] += m.mass[i] * g

    def components(self, key, state):
        spec = self.spec.get(key)
        if spec is None:
            return np.zeros(3)
        if not isinstance(spec, list):  # planar torque
            return np.array([0, 0, self.value(spec, state)])
        v = [self.value(c, state) for c in spec]
        return np.array(v + [0.0] if len(v) == 2 else v)

    def value(self, spec, state):
        m = self.model
        if isinstance(spec, str):
            names, text = dict(m.names), spec
            for k, channel in enumerate(sorted(set(CHANNEL.findall(spec)), key=len, reverse=True)):
                text = re.sub(re.escape(channel) + r"\b", f"channel_{k}", text)
                names[f"channel_{k}"] = channel_value(m, channel, state)
            return float(np.real(evaluate(text, state.t, names)))
        return float(np.real(evaluate(spec, state.t, m.names)))

    def force(self, state, f):
        self.apply(state, f, self.components("force", state), np.zeros(3))

    def torque(self, state, f):
        self.apply(state, f, np.zeros(3), self.components("torque", state))

    def user(self, state, f):
        self.apply(state, f, self.components("force", state), self.components("torque", state))

    def apply(self, state, f, force, torque):
        B = self.model.frame(self.b, state)
        R = B.R[0].real
        if self.spec.get("frame", "world") == "body":
            force, torque = R @ force, R @ torque
        at = B.x[0].real + R @ self.pb
        self.push(f, state, self.b, at, force, torque)
        if "against" in self.spec and self.spec["against"] != "ground":
            self.push(f, state, self.model.index[self.spec["against"]], at, -force, -torque)


def evaluate(spec, t, names):
    if isinstance(spec, str):
        return eval(python_expression(spec), {**FUNCTIONS, **names, "t": t})
    return np.ravel(function_of_time(spec, names)(np.array([t + 0j])))[0]


def matrix_of(value, n):
    if value is None:
        return np.zeros((n, n))
    value = np.array(value, float)
    return np.diag(value) if value.ndim == 1 else value


def channel_value(m, channel, state):
    owner, *rest = channel.split(".")
    if owner in m.joints:
        j = m.joints[owner]
        name = rest[0]
        rate = name.endswith("rate")
        c = name[:-5] if name.endswith("_rate") else (j.coordinates[0] if rate else name)
        _, _, speed, value = m.coordinate_terms(j, c, state)
        return speed if rate else value
    i = m.index[owner]
    axis = {"x": 0, "y": 1, "z": 2}
    if rest[0] == "angular_velocity":
        return state.w[i][2 if m.planar else axis[rest[1]]]
    if len(rest) == 2:
        return (state.x if rest[0] == "position" else state.v)[i][axis[rest[1]]]
    p = state.x[i] + state.R[i] @ m.vector(m.spec["bodies"][owner]["points"][rest[0]])
    if rest[1] == "position":
        return p[axis[rest[2]]]
    return velocity_at(m.frame(i, state), p)[0].real[axis[rest[2]]]


# Trajectories ---------------------------------------------------------------------------------


def integrate(model, state, t_end, tolerance=1e-11):
    """The state at t_end by DOP853; constraints drift by no more than the tolerance."""
    from scipy.integrate import solve_ivp

    n = len(model.bodies)

    def pack(s):
        q = np.array([quaternion_of(R) for R in s.R])
        return np.concatenate([s.x.ravel(), q.ravel(), s.v.ravel(), s.w.ravel()])

    def unpack(t, y):
        x, q, v, w = np.split(y, [3 * n, 7 * n, 10 * n])
        R = np.array([from_quaternion(p) for p in q.reshape(n, 4)]).reshape(n, 3, 3)
        return State(x.reshape(n, 3), R, v.reshape(n, 3), w.reshape(n, 3), t)

    def rate(t, y):
        s = unpack(t, y)
        model.wind(s)
        result = model.solve(s)
        q = y[3 * n : 7 * n].reshape(n, 4)
        dq = np.empty((n, 4))
        for i in range(n):
            a, (b, c, d), (p, r, u) = q[i, 0], q[i, 1:], s.w[i]
            dq[i] = 0.5 * np.array([-b * p - c * r - d * u, a * p + c * u - d * r, a * r + d * p - b * u, a * u + b * r - c * p])
        return np.concatenate([y[7 * n : 10 * n], dq.ravel(), result.a.ravel(), result.alpha.ravel()])

    done = solve_ivp(rate, (state.t, t_end), pack(state), method="DOP853", rtol=tolerance, atol=tolerance * 1e-2)
    if not done.success:
        raise Unsolvable(done.message)
    return unpack(t_end, done.y[:, -1]), done.nfev
