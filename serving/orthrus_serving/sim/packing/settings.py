"""What the paper states of its packing simulation, and what it leaves out."""

from dataclasses import dataclass
from typing import Literal

Arrivals = Literal["closed", "poisson"]
Chunks = Literal["fitting", "cut", "one"]


@dataclass(frozen=True)
class Stated:
    """As in the paper's A.3. Decodes advance `decode_step` tokens in an iteration."""

    budget: int = 256
    chunk: int = 64
    generation_share: float = 0.8
    prompt: int = 128
    decode: int = 256
    decode_step: int = 8
    short: int = 96
    long: int = 224
    long_share: float = 0.45


@dataclass(frozen=True)
class LeftOut:
    """What an implementation must decide besides; the defaults are the reading fixed before any
    run: a queue that never empties, iterations of one length, prompts that are split like the
    engine's, chunks that fit, and strict order.

    `chunks`: what an iteration takes of an embedding, of at most C tokens at a time. `fitting`: one
    chunk after the other as long as the next fits whole, as in the paper's §4.2 ("leaves fewer
    than C tokens unused once no additional chunk fits"). `cut`: the last is cut to what is left
    of the budget, as our engine does. `one`: one chunk, and the next in the next iteration.
    `arrivals`, `load`: a closed loop of `load` requests, or Poisson arrivals at `load` times the
    tokens that full iterations would serve. `time_by_tokens`: an iteration lasts as long as its
    tokens, not as long as a full one. `whole_prompts`: a prompt must fit, as an embedding must in
    the atomic condition. `alone`: there an embedding has an iteration to itself, so it waits until
    nothing decodes. `strict`: who does not fit stops those behind; else they may pass.
    `running`: most generations at once; 0 is no bound. `charge`: tokens of the budget that a
    decode takes in an iteration.
    """

    arrivals: Arrivals = "closed"
    load: float = 256
    time_by_tokens: bool = False
    whole_prompts: bool = False
    alone: bool = False
    strict: bool = True
    running: int = 0
    charge: int = 8
    chunks: Chunks = "fitting"


FULL_ITERATION_SECONDS = 0.0064
"""Only scales throughputs: at 40,000 tokens per second the paper's own rates and fills say the
same of both conditions (docs/simulation.md)."""
