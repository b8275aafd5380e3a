"""Why cells of the paper do not come out."""

_HOMOGENEOUS = (
    "some 3,000 decode tokens follow each embedding, so that turns of embeddings alone are one "
    "step in hundreds and cost next to nothing; what else Unified-Homo waits for is unknown"
)
_DEDICATED_QUERIES = (
    "the split is not in the paper; at the usual 1:3 three of four GPUs decode, and 0.26 queries/s "
    "needs between one and two of them"
)
_DEDICATED_5_5 = (
    "the GPU that embeds 15.6/s at 9:1 embeds 12.5/s here, while generating GPUs do 40 % of what "
    "they do at 1:9: with 512 clients one of them must be saturated, so something else held back"
)
_LIGHT_EMBEDDING = (
    "64 ms per vector, which Table 5 needs, are more than the 53 ms here; and 0.5 to 5 ms from p50 "
    "to p99 are less than the decode step (17 ms) whose end an embedding has to await"
)

_REASONS = {
    "T3 4 GPUs Unified-Homo": _HOMOGENEOUS,
    "T4 1 GPU Unified-Homo": _HOMOGENEOUS,
    "T3 4 GPUs Dedicated": _DEDICATED_QUERIES,
    "T4 4 GPUs Dedicated": _DEDICATED_QUERIES,
    "T4 2 GPUs Disagg-PD": (
        "one GPU decodes what two decode under Orthrus, and its KV space is full; equal tails "
        "cannot be had from a 1:1 split while decodes are nearly all of the work"
    ),
    "T5 9:1 Dedicated generations": (
        "10.5 embeddings for a generation were answered, though 9 were asked for: with a draw for "
        "each request generations are 1 in 9 of what the embedding GPU lets through"
    ),
    "T5 9:1 Orthrus generations": (
        "8.4 embeddings for a generation were answered, though 9 were asked for; here it is 10, "
        "since what is in flight at 180 s does not count and is nearly all generations"
    ),
    "T5 5:5 Dedicated embeddings": _DEDICATED_5_5,
    "T5 5:5 Dedicated generations": _DEDICATED_5_5,
    "T5 1:9 Dedicated embeddings": (
        "5.8 generations for an embedding were answered, though 9 were asked for; no queue says "
        "why, since both pools of the simulation keep up with the mix"
    ),
    "T5 1:9 Orthrus embeddings": (
        "8.2 generations for an embedding, not 9: the generations in flight at 180 s do not count; "
        "the paper has 9.3"
    ),
    "T10 256 generation p99": (
        "27.6 ms per token, though 4,096 tokens take 19.5 ms each: the load must have been higher "
        "at 256, and the paper does not give it"
    ),
    "T10 embedding p50, lowest": _LIGHT_EMBEDDING,
    "T10 embedding p50, highest": _LIGHT_EMBEDDING,
    "T10 embedding p99, lowest": _LIGHT_EMBEDDING,
    "T10 embedding p99, highest": _LIGHT_EMBEDDING,
}


def reason_for(name: str) -> str:
    """What is known of a cell that misses; the seed can move others over the goal."""
    return _REASONS.get(name, "near the goal: another seed may meet it")
