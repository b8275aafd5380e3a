"""`spec.scheduling`: how one engine step is shared by embedding and generation."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, rules

_DEFAULT_CHUNK_TOKENS = 512
_DEFAULT_SEQUENCES = 256

Tokens = Annotated[int, Field(ge=1, le=1_048_576, json_schema_extra={"format": "int32"})]


class Scheduling(ApiType):
    """How one engine step is shared by embedding and generation."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            Rule(
                "!has(self.embeddingChunkTokens)"
                " || self.embeddingChunkTokens <= self.maxBatchedTokens",
                "embeddingChunkTokens must be at most maxBatchedTokens (2048 when not set): lower"
                " the one or raise the other",
                field=".embeddingChunkTokens",
            ),
            Rule(
                "!has(self.maxSequences) || self.maxSequences < self.maxBatchedTokens",
                "maxSequences must be less than maxBatchedTokens (2048 when not set), so that"
                " decodes leave room for prompts: lower the one or raise the other",
                field=".maxSequences",
            ),
        )
    )

    policy: Literal["ibs", "fcfs", "homogeneous"] = "ibs"
    """ibs shares each step between the two tasks by their remaining work; fcfs fills it in order of
    arrival; homogeneous gives it to one task. The last two are for comparisons."""
    max_batched_tokens: Annotated[
        int, Field(ge=16, le=1_048_576, json_schema_extra={"format": "int32"})
    ] = 2048
    """Token budget of one engine step, all units together."""
    # Not defaulted in the schema: a default of 512 would refuse {maxBatchedTokens: 256} alone.
    embedding_chunk_tokens: Tokens | None = None
    """Most tokens that one scheduling opportunity gives to a request; the smaller of 512 and
    maxBatchedTokens when not set."""
    min_opportunities: Annotated[int, Field(ge=0, le=16, json_schema_extra={"format": "int32"})] = 1
    """Opportunities that each task with waiting work gets in every step, so that a short prompt
    never waits behind the other task's backlog; 0 is the paper's form."""
    max_queued_tokens: Annotated[
        int, Field(ge=1, le=1_073_741_824, json_schema_extra={"format": "int32"})
    ] = 262_144
    """Prompt tokens that may wait in a replica. A request beyond them is refused with 429 and
    Retry-After, one that is larger than the limit itself with 413."""
    max_inter_token_millis: Annotated[
        int | None, Field(ge=1, le=60_000, json_schema_extra={"format": "int32"})
    ] = None
    """While requests decode, chunks are trimmed so that a step, and with it the gap between two
    tokens of a stream, is predicted to stay under so many milliseconds; no bound when not set."""
    max_sequences: Annotated[
        int | None, Field(ge=1, le=65_536, json_schema_extra={"format": "int32"})
    ] = None
    """Most requests that run at once in a replica; the smaller of 256 and maxBatchedTokens - 1 when
    not set."""

    @property
    def chunk_tokens(self) -> int:
        """C: `embedding_chunk_tokens`, or its default."""
        return self.embedding_chunk_tokens or min(_DEFAULT_CHUNK_TOKENS, self.max_batched_tokens)

    @property
    def sequences(self) -> int:
        """`max_sequences`, or its default."""
        return self.max_sequences or min(_DEFAULT_SEQUENCES, self.max_batched_tokens - 1)
