"""Pure batch planning: which request gets how many tokens in a step (paper §4)."""
