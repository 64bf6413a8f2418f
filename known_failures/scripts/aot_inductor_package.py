"""Loading the package of any program ends the process with SIGSEGV, for the CPU as well, on a machine with a GPU."""

import torch
import torch._inductor


class Sigmoid(torch.nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


x = torch.randn(8, 10)
package = torch._inductor.aoti_compile_and_package(torch.export.export(Sigmoid(), (x,)))
print(torch._inductor.aoti_load_package(package)(x).sum())
