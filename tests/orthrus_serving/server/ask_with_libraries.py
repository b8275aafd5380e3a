"""Asks a replica through LangChain and LlamaIndex, unmodified; prints what they give back.

Run by the interpreter of their environment:
`python ask_with_libraries.py URL MODEL QUESTION TOKENS`.
"""

import json
import sys

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai_like import OpenAILike

TEXTS = ["a cat", "a longer text about a dog"]


def langchain(url: str, model: str, question: str, count: int) -> dict[str, object]:
    embeddings = OpenAIEmbeddings(
        model=model, base_url=url, api_key="none", check_embedding_ctx_length=False
    )
    chat = ChatOpenAI(model=model, base_url=url, api_key="none", temperature=0, max_tokens=count)
    return {
        "documents": embeddings.embed_documents(TEXTS),
        "query": embeddings.embed_query(TEXTS[0]),
        "answer": chat.invoke(question).content,
        "stream": "".join(str(chunk.content) for chunk in chat.stream(question)),
    }


def llama_index(url: str, model: str, question: str, count: int) -> dict[str, object]:
    embeddings = OpenAIEmbedding(model_name=model, api_base=url, api_key="none")
    llm = OpenAILike(
        model=model,
        api_base=url,
        api_key="none",
        is_chat_model=True,
        temperature=0,
        max_tokens=count,
    )
    messages = [ChatMessage(role="user", content=question)]
    return {
        "documents": embeddings.get_text_embedding_batch(TEXTS),
        "query": embeddings.get_query_embedding(TEXTS[0]),
        "answer": llm.chat(messages).message.content,
        "stream": "".join(chunk.delta or "" for chunk in llm.stream_chat(messages)),
    }


if __name__ == "__main__":
    url, model, question, count = sys.argv[1:]
    asked = (url, model, question, int(count))
    sys.stdout.write(
        json.dumps({"langchain": langchain(*asked), "llama_index": llama_index(*asked)})
    )
