"""`flame`: as text, and as a picture that an XML parser and a real browser take."""

import html
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from support.browser import chromium
from support.run import BINARY, profile, run

SVG = "{http://www.w3.org/2000/svg}"
# Names that mean something to XML, to a terminal, to a script, and to who counts columns.
EVIL = '</title><script>alert(1)</script>&"\x1b[31m\n]]>'
NAMES = """\
import time


def burn(seconds):
    end, n = time.process_time() + seconds, 0
    while time.process_time() < end:
        n += sum(range(100))
    return n


def 面白い関数():
    (lambda: burn(0.15))()


def plain():
    burn(0.15)


evil = EVIL
code = plain.__code__
fields = {"co_name": evil, "co_filename": "a <b> & \\"c\\".py"}
if hasattr(code, "co_qualname"):
    fields["co_qualname"] = evil
plain.__code__ = code.replace(**fields)
面白い関数()
plain()
time.sleep(0.5)
""".replace("EVIL", repr(EVIL))


@pytest.fixture(scope="module")
def captured(program, system_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flame")
    (folder / "names.py").write_text(NAMES, encoding="utf-8")
    result = profile(system_python, ["names.py"], folder)
    assert result.status == 0, result
    return result.folder


def flame(folder, *args, **env):
    return run([str(BINARY), "flame"] + [str(arg) for arg in args], folder, env=env)


def boxes_of(svg):
    """(name, x, y, width, class), in the order of the file; also that it is whole and loads nothing."""
    root = ElementTree.fromstring(svg)
    assert root.tag == SVG + "svg"
    group = next(g for g in root.iter(SVG + "g") if g.get("id") == "boxes")
    found = []
    for g in group:
        rect = g.find(SVG + "rect")
        found.append(
            (g.find(SVG + "title").text.split("\n")[0],)
            + tuple(float(rect.get(key)) for key in ("x", "y", "width"))
            + (rect.get("class"),)
        )
    text = svg.decode("utf-8")
    links = re.findall(r"https?://[^\"'<> ]+", text)
    assert set(links) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}, links
    assert text.count("<script>") == 1 and "href" not in text and "@import" not in text
    return found


def test_the_picture_of_each_python(program, python, tmp_path):
    (tmp_path / "names.py").write_text(NAMES, encoding="utf-8")
    folder = profile(python, ["names.py"], tmp_path).folder
    result = flame(tmp_path, folder, "-o", "-")
    assert result.status == 0 and result.stderr == b"", result
    boxes = boxes_of(result.stdout)
    names = [box[0] for box in boxes]
    for wanted in (
        "all",
        "<module> (names.py:1)",
        "面白い関数 (names.py:11)",
        "面白い関数.<locals>.<lambda> (names.py:12)",
        "burn (names.py:4)",
        "waiting (sleep)",
    ):
        assert wanted in names, names
    assert any(name.startswith("</title><script>alert(1)") for name in names), names
    assert not any(re.search(r"[\x00-\x1f]", name) for name in names)
    # Each box lies below its caller and inside it, and boxes of a row don't overlap.
    above, ends = [], {}
    for name, x, y, width, _ in boxes:
        while above and above[-1][1] >= y:
            above.pop()
        if above:
            left, top, right = above[-1]
            assert top == y - 16 and left - 0.01 <= x and x + width <= right + 0.01, name
        above.append((x, y, x + width))
        assert ends.get(y, 0) <= x + 0.01, name
        ends[y] = x + width
    assert boxes[0][3] == 1200


def test_only_svg_is_written(program, captured, tmp_path):
    for name in ("x.png", "x", "x.svg.gz", "x.json"):
        result = flame(tmp_path, captured, "-o", name)
        assert result.status == 2 and result.err.count("\n") == 1 and ".svg" in result.err, result
        assert "fixingahole export" in result.err and not (tmp_path / name).exists(), result


