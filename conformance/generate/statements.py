"""The statements of generated programs, simple ones first: shrinking goes towards the front of each table.

``{x}`` and ``{y}`` are values that exist, ``{new}`` is the name of the result. A statement that does not fit its
operands is left out of the program, so no table says what fits what.
"""

from __future__ import annotations

#: Fresh results: arithmetic, reductions, matmuls, indexing, copies.
PURE = (
    "{new} = {x} + 1",
    "{new} = {x} + {y}",
    "{new} = {x} * 2",
    "{new} = {x} * {y}",
    "{new} = {x}.clone()",
    "{new} = {x}.sum(0)",
    "{new} = {x} * 1",
    "{new} = {x} + 0",
    "{new} = {x} + torch.zeros_like({x})",
    "{new} = {x}.max(0).values",
    "{new} = {x}.cumsum(0)",
    "{new} = {x}.flip(0)",
    "{new} = torch.cat([{x}, {y}])",
    "{new} = torch.where({x} > 0, {x}, {y})",
    "{new} = {x} @ {y}",
    "{new} = torch.add({x}, {x} @ {y}, alpha=3)",
    "{new} = torch.add({x}, {x} * {y}, alpha=2)",
    "{new} = torch.sub({x} * 2, {y}, alpha=3)",
    "{new} = {x}.relu()",
    "{new} = {x}.sort(0).values",
    "{new} = {x}.to(torch.int64)",
    "{new} = {x}.to(torch.float64)",
    "{new} = {x}.index_select(0, torch.tensor([0], device={x}.device))",
    "{new} = torch.select_scatter({x}, {x}[0] + 1, 0, 0)",
    "{new} = torch.slice_scatter({x}, {x}[1:] * 2, 0, 1)",
    "{new} = torch.full_like({x}, 3)",
    "{new} = torch.empty_like({x}).copy_({x})",
    "{new} = torch.nn.functional.dropout({x}, 0.5, training=False)",
)

#: Results that share memory with their operand.
VIEWS = (
    "{new} = {x}[0]",
    "{new} = {x}[1:]",
    "{new} = {x}[::2]",
    "{new} = {x}[:, 1:]",
    "{new} = {x}[:]",
    "{new} = {x}.t()",
    "{new} = {x}.view(-1)",
    "{new} = {x}.view({x}.shape)",
    "{new} = {x}.reshape(-1)",
    "{new} = {x}.unsqueeze(0)",
    "{new} = {x}.squeeze()",
    "{new} = {x}.expand(2, *{x}.shape)",
    "{new} = {x}.transpose(0, -1)",
    "{new} = {x}.diagonal()",
    "{new} = {x}.unfold(0, 2, 1)",
    "{new} = {x}.unfold(0, 1, 2)",
    "{new} = {x}.detach()",
    "{new} = {x}.contiguous()",
    "{new} = {x}.chunk(2)[-1]",
    "{new} = {x}.movedim(0, -1)",
    "{new} = {x}.as_strided((2,), (1,), 1)",
    "{new} = {x}.view(torch.int32)",
    "{new} = {x}.data",
)

#: Writes to an operand, all of it or a part, through views, masks and indices.
WRITES = (
    "{x}.add_(1)",
    "{x}.mul_(2)",
    "{x}.copy_({y})",
    "{x}.zero_()",
    "{x}.add_({y})",
    "{x}.add_({y}, alpha=2)",
    "{x}[0] = 7",
    "{x}[1:] = {y}",
    "{x}[0].add_(3)",
    "{x}[{x} > 0] = 5",
    "{x}.masked_fill_({x} < 0, 4)",
    "{x}.index_add_(0, torch.tensor([0, 0], device={x}.device), {x}[:2].clone())",
    "{x}.scatter_(0, torch.zeros_like({x}, dtype=torch.int64), 9)",
    "{x}.index_put_((torch.tensor([0], device={x}.device),), {x}[-1])",
    "{x}.diagonal().fill_(6)",
    "{x}.view(-1)[1:].mul_(3)",
    "{x}.data.add_(1)",
    "torch.add({x}, 1, out={y})",
)

#: Changes of an operand that leave its elements alone.
METADATA = (
    "{x}.t_()",
    "{x}.unsqueeze_(0)",
    "{x}.squeeze_()",
    "{x}.transpose_(0, -1)",
    "{x}.detach_()",
    "{x}.requires_grad_()",
    "{x}.as_strided_((2,), (1,), 0)",
    "{x}.resize_(2)",
    "{x}.set_({y})",
)

#: What a program does beside tensor operations: Python containers, a break of the graph, a function of its own.
OTHER = (
    "{new} = Scaled.apply({x})",
    "{new} = {x} + float({x}.detach().sum())",
    "held = [{x}, {y}]\nheld.append({x} + 2)\n{new} = held[-1]",
    "held = {{'x': {x}}}\nheld['x'] = held['x'] * 3\n{new} = held['x']",
)

STATEMENTS = (*PURE, *VIEWS, *WRITES, *METADATA, *OTHER)

#: A statement may stand in one of these.
REGIONS = ("", "with torch.no_grad():", "with torch.inference_mode():", "with torch.enable_grad():")

#: Steps after the last call; ``{k}`` numbers an output, ``{i}`` an argument.
FOLLOW_UPS = (
    "",
    "with torch.no_grad():\n    outputs[{k}].add_(100)\nreturn arguments",
    "with torch.no_grad():\n    arguments[{i}].add_(100)\nreturn outputs",
    "outputs[{k}].unsqueeze_(0)\nreturn arguments, outputs",
)

#: An input laid out in a buffer that begins at ``{o}``; ``{r}`` is 2, or 3 in a call with a longer first dimension.
LAYOUTS = (
    "{b}[{o}:{o} + {r} + 2]",
    "{b}[{o}:{o} + 3 * {r}].view({r}, 3)",
    "{b}[{o}:{o} + 3 * {r}].view(3, {r}).t()",
    "{b}[{o}:{o} + 4 * {r}:2]",
    "{b}[{o}:{o} + 3].expand({r}, 3)",
    "{b}[{o}]",
    "{b}[{o}:{o} + 2 * {r}].view(1, {r}, 1, 2).permute(0, 3, 1, 2)",
    "{b}[{o}:{o} + {r} + 2].unfold(0, 3, 1)",
    "{b}[{o}:{o} + 4 * {r}].view({r}, 4)[:, :3]",
)

DTYPES = ("torch.float32", "torch.int64", "torch.float64", "torch.bfloat16")
SCALED = """\
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 + x * 0
"""
VALUES = """\
def values(count, dtype, device):
    return ((torch.arange(count, device=device) * 5 + 1) % 7 - 3).to(dtype)
"""
