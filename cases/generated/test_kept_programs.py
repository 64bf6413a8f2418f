"""Programs that nobody wrote: drawn once, kept as files in `programs`, and run as they are."""

import pytest

from conformance import clause, kept, kept_programs


@pytest.mark.parametrize("name", kept_programs())
@clause("generated.programs.as_eager")
def test_a_program_that_was_drawn(stack, device, name):
    """A program of views, writes and metadata changes, called on inputs that alias and change, does as eager does."""
    program, calls = kept(name)
    run = stack.run(program, calls)

    run.assert_matches_eager()
    run.assert_compiled(graphs=None, recompiles=None, graph_breaks=None)
