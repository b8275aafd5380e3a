"""How much of a workload is generation."""

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What a ratio counts."""

    REQUESTS = "requests"
    TOKENS = "tokens"


@dataclass(frozen=True)
class Mix:
    """Embedding to generation, as `9:1` or as the share of generation, `10%`."""

    text: str
    generation: float
    """Share of generation, 0 to 1."""

    def __str__(self) -> str:
        return self.text


def parse_mix(text: str) -> Mix:
    """The mix that `text` names.

    Raises:
        ValueError: neither form, or nothing of either task.
    """
    try:
        if text.endswith("%"):
            return _checked(text, float(text[:-1]) / 100)
        embedding, generation = (float(part) for part in text.split(":"))
        if min(embedding, generation) < 0:
            raise ValueError
        return _checked(text, generation / (embedding + generation))
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"mix {text!r}: write EMBEDDING:GENERATION, as 9:1, or the share of generation, as 10%"
        ) from None


def _checked(text: str, generation: float) -> Mix:
    if not 0 <= generation <= 1:
        raise ValueError
    return Mix(text, generation)


def request_share(
    share: float, unit: Unit, embedding_tokens: float, generation_tokens: float
) -> float:
    """Share of generation among requests for a `share` of generation counted in `unit`.

    `embedding_tokens` and `generation_tokens` are means of a request, output included.
    """
    if unit is Unit.REQUESTS:
        return share
    generations = share / generation_tokens
    return generations / (generations + (1 - share) / embedding_tokens)
