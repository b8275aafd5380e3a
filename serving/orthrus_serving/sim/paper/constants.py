"""Constants of the paper's machines: those taken as given, and those fitted to its tables."""

from dataclasses import dataclass

from orthrus_serving.sim.accelerator import A100_40GB, Accelerator
from orthrus_serving.sim.front_end import FrontEndCost
from orthrus_serving.sim.model_shape import MISTRAL_7B, ModelShape
from orthrus_serving.sim.paper.iter_retgen import QueryLoad
from orthrus_serving.sim.roofline import Roofline

# Taken as given, before any comparison: what dense kernels and copies usually reach of an A100's
# peaks, vLLM's default share of the memory, and a guess at activations and the CUDA context.
BANDWIDTH_SHARE = 0.85
FLOPS_SHARE = 0.7
MEMORY_SHARE = 0.9
WORKSPACE_BYTES = 1.5e9


@dataclass(frozen=True)
class Fitted:
    """Seconds; each is fitted to one cell of a baseline or of a light load, none to a cell that
    compares Orthrus with anything (`fit.py` says which).
    """

    step: float
    """Of every step, beside reading and computing."""
    output_token: float
    """Of the front end, for each token of a stream."""
    vector: float
    """Of the front end, for each embedding."""


FITTED = Fitted(step=0.00616, output_token=0.000_187, vector=0.0639)
"""As `orthrus sim paper --fit` finds them."""

QUERY_LOAD = QueryLoad(queries_per_gpu=48, most_iterations=6)
"""Of Tables 3 and 4, found by the same."""


def roofline(
    fitted: Fitted, accelerator: Accelerator = A100_40GB, model: ModelShape = MISTRAL_7B
) -> Roofline:
    return Roofline(accelerator, model, fitted.step, BANDWIDTH_SHARE, FLOPS_SHARE)


def front_end_cost(fitted: Fitted) -> FrontEndCost:
    return FrontEndCost(fitted.output_token, fitted.vector)
