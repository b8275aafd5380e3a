"""A checkpoint cut short, and what it says by Transformers."""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def first_layers(checkpoint: Path, layers: int, folder: Path) -> Path:
    """Writes the model's first `layers` layers, its head and its tokenizer to `folder`."""
    model = AutoModelForCausalLM.from_pretrained(checkpoint, num_hidden_layers=layers, dtype="auto")
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(checkpoint).save_pretrained(folder)
    return folder


def chat_answer(checkpoint: Path, question: str, count: int) -> str:
    """The first `count` tokens of the greedy answer, in fp32."""
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    with torch.inference_mode():
        output = model.generate(**prompt, max_new_tokens=count, do_sample=False)
    begin = prompt["input_ids"].shape[1]
    return str(tokenizer.decode(output[0, begin:], skip_special_tokens=True))
