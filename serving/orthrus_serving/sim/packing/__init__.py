"""The paper's packing simulation (Table 8): a budget of tokens, with and without chunks."""
