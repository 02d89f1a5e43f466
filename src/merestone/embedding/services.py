"""Services that embed, as data: what each wants to be sent and how it answers.

A service that speaks as one of these does is named with its own address::

    [embedding]
    model = "openai:BAAI/bge-small-en-v1.5"
    url = "http://localhost:8000/v1"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from merestone.embedding.templates import PLAIN
from merestone.types import JSON


@dataclass(frozen=True, slots=True)
class EmbeddingService:
    """The shape of requests and answers of one kind of endpoint."""

    url: str
    """Where it usually is."""
    path: str
    texts: str = "input"
    """Key of the list of texts."""
    model: str = "model"
    """Key of the model's name; empty: the service has one model and is not told."""
    always: Mapping[str, JSON] = field(default_factory=dict)
    """Sent with each request: above all that nothing is to be cut off silently."""
    dimension: str = ""
    """Key of the wanted length of the vectors; empty: they are cut here."""
    purpose: tuple[str, str, str] | None = None
    """Key that says what the text is, its value for a passage and for a query."""
    answers: tuple[str, ...] = ()
    """Keys that lead to the list of answers; none: the answer is that list."""
    vector: str = ""
    """Key of the vector in an answer; empty: the answer is the vector."""
    index: str = ""
    """Key of the place of the text that an answer belongs to."""
    tokens: tuple[str, ...] = ()
    """Keys that lead to the number of tokens that were counted."""
    key_env: str = ""
    """Environment variable of the key, at the usual address only: a key is never sent to an
    address that was not made for it."""
    batch: int = 64
    """Texts in a request at most."""
    batch_tokens: int = 100_000
    """Tokens in a request at most."""


_OPENAI = EmbeddingService(
    url="https://api.openai.com/v1",
    path="/embeddings",
    always={"encoding_format": "float"},
    dimension="dimensions",
    answers=("data",),
    vector="embedding",
    index="index",
    tokens=("usage", "prompt_tokens"),
    key_env="OPENAI_API_KEY",
)

SERVICES: Mapping[str, EmbeddingService] = {
    # https://platform.openai.com/docs/api-reference/embeddings
    "openai": _OPENAI,
    # https://docs.vllm.ai: OpenAI's shape; refuses a text that is too long
    "vllm": EmbeddingService(
        url="http://localhost:8000/v1",
        path="/embeddings",
        always={"encoding_format": "float"},
        answers=("data",),
        vector="embedding",
        index="index",
        tokens=("usage", "prompt_tokens"),
    ),
    # https://github.com/ollama/ollama/blob/main/docs/api.md
    "ollama": EmbeddingService(
        url="http://localhost:11434",
        path="/api/embed",
        always={"truncate": False},
        answers=("embeddings",),
        tokens=("prompt_eval_count",),
    ),
    # https://huggingface.github.io/text-embeddings-inference
    "tei": EmbeddingService(
        url="http://localhost:8080",
        path="/embed",
        texts="inputs",
        model="",
        always={"truncate": False},
        batch=32,
        batch_tokens=16_384,
    ),
    # https://docs.cohere.com/reference/embed
    "cohere": EmbeddingService(
        url="https://api.cohere.com",
        path="/v2/embed",
        texts="texts",
        always={"embedding_types": ["float"], "truncate": "NONE"},
        dimension="output_dimension",
        purpose=("input_type", "search_document", "search_query"),
        answers=("embeddings", "float"),
        tokens=("meta", "billed_units", "input_tokens"),
        key_env="COHERE_API_KEY",
        batch=96,
    ),
    # https://jina.ai/embeddings
    "jina": EmbeddingService(
        url="https://api.jina.ai/v1",
        path="/embeddings",
        always={"truncate": False, "embedding_type": "float"},
        dimension="dimensions",
        purpose=("task", "retrieval.passage", "retrieval.query"),
        answers=("data",),
        vector="embedding",
        index="index",
        tokens=("usage", "total_tokens"),
        key_env="JINA_API_KEY",
    ),
    # https://docs.voyageai.com/reference/embeddings-api
    "voyage": EmbeddingService(
        url="https://api.voyageai.com/v1",
        path="/embeddings",
        always={"truncation": False},
        dimension="output_dimension",
        purpose=("input_type", "document", "query"),
        answers=("data",),
        vector="embedding",
        index="index",
        tokens=("usage", "total_tokens"),
        key_env="VOYAGE_API_KEY",
    ),
}


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What a published model's card says."""

    dimension: int
    max_tokens: int
    tokenizer: str = ""
    """As ``embedding.tokenizer`` takes it; empty: it has to be named."""
    passage_template: str = PLAIN
    query_template: str = PLAIN
    scripts: frozenset[str] | None = None


LATIN = frozenset({"latin"})
BERT_UNCASED = "bert-uncased"
"""The tokenizer that the bundled model brings: that of ``bert-base-uncased``."""

_ASKING = "Represent this sentence for searching relevant passages: {text}"
KNOWN_MODELS: Mapping[str, KnownModel] = {
    "text-embedding-3-small": KnownModel(1536, 8191, "cl100k_base"),
    "text-embedding-3-large": KnownModel(3072, 8191, "cl100k_base"),
    "text-embedding-ada-002": KnownModel(1536, 8191, "cl100k_base"),
    "nomic-embed-text": KnownModel(
        768, 2048, BERT_UNCASED, "search_document: {text}", "search_query: {text}", LATIN
    ),
    "nomic-embed-text-v1.5": KnownModel(
        768, 8192, BERT_UNCASED, "search_document: {text}", "search_query: {text}", LATIN
    ),
    "mxbai-embed-large": KnownModel(1024, 512, BERT_UNCASED, PLAIN, _ASKING, LATIN),
    "mxbai-embed-large-v1": KnownModel(1024, 512, BERT_UNCASED, PLAIN, _ASKING, LATIN),
    "snowflake-arctic-embed": KnownModel(1024, 512, BERT_UNCASED, PLAIN, _ASKING, LATIN),
    "all-minilm": KnownModel(384, 256, BERT_UNCASED, scripts=LATIN),
    "all-minilm-l6-v2": KnownModel(384, 256, BERT_UNCASED, scripts=LATIN),
    "bge-small-en-v1.5": KnownModel(384, 512, BERT_UNCASED, PLAIN, _ASKING, LATIN),
    "bge-base-en-v1.5": KnownModel(768, 512, BERT_UNCASED, PLAIN, _ASKING, LATIN),
    "bge-large-en-v1.5": KnownModel(1024, 512, BERT_UNCASED, PLAIN, _ASKING, LATIN),
    "bge-m3": KnownModel(1024, 8192),
    "multilingual-e5-small": KnownModel(384, 512, "", "passage: {text}", "query: {text}"),
    "multilingual-e5-base": KnownModel(768, 512, "", "passage: {text}", "query: {text}"),
    "multilingual-e5-large": KnownModel(1024, 512, "", "passage: {text}", "query: {text}"),
    "embed-english-v3.0": KnownModel(1024, 512, scripts=LATIN),
    "embed-multilingual-v3.0": KnownModel(1024, 512),
    "jina-embeddings-v3": KnownModel(1024, 8192),
}
"""By the name without owner and tag, in lower case."""


def known_model(model: str) -> KnownModel | None:
    """What is known of ``owner/name:tag``."""
    name = model.rpartition("/")[2].partition(":")[0].lower()
    return KNOWN_MODELS.get(name)
