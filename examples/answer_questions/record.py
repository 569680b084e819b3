#!/usr/bin/env python3
"""Records the example answer_questions as a picture: examples/answer_questions/record.py

Runs the example in a terminal of its own, with its scripted answers, and writes recording.svg beside this file. The picture
scrolls through the dialog; where motion is not wanted, it shows the beginning. Needs Python and Cargo, and a Unix.
"""

import os
import pty
import re
import subprocess
from pathlib import Path
from xml.sax.saxutils import escape

COMMAND = ["cargo", "run", "--quiet", "--example", "answer_questions"]
HERE = Path(__file__).resolve().parent

ROWS, COLUMNS = 26, 92
# The size of a letter in a 14-pixel font; monospaced fonts differ slightly.
WIDTH, HEIGHT = 8.6, 20
BAR, MARGIN = 36, 18

# The ANSI codes that the example uses.
STYLES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}

STYLE = """
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
    fill: #dfe8e2; white-space: pre }
  .bold { fill: #fff; font-weight: 700 } .dim { fill: #93a69a } .red { fill: #ff9a8b }
  .green { fill: #83d8a9 } .yellow { fill: #f0c866 } .cyan { fill: #74cbe0 }
"""


def record():
    """The output of the example on a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ENVD_")}
    environment |= {"TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    example = subprocess.Popen(
        COMMAND, cwd=HERE, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    printed = b""
    # Reading past the end of a terminal is an error on Linux, and returns nothing elsewhere.
    try:
        while some := os.read(ours, 65536):
            printed += some
    except OSError:
        pass
    if example.wait() != 0:
        raise SystemExit(printed.decode())
    return printed.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def spans(line):
    """A line of the terminal as SVG text."""
    on, text = [], ""
    for code, part in re.findall(r"\x1b\[(\d+)m|([^\x1b]+)", line):
        if code:
            on = on + [STYLES[code]] if code != "0" else []
        elif on:
            text += f'<tspan class="{" ".join(on)}">{escape(part)}</tspan>'
        else:
            text += escape(part)
    return text


def scroll(lines):
    """The keyframes: each question is shown for a while, and the end for longer."""
    times, at = [(0.0, 0)], 4.0
    for end in [number for number, line in enumerate(lines) if not line] + [len(lines)]:
        if end > ROWS:
            times.append((at, end - ROWS))
            at += 1.2
    total = at + 6
    frames = "".join(
        f"\n    {100 * time / total:.2f}% {{ transform: translateY({-HEIGHT * row}px) }}" for time, row in times
    )
    return (
        f"  @media (prefers-reduced-motion: no-preference) {{ #dialog {{ animation: scroll {total:.0f}s step-end infinite }} }}\n"
        f"  @keyframes scroll {{{frames}\n  }}\n"
    )


def picture(lines):
    width, height = round(COLUMNS * WIDTH) + 2 * MARGIN, ROWS * HEIGHT + BAR + 2 * MARGIN
    text = "".join(
        f'<text y="{HEIGHT * row + 15}" xml:space="preserve">{spans(line)}</text>\n'
        for row, line in enumerate(lines)
        if line
    )
    lights = "".join(f'<circle cx="{24 + 20 * n}" cy="18" r="6" fill="#3d4b43"/>' for n in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">\n'
        "<title>The example answer_questions: a declaration is filled in, question by question, in a terminal</title>\n"
        f"<style>{STYLE}{scroll(lines)}</style>\n"
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10" fill="#141c18" stroke="#3d4b43"/>\n'
        f"{lights}\n"
        f'<svg x="{MARGIN}" y="{BAR + MARGIN // 2}" width="{width - MARGIN}" height="{ROWS * HEIGHT + MARGIN}">\n'
        f'<g id="dialog">\n{text}</g>\n</svg>\n</svg>\n'
    )


if __name__ == "__main__":
    shown = ["$ cargo run --example answer_questions"] + record()
    (HERE / "recording.svg").write_text(picture(shown), encoding="utf-8")
