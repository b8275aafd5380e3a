"""Two versions of an adapter in one batch."""

from vllm.lora.request import LoRARequest


def named_by_content(request: LoRARequest) -> LoRARequest:
    """The same adapter under a name that no other version of it has.

    vLLM gathers the adapters of a batch in a set, where requests of one name are one. A version
    that was replaced while it runs would push the new one out, and the worker dies of a row whose
    adapter is in no slot (vLLM 0.32.0, `InputBatch.make_lora_inputs`).
    """
    return LoRARequest(request.lora_path, request.lora_int_id, request.lora_path)
