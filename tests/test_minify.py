"""The minifier's harness: what a broken step looks like to a case, and that nothing outlives a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.forks.client import ServerError
from conformance.minify import MinifierFailure, MinifierRun, Reason
from conformance.minify.client import StepRunner
from conformance.minify.steps import Steps

THREE = """
class Repro(torch.nn.Module):
    def forward(self, x):
        a = torch.sin(x);  x = None
        b = torch.relu(a);  a = None
        c = torch.cos(b);  b = None
        return (c,)
"""
ONE = """
class Repro(torch.nn.Module):
    def forward(self, x):
        a = torch.relu(x);  x = None
        return (a,)
"""
FAIL = 'raise RuntimeError("relu does not run")'
SEGFAULT = "import os, signal\ndef crash(): os.kill(os.getpid(), signal.SIGSEGV)\ncrash()"
#: Longer than any test may take: one that waits for it fails.
HANG = "import time; time.sleep(600)"


@dataclass(frozen=True)
class Chain:
    """Three scripts that stand for what torch would write: the first writes the second, that one the third."""

    program: str = FAIL
    launcher: str = ""
    repro: str = FAIL
    before: str = THREE
    after: str = ONE
    launcher_written: bool = True
    repro_written: bool = True

    def text(self, debug_folder: Path) -> str:
        repro = f"import torch\n{self.after}\ndef load_args(reader): pass\nmod = Repro()\n"
        repro += f"if __name__ == '__main__':\n{textwrap.indent(self.repro, '    ')}\n"
        launcher = f"import torch\n{self.before}\nif __name__ == '__main__':\n"
        launcher += f"    open('repro.py', 'w').write({repro!r})\n" if self.repro_written else "    pass\n"
        launcher += textwrap.indent(self.launcher, "    ")
        place = debug_folder / "run" / "minifier"
        lines = [f"import os; os.makedirs({str(place)!r})"]
        if self.launcher_written:
            lines.append(f"open({str(place / 'minifier_launcher.py')!r}, 'w').write({launcher!r})")
        return "\n".join([*lines, self.program])


@pytest.fixture(scope="module")
def server() -> Iterator[StepRunner]:
    running = StepRunner()
    yield running
    running.close()
    assert not running.root.exists()


@pytest.fixture
def run(server: StepRunner) -> Callable[..., MinifierRun]:
    def minify(seconds: float = 30, **scripts: object) -> MinifierRun:
        return Steps(server, {}, seconds).run(Chain(**scripts), [])  # type: ignore[arg-type]

    return minify


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def gone(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not condition()


def test_a_minifier_that_works_passes(run: Callable[..., MinifierRun]) -> None:
    """The control: the assertion can pass."""
    found = run()
    found.assert_minified()
    assert str(found.outcome) == "program: failed with RuntimeError\nlauncher: passed\nrepro: failed with RuntimeError"


@pytest.mark.parametrize(
    ("scripts", "step", "says"),
    [
        pytest.param({"program": "pass"}, "program", "expected an exception, got passed", id="program-passes"),
        pytest.param(
            {"launcher_written": False}, "program", "write minifier_launcher.py, got nothing", id="no-launcher"
        ),
        pytest.param({"launcher": "raise ValueError('no')"}, "launcher", "failed with ValueError", id="launcher-fails"),
        pytest.param({"repro_written": False}, "launcher", "write repro.py, got nothing (passed)", id="no-repro"),
        pytest.param(
            {"after": THREE}, "launcher", "fewer operators than the 3 of the program, got 3", id="no-shrinking"
        ),
        pytest.param({"repro": "pass"}, "repro", "expected an exception, got passed", id="repro-passes"),
        pytest.param({"repro": "1 / 0"}, "repro", "got ZeroDivisionError", id="another-exception"),
        pytest.param(
            {"repro": "raise RuntimeError('out of disk')"},
            "repro",
            "got RuntimeError: out of disk",
            id="another-reason",
        ),
        pytest.param({"repro": "import sys; sys.exit(3)"}, "repro", "failed with status 3", id="repro-exits"),
    ],
)
def test_a_broken_step_is_named(
    run: Callable[..., MinifierRun], scripts: dict[str, object], step: str, says: str
) -> None:
    """Each way in which a step can be wrong fails the case, at that step."""
    with pytest.raises(MinifierFailure) as caught:
        run(**scripts).assert_minified()
    assert caught.value.phase == step
    assert says in str(caught.value)
    assert [found.where for found in caught.value.discrepancies] == [step]


@pytest.mark.parametrize("step", ["program", "launcher", "repro"])
def test_a_segfault_is_named(run: Callable[..., MinifierRun], step: str) -> None:
    """A crash is the failure of its step, says which function crashed, and leaves the suite running."""
    found = run(**{step: SEGFAULT})
    assert found.step(step).ending == "killed by SIGSEGV"
    with pytest.raises(MinifierFailure, match=rf"{step}: expected .*, got killed by SIGSEGV in crash \(\w+/\w+\.py"):
        found.assert_minified()


@pytest.mark.parametrize("step", ["program", "launcher", "repro"])
def test_a_hang_is_named_and_ended(run: Callable[..., MinifierRun], tmp_path: Path, step: str) -> None:
    """A hanging step ends in time, with what it started, daemons included."""
    pids = tmp_path / "pids"
    start = f"""\
