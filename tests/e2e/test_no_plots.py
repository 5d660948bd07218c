"""--no-plots: show() returns at once, and nothing else changes."""

import subprocess
import sys

import pytest
from support.pythons import Python
from support.run import plain, profile

# Packages that look like the real ones where it matters: where show() stands and how it is reached.
PACKAGES = {
    "matplotlib/__init__.py": "",
    "matplotlib/figure.py": """
class Figure:
    def show(self, warn=True):
        print("figure shown", warn)
        return "figure"
    def savefig(self, name):
        return "saved " + name
""",
    "matplotlib/pyplot.py": """
from matplotlib.figure import Figure
def figure():
    return Figure()
def show(*args, **kwargs):
    print("shown", args, kwargs)
    return 5
""",
    "plotly/__init__.py": "",
    "plotly/io/__init__.py": "from plotly.io._renderers import show\n",
    "plotly/io/_renderers.py": """
def show(fig, renderer=None, validate=True, **kwargs):
    print("plotly shown")
""",
    "plotly/basedatatypes.py": """
class BaseFigure:
    def show(self, *args, **kwargs):
        super().__init__()
        print("plotly figure shown")
        import plotly.io as pio
        return pio.show(self, *args, **kwargs)
""",
    "seaborn/__init__.py": "from seaborn._core.plot import Plot\nimport matplotlib.pyplot\n",
    "seaborn/_core/__init__.py": "",
    "seaborn/_core/plot.py": """
class Plot:
    def show(self, **kwargs):
        print("compiled")
        Plotter().show(**kwargs)
class Plotter:
    def show(self, **kwargs):
        print("plotter shown")
""",
    "bokeh/__init__.py": "",
    "bokeh/io/__init__.py": "from .showing import show\n",
    "bokeh/plotting.py": "from bokeh.io import show\n",
    "bokeh/io/showing.py": """
def show(obj, browser=None, new="tab", *, notebook_handle=False, **kwargs):
    print("bokeh shown")
""",
}
USE = """
import inspect, sys
from matplotlib.pyplot import show as display
import matplotlib.pyplot as plt
import importlib
figure = plt.figure()
print(display(), plt.show(block=True), figure.show(warn=False), figure.savefig("x"))
try:
    figure.show(1, 2, 3)
except TypeError as error:
    print(error)
def late():
    import seaborn, plotly.basedatatypes
    seaborn.Plot().show()
    plt.show()
    plotly.basedatatypes.BaseFigure().show(renderer="x")
late()
importlib.import_module("plotly.io").show(figure)
importlib.import_module("bokeh.plotting").show(figure, notebook_handle=True)
for function in (display, plt.Figure.show, sys.modules["bokeh.io.showing"].show):
    print(function.__qualname__, inspect.signature(function), function.__module__)
print(sorted(sys.modules), len(sys.meta_path))
"""
SHOWN = {
    "matplotlib": ["shown () {}", "shown () {'block': True}", "figure shown False", "5 5 figure"],
    "seaborn": ["plotter shown"],
    "plotly": ["plotly shown", "plotly figure shown"],
    "bokeh": ["bokeh shown"],
}
ALL = sorted(SHOWN)


@pytest.fixture
def folder(tmp_path):
    for name, text in PACKAGES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "script.py").write_text(USE)
    return tmp_path


def lines_without(text, libraries):
    """What the program prints where these are quiet."""
    gone = [line for library in libraries for line in SHOWN[library]]
    if "seaborn" in libraries and "matplotlib" not in libraries:
        gone = ["plotter shown"]
    return [line for line in text.splitlines() if not line.startswith(tuple(gone))]


@pytest.mark.parametrize(
    "option, libraries",
    [
        ([], []),
        (["-np"], ALL),
        (["--no-plots=all"], ALL),
        (["--no-plots=plotly,bokeh"], ["plotly", "bokeh"]),
    ],
)
def test_show_returns_at_once(program, python, option, libraries, folder):
    expected = plain(python, ["script.py"], folder)
    result = profile(python, ["script.py"] + option, folder)
    assert expected.status == result.status == 0, result
    assert result.err == expected.err
    said = result.out
    if "matplotlib" in libraries:
        said = said.replace("None None None saved x\n", "")
    if len(libraries) == 4:  # the signature's error names the same arguments
        assert "None None None saved x" in result.out
    assert said.splitlines() == lines_without(expected.out, libraries)


def test_seaborn_is_shown_by_matplotlib(program, system_python, folder):
    """From its import on; what a program shows before is its own."""
    result = profile(system_python, ["script.py", "-np=seaborn"], folder)
    lines = result.out.splitlines()
    assert "plotter shown" not in lines and lines.count("compiled") == 1
    assert [line for line in lines if line.startswith("shown")] == SHOWN["matplotlib"][:2]


def test_imported_before_the_program(program, some_python, folder):
    (folder / "sitecustomize.py").write_text("from plotly.basedatatypes import BaseFigure\n")
    (folder / "script.py").write_text(
        "import sys\nfigure = sys.modules['sitecustomize'].BaseFigure()\nprint(figure.show('x', y=1))\n"
    )
    env = {"PYTHONPATH": str(folder)}
    assert profile(some_python, ["script.py"], folder, env=env).out.count("shown") == 2
    assert profile(some_python, ["script.py", "-np"], folder, env=env).out == "None\n"


def test_children_too(program, system_python, folder):
    (folder / "parent.py").write_text(
        "import subprocess, sys\n"
        "subprocess.check_call([sys.executable, '-c', 'import matplotlib.pyplot as p; print(p.show())'])\n"
    )
    result = profile(system_python, ["parent.py", "--no-plots"], folder)
    assert result.out == "None\n", result


@pytest.mark.parametrize("value", ["ggplot", "", "plotly,"])
def test_unknown_library(program, system_python, value, folder):
    result = profile(system_python, ["script.py", "--no-plots=" + value], folder)
    assert result.status == 2 and not (folder / "performance").exists()
    assert "there are matplotlib, plotly, seaborn, bokeh and all" in result.err


REAL = """
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
figure = plt.gcf()
figure.canvas.manager.show = lambda: print("shown")
print(plt.show(), plt.show(block=False), figure.show(), plt.get_fignums())
figure.savefig("x.svg")
"""


def test_real_matplotlib(program, tmp_path):
    if subprocess.call([sys.executable, "-c", "import matplotlib"], stderr=subprocess.DEVNULL):
        pytest.skip("SKIP: no matplotlib in the Python that runs these tests")
    python = Python("matplotlib", sys.version_info[:3], "/", sys.executable)
    (tmp_path / "script.py").write_text(REAL)
    assert profile(python, ["script.py"], tmp_path).out.count("shown") == 3
    result = profile(python, ["script.py", "--no-plots=matplotlib"], tmp_path)
    assert result.out == "None None None [1]\n", result
    assert "<svg" in (tmp_path / "x.svg").read_text()
