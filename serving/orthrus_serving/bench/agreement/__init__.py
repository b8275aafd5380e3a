"""Whether `orthrus bench run` and `vllm bench serve` find the same of one server."""
