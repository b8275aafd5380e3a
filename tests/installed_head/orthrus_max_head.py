"""A package with pooling functions, as a user would install it: found by its entry points."""

from torch import Tensor


def max_over_tokens(hidden_states: Tensor) -> Tensor:
    """Elementwise maximum of [tokens, hidden size]."""
    return hidden_states.amax(0)


def broken(hidden_states: Tensor) -> Tensor:
    raise ArithmeticError("this head always fails")


def wrong_shape(hidden_states: Tensor) -> Tensor:
    return hidden_states[0, :3]
