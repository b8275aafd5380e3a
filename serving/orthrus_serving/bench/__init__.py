"""`orthrus bench`: mixed load on any OpenAI-compatible address, measured for each task.

It knows servers only by HTTP: nothing here imports vLLM.
"""
