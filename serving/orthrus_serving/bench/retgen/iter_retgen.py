"""Iterative retrieval-generation (Iter-RetGen): each draft of an answer finds better passages.

It knows neither a server nor a benchmark: give it two functions, as of any OpenAI client.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orthrus_serving.bench.retgen.index import PassageIndex

Embed = Callable[[str], Awaitable[Sequence[float]]]
Generate = Callable[[str], Awaitable[str]]


@dataclass(frozen=True)
class Iteration:
    """One retrieval and the draft that was written with it."""

    retrieved: tuple[int, ...]
    """Numbers of passages, nearest first."""
    draft: str


@dataclass(frozen=True)
class IterRetGen:
    """Retrieve, generate, and retrieve again with the question and the draft."""

    passages: Sequence[str]
    index: PassageIndex
    embed: Embed
    generate: Generate
    iterations: int = 2
    retrieve: int = 5
    """Passages in each prompt."""

    async def answer(self, question: str) -> list[Iteration]:
        """All iterations; the last draft is the answer."""
        done: list[Iteration] = []
        for _ in range(self.iterations):
            query = f"{question} {done[-1].draft}" if done else question
            found = self.index.nearest(await self.embed(query), self.retrieve)
            draft = await self.generate(prompt(question, [self.passages[n] for n in found]))
            done.append(Iteration(found, draft.strip()))
        return done


def prompt(question: str, passages: Sequence[str]) -> str:
    """What a draft is generated from."""
    context = "\n\n".join(passages)
    return f"Use these passages.\n\n{context}\n\nQuestion: {question}\nAnswer:"
