"""What demo and scenario ask a replica: a chat question and three embeddings, at the same time."""

import asyncio
import math
from dataclasses import dataclass

from openai import AsyncOpenAI

QUESTION = "What is the capital of France?"
SENTENCES = (
    "A cat sleeps on the sofa.",
    "A kitten is napping on the couch.",
    "The central bank raised interest rates by half a point.",
)


@dataclass(frozen=True)
class Answers:
    """Cosine similarities are those of the first sentence with the other two."""

    answer: str
    related: float
    unrelated: float


async def ask(base_url: str, model: str) -> Answers:
    """Ask `base_url` (without /v1) the question, and for the sentences' embeddings until the
    answer is there."""
    async with AsyncOpenAI(base_url=f"{base_url}/v1", api_key="none", max_retries=0) as client:
        chat = asyncio.create_task(
            client.chat.completions.create(
                model=model,
                messages=[{"role": "user", "content": QUESTION}],
                temperature=0,
                max_tokens=48,
            )
        )
        while True:
            embeddings = await client.embeddings.create(model=model, input=list(SENTENCES))
            if chat.done():
                break
        answer = (await chat).choices[0].message.content or ""
    first, related, unrelated = (item.embedding for item in embeddings.data)
    return Answers(
        answer=answer.strip(),
        related=cosine(first, related),
        unrelated=cosine(first, unrelated),
    )


def cosine(a: list[float], b: list[float]) -> float:
    product = sum(x * y for x, y in zip(a, b, strict=True))
    return product / math.hypot(*a) / math.hypot(*b)
