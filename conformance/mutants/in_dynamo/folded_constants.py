"""What folding gets wrong: an eps, a bias or statistics that are not the module's, and constants that are none."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import fx

from conformance.mutants.base import editing

#: Where `batch_norm` takes its bias, whether it trains, and its eps.
BIAS, TRAINING, EPS = 4, 5, 7


def _calls(module: fx.GraphModule, *targets: object) -> Iterator[fx.Node]:
    return (node for node in list(module.graph.nodes) if node.op == "call_function" and node.target in targets)


def _norms(module: fx.GraphModule) -> Iterator[fx.Node]:
    return _calls(module, torch.nn.functional.batch_norm)


@editing("freezing.conv_bn.every_norm")
def eps_times_fifty(module: fx.GraphModule) -> None:
    """Batch norm adds fifty times its eps to the variance."""
    for node in _norms(module):
        node.update_arg(EPS, node.args[EPS] * 50)  # type: ignore[operator]


@editing("freezing.conv_bn.result")
def norm_bias_dropped(module: fx.GraphModule) -> None:
    """Batch norm is computed without its bias."""
    for node in _norms(module):
        node.update_arg(BIAS, None)


@editing("freezing.conv_bn.every_convolution")
def conv_bias_dropped(module: fx.GraphModule) -> None:
    """A convolution is computed without its bias."""
    for node in _calls(module, torch.conv1d, torch.conv2d, torch.conv3d):
        node.update_arg(2, None)


@editing("freezing.conv_bn.momentum")
def statistics_of_the_batch(module: fx.GraphModule) -> None:
    """Batch norm takes mean and variance from each batch, in evaluation too."""
    for node in _norms(module):
        node.args = (node.args[0], None, None, *node.args[3:TRAINING], True, *node.args[TRAINING + 1 :])


@editing("freezing.conv_bn.training")
def norms_never_train(module: fx.GraphModule) -> None:
    """Batch norm takes the statistics that it keeps, and leaves them as they are, in training too."""
    for node in _norms(module):
        if node.args[1] is not None:
            node.update_arg(TRAINING, False)


@editing("freezing.conv_bn.batch_statistics")
def missing_statistics_made_up(module: fx.GraphModule) -> None:
    """Batch norm that keeps no statistics takes zero and one for mean and variance."""
    for node in _norms(module):
        if node.args[1] is None:
            with module.graph.inserting_before(node):
                made_up = [
                    module.graph.call_function(make, (node.args[3],)) for make in (torch.zeros_like, torch.ones_like)
                ]
            node.args = (node.args[0], *made_up, *node.args[3:TRAINING], False, *node.args[TRAINING + 1 :])


@editing("freezing.folding.random")
def random_numbers_folded(module: fx.GraphModule) -> None:
    """Random numbers are drawn once, when the program is compiled."""
    for number, node in enumerate(_calls(module, torch.rand)):
        module.register_buffer(f"drawn_{number}", torch.rand(*node.args, **node.kwargs))  # type: ignore[arg-type]
        with module.graph.inserting_before(node):
            node.replace_all_uses_with(module.graph.get_attr(f"drawn_{number}"))
        module.graph.erase_node(node)


@editing("freezing.folding.mutated_buffer")
def mutated_tensors_folded(module: fx.GraphModule) -> None:
    """A parameter or buffer that the program mutates is what it was when the program was compiled."""
    for node in list(module.graph.find_nodes(op="placeholder")):
        methods = [str(user.target) for user in node.users if user.op == "call_method"]
        if any(name.endswith("_") for name in methods):
            with module.graph.inserting_after(node):
                copied = module.graph.call_method("clone", (node,))
            node.replace_all_uses_with(copied, delete_user_cb=lambda user, copied=copied: user is not copied)


@editing("freezing.binary.otherwise")
def factors_dropped(module: fx.GraphModule) -> None:
    """A constant is added or subtracted without the factor that it has."""
    for node in _calls(module, torch.add, torch.sub):
        node.kwargs = {name: value for name, value in node.kwargs.items() if name != "alpha"}
