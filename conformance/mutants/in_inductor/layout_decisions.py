"""Layouts that inductor decides about: strides that it owes to a view, to an operator or to the caller, forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import torch
import torch._inductor.config
from torch import fx
from torch._inductor import freezing
from torch._inductor.fx_passes import pad_mm

from conformance.mutants.base import patching


@patching("layout.views.as_strided", base="inductor")
def strides_not_restored() -> Iterator[None]:
    """What `as_strided` is applied to may have been laid out anew."""
    with mock.patch.object(freezing, "enforce_as_strided_input_layout", return_value=None):
        yield


@patching("layout.views.flatten", base="inductor")
def views_kept_after_conversion() -> Iterator[None]:
    """A view of a result whose layout is converted stays a view."""
    with mock.patch.object(freezing, "view_to_reshape", return_value=None):
        yield


@patching("layout.weights.every_dtype", base="inductor")
def half_precision_refused() -> Iterator[None]:
    """A weight in half precision has no layout that its convolution takes, so that the compile fails."""
    own = freezing.convert_conv_weights_to_channels_last

    def convert(module: fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.convolution.default):
            if (dtype := node.args[1].meta["val"].dtype).itemsize < 4:
                raise NotImplementedError(f"no layout for {dtype}")
        own(module)

    with mock.patch.object(freezing, "convert_conv_weights_to_channels_last", convert):
        yield


@patching("layout.options.eager_strides", base="inductor")
def output_strides_not_kept() -> Iterator[None]:
    """Outputs keep the strides that suit the graph, whatever the options say of padding and layout."""
    with torch._inductor.config.patch(keep_output_stride=False, force_layout_optimization=True):
        yield


@patching("layout.outputs.eager_strides", base="inductor")
def layout_not_converted_back() -> Iterator[None]:
    """The output of a frozen convolution whose layout was converted stays in that layout."""
    with mock.patch.object(freezing, "enforce_output_layout", return_value=None):
        yield


@patching("layout.options.eager_strides", base="inductor")
def products_padded_everywhere() -> Iterator[None]:
    """A matmul that may be padded is padded on every device, and returned with the strides of the padding."""
    with mock.patch.multiple(pad_mm, check_device=lambda *_: True, has_triton=lambda *_: True):
        yield
