"""The time of a step as a sum of what its tokens cost."""

from dataclasses import dataclass

from orthrus_serving.sim.step_load import StepLoad


@dataclass(frozen=True)
class LinearCost:
    """Seconds of a step, of each chunk token and of each decode token.

    Right where arithmetic is the limit at any batch size, as on a CPU: there nothing is gained
    by reading the weights once for many tokens.
    """

    step: float
    chunk_token: float
    decode_token: float

    def seconds(self, load: StepLoad) -> float:
        return (
            self.step
            + self.chunk_token * load.chunk_tokens
            + self.decode_token * load.decode_tokens
        )
