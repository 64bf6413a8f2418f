"""The after-Dynamo launcher hands its only copy of the graph to the backend: one that edits it ends the minifier.

Expected: the launcher minifies to relu alone. Seen: it raises AssertionError: ReluRuntimeError, and repro.py holds all
three operators with relu replaced by the assertion that the backend put there.
"""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
import torch, torch._dynamo.config
torch._dynamo.config.repro_after = "dynamo"
torch._dynamo.config.debug_dir_root = "debug"
torch.compile(lambda x: torch.cos(torch.relu(torch.sin(x))),
              backend="relu_runtime_error_TESTING_ONLY")(torch.randn(3))
"""

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True)
    [launcher] = pathlib.Path(folder).glob("debug/*/minifier/minifier_launcher.py")
    ended = subprocess.run([sys.executable, launcher, "minify"], cwd=folder, capture_output=True, text=True)
    raised = [line for line in ended.stderr.splitlines() if "Error: " in line]
    seen = "minified" if ended.returncode == 0 else raised[-1]
    print("expected: minified seen:", seen)
    print(
        *[line for line in pathlib.Path(folder, "repro.py").read_text().splitlines() if " = torch." in line], sep="\n"
    )
raise SystemExit("ReluRuntimeError" in seen)