import os, subprocess
children = [subprocess.Popen(["sleep", "600"]), subprocess.Popen(["sleep", "600"], start_new_session=True)]
open({str(pids)!r}, "w").write(" ".join(map(str, [os.getpid(), *(child.pid for child in children)])))
{HANG}"""
    found = run(seconds=2.5, **{step: start})
    assert found.step(step).ending == "still running after 2.5 s"
    with pytest.raises(MinifierFailure, match=f"{step}: expected .*, got still running after"):
        found.assert_minified()
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 3
    assert gone(lambda: any(map(alive, started)))


def test_a_crash_before_the_launcher_is_written_is_named(run: Callable[..., MinifierRun]) -> None:
    """What is missing is the launcher; why, is said."""
    found = run(program=SEGFAULT, launcher_written=False)
    with pytest.raises(MinifierFailure, match=r"program: expected an exception, got killed by SIGSEGV in crash"):
        found.assert_minified()
    with pytest.raises(MinifierFailure, match=r"write minifier_launcher\.py, got nothing \(killed by SIGSEGV in crash"):
        found.step("launcher")


def test_steps_in_fresh_interpreters(
    run: Callable[..., MinifierRun], server: StepRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one variable set no step is a fork with everything imported, and what they do is found alike."""
    look = "import sys; print('IMPORTED', 'torch._inductor.compile_fx' in sys.modules)"
    assert "IMPORTED True" in run(program=f"{look}\n{FAIL}", launcher_written=False).step("program").output
    monkeypatch.setitem(server.environment, "CONFORMANCE_MINIFY_FRESH", "1")
    found = run(program=f"{look}\n{FAIL}", launcher=SEGFAULT, seconds=60)
    assert "IMPORTED False" in found.step("program").output
    assert str(found.step("program").reason) == str(found.step("repro").reason) == "RuntimeError: relu does not run"
    with pytest.raises(MinifierFailure, match="launcher: expected to pass, got killed by SIGSEGV in crash"):
        found.assert_minified()


def test_nothing_dumped(run: Callable[..., MinifierRun]) -> None:
    """`assert_no_repro` holds where the program passes and writes nothing, and only there."""
    run(program="pass", launcher_written=False).assert_no_repro()
    with pytest.raises(MinifierFailure, match=r"program: expected nothing dumped, got minifier_launcher\.py"):
        run(program="pass").assert_no_repro()
    with pytest.raises(MinifierFailure, match="program: expected to pass, got failed with RuntimeError"):
        run(launcher_written=False).assert_no_repro()


def test_no_folder_is_left(run: Callable[..., MinifierRun], server: StepRunner) -> None:
    """Only what the server itself needs remains between runs."""
    run()
    assert {path.name for path in server.root.iterdir()} <= {"socket", "python", "bin", "objects"}


def test_the_repro_runs_elsewhere(run: Callable[..., MinifierRun]) -> None:
    """The repro runs in another folder, as another user, with the scripts before it gone."""
    found = run(
        program=f"import os; print('IN', os.getcwd(), 'AS', os.environ.get('USER'))\n{FAIL}",
        repro=f"import os; print('IN', os.getcwd(), 'AS', os.environ.get('USER'), os.listdir())\n{FAIL}",
    )
    assert "IN /program AS" in found.step("program").output
    assert "IN /repro AS somebody ['repro.py']" in found.step("repro").output