def test_text(captured, tmp_path):
    text = flame(tmp_path, captured).out
    rows = text.split("\n\n")[1].splitlines()
    assert rows[0].startswith("▏all ") and rows[1].startswith("▏<module> "), text
    assert any("面白い関数" in row for row in rows) and "\x1b" not in text, text
    plain = flame(tmp_path, captured, "--native", LC_ALL="C", COLUMNS="40").stdout
    assert plain.isascii() and b"|all" in plain
    assert max(map(len, plain.split(b"\n\n")[1].splitlines())) <= 40
    assert "\x1b[30;43m" in flame(tmp_path, captured, FORCE_COLOR="1").out
    assert "waiting (sleep)" not in flame(tmp_path, captured, "--busy").out
    only = flame(tmp_path, captured, "--only", "burn").out.split("\n\n")[1].splitlines()
    assert only[1].startswith("▏burn"), only


def test_refusals(captured, tmp_path):
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    for args, words in (
        ((), "which capture"),
        ((captured, "--depth", "x"), "a number is needed"),
        ((captured, "--only", "nobody"), "no function 'nobody'"),
        ((captured, "-o", folder), "in the way"),
    ):
        result = flame(tmp_path, *args)
        assert result.status == 2 and result.stdout == b"" and words in result.err, result


def test_a_cut_capture(captured, tmp_path):
    data = (captured / "profile.fah").read_bytes()
    (tmp_path / "cut.fah.partial").write_bytes(data[:-40])
    result = flame(tmp_path, "cut.fah", "-o", "cut.svg")
    assert result.status == 0, result
    svg = (tmp_path / "cut.svg").read_bytes()
    assert boxes_of(svg) and b"The capture has no end" in svg


TRIAL = """
(function () {
	var svg = document.documentElement, said = [];
	function all() { return Array.from(svg.querySelectorAll("#boxes > g")); }
	function box(name) { return all().find(g => g.textContent.startsWith(name)); }
	function shown() { return all().filter(g => g.getAttribute("display") !== "none").length; }
	function press(key) { svg.dispatchEvent(new KeyboardEvent("keydown", {key: key, bubbles: true})); }
	function full(g) { return Math.abs(g.querySelector("rect").getAttribute("width") -
		svg.getAttribute("width")) < 1; }
	function type(text) {
		var field = svg.querySelector("input");
		field.value = text;
		field.dispatchEvent(new Event("input", {bubbles: true}));
		said.push(svg.getElementById("found").textContent);
	}
	said.push("all " + shown(), full(box("waiting")));
	box("waiting").querySelector("rect").dispatchEvent(new MouseEvent("click", {bubbles: true}));
	said.push(shown() < all().length, full(box("waiting")));
	press("Escape");
	said.push("all " + shown(), full(box("waiting")));
	press("/");
	type("^all$");
	type("^burn|lambda");
	type("(");
	press("Escape");
	said.push(svg.getElementById("found").textContent);
	press("ArrowDown");
	said.push(svg.getElementById("info").textContent.split(" (")[0]);
	press("Enter");
	said.push(svg.classList.contains("zoomed"));
	svg.setAttribute("data-said", JSON.stringify(said));
})();
"""


def test_in_a_browser(captured, tmp_path):
    """Click to zoom, search with the share of matches, keyboard: in a real Chromium, from a file."""
    command = chromium("--dump-dom", (tmp_path / "tried.svg").as_uri(), profile=tmp_path / "browser")
    assert flame(tmp_path, captured, "-o", "flame.svg").status == 0
    svg = (tmp_path / "flame.svg").read_text(encoding="utf-8")
    boxes = boxes_of(svg.encode("utf-8"))
    burn = sum(width for name, _, _, width, _ in boxes if name.startswith("burn"))
    tried = svg.replace("</svg>", "<script><![CDATA[%s]]></script></svg>" % TRIAL)
    (tmp_path / "tried.svg").write_text(tried, encoding="utf-8")
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=180,
    )
    match = re.search(rb'data-said="([^"]*)"', done.stdout)
    assert match, done.stdout[-2000:]
    said = html.unescape(match.group(1).decode("utf-8"))
    every = "all %d" % len(boxes)
    found = re.search(r"matches ([\d.]+)%[^,]*\",\"no regular", said)
    assert said.startswith('["%s",false,true,true,"%s",false' % (every, every)), said
    assert "/^all$/ matches 100.00%" in said, said
    assert found and float(found.group(1)) == pytest.approx(100 * burn / 1200, abs=0.5), said
    assert said.endswith('"no regular expression: (","","<module>",true]'), said
