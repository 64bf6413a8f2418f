"""Programs that nobody wrote: other ones in each of the longer scopes."""

from hypothesis import HealthCheck, given, settings

from conformance import assert_as_eager, clause, in_scopes, sketches


@in_scopes("full", "nightly")
@clause("generated.programs.as_eager")
@settings(suppress_health_check=list(HealthCheck))
@given(sketch=sketches())
def test_a_program_that_is_drawn_now(stack, device, sketch):
    """A program of views, writes and metadata changes, called on inputs that alias and change, does as eager does."""
    assert_as_eager(stack, sketch)