def test_queries_are_children_of_the_server_too(server: StepRunner) -> None:
    """`sys.executable script` inside a step is a fork with torch imported; its exit status and output come back."""
    with server.folder() as folder:
        (folder / "query.py").write_text("import sys\nprint('torch' in sys.modules, sys.argv[1:])\nsys.exit(7)")
        (folder / "step.py").write_text(
            "import subprocess, sys\n"
            "print(subprocess.run([sys.executable, 'query.py', 'a'], capture_output=True, text=True))\n"
            "print(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout)\n"
        )
        ended = server.run([str(folder / "step.py")], folder=folder, environment={}, seconds=30)
    assert "returncode=7" in ended.output
    assert "True ['a']" in ended.output
    assert "42" in ended.output


def test_a_killed_owner_leaves_nothing() -> None:
    """When pytest itself is killed, its fork server ends, with its children and its folder."""
    code = """\
from conformance.minify.client import StepRunner
server = StepRunner()
with server.folder() as folder:
    script = folder / "hang.py"
    script.write_text("import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)")
    print(server.root, server.process.pid, folder / "pid", flush=True)
    server.run([str(script), str(folder / "pid")], folder=folder, environment={}, seconds=50)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        root, pid, step = owner.stdout.readline().split()
        assert gone(lambda: not Path(step).exists() or not Path(step).read_text())
        child = int(Path(step).read_text())
        assert alive(child)
        owner.send_signal(signal.SIGKILL)
    assert gone(lambda: alive(child) or alive(int(pid)) or Path(root).exists())


def test_a_server_that_does_not_start_says_why() -> None:
    """The message carries what the server printed."""
    server = StepRunner({**os.environ, "PYTHONHOME": "/nowhere"})
    with pytest.raises(ServerError, match="the fork server did not start"):
        server.wait_until_ready()
    server.close()


def test_reasons_are_compared_without_places() -> None:
    """Paths and numbers do not make two failures different; the text around them does."""
    one = Reason(
        "CppCompileError", "C++ compile error\n\nCommand:\ng++ /tmp/a/x.cpp -o /tmp/a/x.so\n\nerror at line 12"
    )
    other = Reason(
        "CppCompileError", "C++ compile error\n\nCommand:\ng++ /tmp/b/y.cpp -o /tmp/b/y.so\n\nerror at line 7"
    )
    assert one.is_like(other)
    assert not one.is_like(Reason("CppCompileError", "no compiler was found on this machine"))
    one, other = (
        Reason("RuntimeError", f"Failed to import /tmp/{name}.py\nSyntaxError: invalid syntax ({name}.py, line 20)")
        for name in ("ckvsz6o7yr7gtkbaqv2lhbjqw5x6mhzhcpcd", "c4pjv3wimxskdjyl2ezfbzcdu7hxqh3j4ray")
    )
    assert one.is_like(other)
    assert str(one) == str(other) == "RuntimeError: Failed to import PATH: SyntaxError: invalid syntax (FILE, line N)"
    assert not one.is_like(Reason("RuntimeError", "Failed to import /tmp/x.py\nOSError: no space left on the device"))
    assert not Reason("RuntimeError", "").is_like(Reason("ValueError", ""))
    assert Reason("AccuracyError", "Bad accuracy detected.").is_like(Reason("AccuracyError", "Dynamo failed"))


def test_the_record_of_a_failure_is_json(server: StepRunner) -> None:
    """What a script raises is recorded, looking through the exceptions that stacks wrap around it."""
    with server.folder() as folder:
        (folder / "step.py").write_text(
            "class Outer(Exception): pass\ntry:\n    1 / 0\nexcept ZeroDivisionError as inner:\n"
            "    outer = Outer('around')\n    outer.inner_exception = inner\n    raise outer\n"
        )
        record = folder / "reason.json"
        server.run(
            [str(folder / "step.py")],
            folder=folder,
            environment={"CONFORMANCE_MINIFY_RECORD": str(record)},
            seconds=30,
        )
        assert json.loads(record.read_text()) == ["ZeroDivisionError", "division by zero"]
