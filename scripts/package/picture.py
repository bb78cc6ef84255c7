#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draw the panels of the Grafana dashboard as an SVG, from what rpcrdma-stats wrote during a test.

usage: picture.py DIRECTORY >Documentation/grafana.svg
DIRECTORY is stats/ in the run directory of the group admin. The case stats has written files N.prom there, and for
each of them N.time with its time. Panels in which nothing happened are left out. Rates are those between two readings,
as rate() of Prometheus would compute them for such a short interval.
"""
import os
import re
import sys
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import counters  # noqa: E402

WIDTH, HEIGHT, LEFT, TOP, LEGEND = 460, 200, 58, 26, 12
COLOURS = ("#7eb26d", "#eab839", "#6ed0e0", "#ef843c", "#e24d42", "#1f78c1", "#ba43a9", "#705da0", "#508642", "#cca300")


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def readings(where):
    """[(seconds, {metric with labels: value})]"""
    number = 1
    while os.path.exists(f"{where}/{number}.time"):
        lines = re.findall(r"^(rpcrdma\w+(?:\{.*?\})?) (\d+)$", text(f"{where}/{number}.prom"), re.M)
        yield float(text(f"{where}/{number}.time")), {name: int(value) for name, value in lines}
        number += 1


def series(series_of, metric):
    """{legend: [(seconds, number)]} of a metric: the rate of a counter, or the value of a gauge"""
    start = series_of[0][0]
    names = {name for _, values in series_of for name in values if re.fullmatch(rf"{metric}(\{{.*\}})?", name)}
    made = {}
    for name in sorted(names):
        points = [(when - start, values.get(name, 0)) for when, values in series_of]
        if metric.endswith("_total"):
            points = [(b[0], (b[1] - a[1]) / (b[0] - a[0])) for a, b in zip(points, points[1:])]
            legend = metric[len("rpcrdma_"):-len("_total")]
        else:
            legend = " ".join(re.findall(r'"(.*?)"', name)) or metric[len("rpcrdma_"):]
        made[legend] = points
    return made


def short(value):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def drawn(title, unit, lines, x, y):
    top = max(value for points in lines.values() for _, value in points) * 1.05
    end = max(when for points in lines.values() for when, _ in points)
    high = HEIGHT - TOP - 18 - LEGEND * ((len(lines) + 1) // 2)
    wide = WIDTH - LEFT - 12
    yield f'<g transform="translate({x},{y})"><rect width="{WIDTH - 8}" height="{HEIGHT - 8}" rx="3" fill="#1f1f20"/>'
    yield f'<text x="10" y="17" fill="#d8d9da" font-weight="bold">{escape(title)}</text>'
    for part in range(3):
        at = TOP + high - high * part / 2
        yield (f'<path d="M{LEFT} {at:.1f}h{wide}" stroke="#404040"/><text x="{LEFT - 4}" y="{at + 3:.1f}" '
               f'text-anchor="end">{short(top * part / 2)}{unit if part else ""}</text>')
    for number, (legend, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = "L".join(f"{LEFT + wide * when / end:.1f} {TOP + high - high * value / top:.1f}" for when, value in points)
        yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
        at = (10 + (number % 2) * WIDTH // 2, HEIGHT - 14 - LEGEND * ((len(lines) - 1) // 2 - number // 2))
        yield f'<path d="M{at[0]} {at[1] - 3}h10" stroke="{colour}" stroke-width="2"/>'
        yield f'<text x="{at[0] + 14}" y="{at[1]}">{escape(legend)}</text>'
    yield f'<text x="{LEFT + wide}" y="{TOP + high + 11}" text-anchor="end">{end:.0f} s</text></g>'


def main():
    read = list(readings(sys.argv[1]))
    panels = []
    for title, unit, _, metrics in counters.panels():
        lines = {}
        for metric in metrics:
            lines.update({legend: points for legend, points in series(read, metric).items()
                          if any(value for _, value in points)})
        if lines:
            panels.append((title, {"Bps": "B/s", "bytes": "B", "ops": "/s"}.get(unit, ""), lines))
    rows = (len(panels) + 1) // 2
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH + 8}" height="{rows * HEIGHT + 8}" '
          'font-family="sans-serif" font-size="9" fill="#a0a0a4">')
    print("<!-- SPDX-License-Identifier: GPL-2.0. Drawn by scripts/package/picture.py from a run of the test stats -->")
    print('<rect width="100%" height="100%" fill="#111112"/>')
    for number, (title, unit, lines) in enumerate(panels):
        print("\n".join(drawn(title, unit, lines, 8 + number % 2 * WIDTH, 8 + number // 2 * HEIGHT)))
    print("</svg>")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
