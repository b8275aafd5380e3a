"""The chat template that vLLM will use, from wherever it takes it."""

from vllm.config import ModelConfig
from vllm.renderers.chat_utils import load_chat_template
from vllm.renderers.hf import resolve_chat_template
from vllm.tokenizers import TokenizerLike
from vllm.utils.mistral import is_mistral_tokenizer


def chat_template(given: str | None, tokenizer: TokenizerLike, model: ModelConfig) -> str:
    """Its text; empty when there is none, or Mistral's own code takes its place.

    `given`: `--chat-template`, a file, a text or the name of one of the model's templates. Without
    it, vLLM looks in the files of tokenizer and processor, then among its own.
    """
    if is_mistral_tokenizer(tokenizer):
        return ""
    return (
        resolve_chat_template(tokenizer, load_chat_template(given), tools=None, model_config=model)
        or ""
    )
