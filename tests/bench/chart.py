# SPDX-License-Identifier: Apache-2.0
"""Line charts as SVG: small panels beside each other that share their axes, a legend above, and each
line named at its end. Lines differ in dash and mark too, so that they can be told apart in print.

In: panels with series of points. Out: the text of an SVG file."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 200, 150  # of a panel's plot
LEFT, TOP, BOTTOM = 46, 34, 48  # around it
HEAD = 52  # title and legend
EDGE = 14  # left of the first panel
LINE = 12  # between labels
STYLE = """text{font:11px sans-serif;fill:#222}.title{font-size:14px;font-weight:bold}
.panel{font-weight:bold}.tick,.note{font-size:10px;fill:#444}.label{font-size:10px}
.grid{stroke:#ddd;stroke-width:1}.axis{stroke:#444;stroke-width:1}.mark{stroke:#777;stroke-dasharray:2 2}"""


class Look:
    """How a line is drawn: colour, dash, and the shape of its marks (hollow or not)."""
    def __init__(self, colour, dash="", shape="circle", hollow=False, width=1.8):
        self.colour, self.dash, self.shape, self.hollow, self.width = colour, dash, shape, hollow, width

    def line(self, points):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        return (f'<polyline points="{path}" fill="none" stroke="{self.colour}" '
                f'stroke-width="{self.width}"{dash}/>')

    def dot(self, x, y):
        fill = "#fff" if self.hollow else self.colour
        paint = f'fill="{fill}" stroke="{self.colour}" stroke-width="1.3"'
        if self.shape == "circle":
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" {paint}/>'
        if self.shape == "square":
            return f'<rect x="{x - 2.8:.1f}" y="{y - 2.8:.1f}" width="5.6" height="5.6" {paint}/>'
        if self.shape == "none":
            return ""
        height = 3.6 if self.shape == "up" else -3.6
        return (f'<path d="M{x - 3.6:.1f} {y + height * .8:.1f}h7.2L{x:.1f} {y - height:.1f}z" {paint}/>')


JOINT = Look("#1b4f9c")
PAPER = Look("#b34700", "6 3", "square", hollow=True)
GUIDE = Look("#777", "2 3", "none", width=1.3)


class Axis:
    """From data to its place between 0 and 1; ticks are (value, text)."""
    def __init__(self, label, low, high, ticks, log=False):
        self.label, self.log, self.ticks = label, log, [
            t if isinstance(t, tuple) else (t, f"{t:g}") for t in ticks
        ]
        self.low, self.high = self._of(low), self._of(high)

    def _of(self, value):
        return math.log(value) if self.log else value

    def place(self, value):
        return min(max((self._of(value) - self.low) / (self.high - self.low), 0), 1)


class Panel:
    """A plot; series are (name, look, [(x, y), ...]), marks are (x, text) of upright lines."""
    def __init__(self, title, series, marks=()):
        self.title, self.series, self.marks = title, series, marks


def spread(wanted, gap, low, high):
    """Places near the wanted ones, at least gap apart, in the same order."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = {}
    at = low
    for i in order:
        at = placed[i] = max(wanted[i], at)
        at += gap
    limit = high
    for i in reversed(order):
        placed[i] = min(placed[i], limit)
        limit = placed[i] - gap
    return [placed[i] for i in range(len(wanted))]


def words(text, x, y, kind, more=""):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


class Place:
    """Where a panel's data lies in the picture."""
    def __init__(self, x_axis, y_axis, left, top):
        self.x_axis, self.y_axis, self.left, self.top = x_axis, y_axis, left, top
        self.right, self.bottom = left + WIDTH, top + HEIGHT

    def x(self, value):
        return self.left + self.x_axis.place(value) * WIDTH

    def y(self, value):
        return self.bottom - self.y_axis.place(value) * HEIGHT


def draw_frame(panel, at):
    """Title, grid, ticks, upright marks."""
    out = [words(panel.title, at.left, at.top - 10, "panel")]
    for value, text in at.y_axis.ticks:
        out.append(line(at.left, at.y(value), at.right, at.y(value), "grid"))
        out.append(words(text, at.left - 6, at.y(value) + 3.5, "tick", ' text-anchor="end"'))
    for value, text in at.x_axis.ticks:
        out.append(line(at.x(value), at.bottom, at.x(value), at.bottom + 4, "axis"))
        out.append(words(text, at.x(value), at.bottom + 15, "tick", ' text-anchor="middle"'))
    out.append(f'<path class="axis" fill="none" d="M{at.left} {at.top}v{HEIGHT}h{WIDTH}"/>')
    middle = at.left + WIDTH / 2
    out.append(words(at.x_axis.label, middle, at.bottom + 30, "tick", ' text-anchor="middle"'))
    for value, text in panel.marks:
        out.append(line(at.x(value), at.top, at.x(value), at.bottom, "mark"))
        out.append(words(text, at.x(value) + 3, at.top + 9, "note"))
    return out


def draw_panel(panel, at):
    out, ends = draw_frame(panel, at), []
    for name, look, data in panel.series:
        points = [(at.x(x), at.y(y)) for x, y in data if y is not None]
        out.append(look.line(points))
        out += [look.dot(x, y) for x, y in points]
        ends.append((name, look, points[-1][1] if points else at.top))
    for (name, look, _), y in zip(ends, spread([end[2] for end in ends], LINE, at.top + 4, at.bottom)):
        out.append(words(name, at.right + 7, y + 3.5, "label", f' style="fill:{look.colour}"'))
    return out


def draw_legend(entries, left, y):
    out = []
    for name, look in entries:
        out += [look.line([(left, y - 4), (left + 26, y - 4)]), look.dot(left + 13, y - 4)]
        out.append(f'<text x="{left + 32}" y="{y}">{escape(name)}</text>')
        left += 32 + 6.2 * len(name) + 22
    return out


def draw(title, panels, x_axis, y_axis, columns, note="", margin=44):
    """The whole picture. margin is the room for names right of each panel."""
    legend = {}
    for panel in panels:
        for name, look, _ in panel.series:
            legend.setdefault(name, look)
    rows = -(-len(panels) // columns)
    wide, high = LEFT + WIDTH + margin, TOP + HEIGHT + BOTTOM
    width, height = EDGE + columns * wide, HEAD + rows * high + (18 if note else 0)
    out = [words(title, 16, 24, "title")] + draw_legend(legend.items(), 16, 46)
    for row in range(rows):
        turned = f' transform="translate(17,{HEAD + TOP + row * high + HEIGHT / 2}) rotate(-90)"'
        out.append(words(y_axis.label, 0, 0, "tick", turned + ' text-anchor="middle"'))
    for i, panel in enumerate(panels):
        left, top = EDGE + LEFT + i % columns * wide, HEAD + TOP + i // columns * high
        out += draw_panel(panel, Place(x_axis, y_axis, left, top))
    if note:
        out.append(words(note, 16, height - 12, "note"))
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}">',
                      "<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<style>{STYLE}</style>",
                      '<rect width="100%" height="100%" fill="#fff"/>', *out, "</svg>", ""])
