"""Services that rerank, as data: what each wants to be sent and how it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merestone.types import JSON


@dataclass(frozen=True, slots=True)
class RerankingService:
    """The shape of requests and answers of one kind of endpoint."""

    url: str
    """Where it usually is."""
    path: str
    query: str = "query"
    texts: str = "documents"
    model: str = "model"
    """Key of the model's name; empty: the service has one model and is not told."""
    count: str = ""
    """Key of how many are wanted back, which is always all; empty: it gives all anyway."""
    always: Mapping[str, JSON] = field(default_factory=dict)
    answers: tuple[str, ...] = ("results",)
    """Keys that lead to the list of answers; none: the answer is that list."""
    index: str = "index"
    score: str = "relevance_score"
    key_env: str = ""
    """Environment variable of the key, at the usual address only."""
    batch: int = 100
    """Texts in a request at most."""


SERVICES: Mapping[str, RerankingService] = {
    # https://docs.cohere.com/reference/rerank
    "cohere": RerankingService(
        url="https://api.cohere.com", path="/v2/rerank", count="top_n", key_env="COHERE_API_KEY"
    ),
    # https://jina.ai/reranker
    "jina": RerankingService(
        url="https://api.jina.ai/v1",
        path="/rerank",
        count="top_n",
        always={"return_documents": False},
        key_env="JINA_API_KEY",
    ),
    # https://docs.voyageai.com/reference/reranker-api
    "voyage": RerankingService(
        url="https://api.voyageai.com/v1",
        path="/rerank",
        always={"truncation": False},
        answers=("data",),
        key_env="VOYAGE_API_KEY",
    ),
    # https://docs.vllm.ai: Jina's shape
    "vllm": RerankingService(url="http://localhost:8000/v1", path="/rerank"),
    # https://huggingface.github.io/text-embeddings-inference
    "tei": RerankingService(
        url="http://localhost:8080",
        path="/rerank",
        texts="texts",
        model="",
        always={"truncate": False, "raw_scores": False, "return_text": False},
        answers=(),
        score="score",
        batch=32,
    ),
}
