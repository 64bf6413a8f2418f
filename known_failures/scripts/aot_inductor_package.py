"""Loading the package of any program ends the process with SIGSEGV, for the CPU as well, on a machine with a GPU.

Expected: the process ends with status 0. Seen: -11.
"""

import signal
import subprocess
import sys

import torch

PROGRAM = """
import torch, torch._inductor

class Sigmoid(torch.nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)

x = torch.randn(8, 10)
package = torch._inductor.aoti_compile_and_package(torch.export.export(Sigmoid(), (x,)))
print(torch._inductor.aoti_load_package(package)(x).sum())
"""

if not torch.cuda.is_available():
    print("needs a CUDA device")
    raise SystemExit(2)
expected, seen = 0, subprocess.run([sys.executable, "-c", PROGRAM]).returncode
print("expected:", expected, "seen:", seen)
raise SystemExit(seen == -signal.SIGSEGV)
