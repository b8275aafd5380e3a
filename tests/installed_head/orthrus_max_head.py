"""A package with pooling functions, as a user would install it: found by its entry points."""

from torch import Tensor


def max_over_tokens(hidden_states: Tensor) -> Tensor:
    """Elementwise maximum of [tokens, hidden size]."""
    return hidden_states.amax(0)


def broken(hidden_states: Tensor) -> Tensor:
    raise ArithmeticError("this head always fails")


def wrong_shape(hidden_states: Tensor) -> Tensor:
    return hidden_states[0, :3]


def nowhere(hidden_states: Tensor) -> Tensor:
    """On a device that nothing can be copied from."""
    return hidden_states[0].to("meta")


def mean_in_another_form(hidden_states: Tensor) -> Tensor:
    """As code from elsewhere may give it: float64, and sparse."""
    return hidden_states.double().mean(0).to_sparse()


def mean_in_half_precision(hidden_states: Tensor) -> Tensor:
    return hidden_states.mean(0).half()
