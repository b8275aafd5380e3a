"""Asks a replica through LangChain and LlamaIndex, unmodified; prints what they give back.

Run by the interpreter of their environment: `python ask_with_libraries.py URL MODEL`.
"""

import json
import sys

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai_like import OpenAILike

QUESTION = "What is the capital of France?"
TEXTS = ["a cat", "a longer text about a dog"]


def langchain(url: str, model: str) -> dict[str, object]:
    embeddings = OpenAIEmbeddings(
        model=model, base_url=url, api_key="none", check_embedding_ctx_length=False
    )
    chat = ChatOpenAI(model=model, base_url=url, api_key="none", temperature=0, max_tokens=16)
    return {
        "documents": embeddings.embed_documents(TEXTS),
        "query": embeddings.embed_query(TEXTS[0]),
        "answer": chat.invoke(QUESTION).content,
        "stream": "".join(str(chunk.content) for chunk in chat.stream(QUESTION)),
    }


def llama_index(url: str, model: str) -> dict[str, object]:
    embeddings = OpenAIEmbedding(model_name=model, api_base=url, api_key="none")
    llm = OpenAILike(
        model=model,
        api_base=url,
        api_key="none",
        is_chat_model=True,
        temperature=0,
        max_tokens=16,
    )
    question = [ChatMessage(role="user", content=QUESTION)]
    return {
        "documents": embeddings.get_text_embedding_batch(TEXTS),
        "query": embeddings.get_query_embedding(TEXTS[0]),
        "answer": llm.chat(question).message.content,
        "stream": "".join(chunk.delta or "" for chunk in llm.stream_chat(question)),
    }


if __name__ == "__main__":
    url, model = sys.argv[1:]
    sys.stdout.write(
        json.dumps({"langchain": langchain(url, model), "llama_index": llama_index(url, model)})
    )
