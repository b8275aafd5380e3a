"""LoRA adapters of a replica: declared in a file or loaded over HTTP, checked, named."""
