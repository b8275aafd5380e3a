import pytest

from orthrus_serving.engine.frontend import kv_cache_space
from orthrus_serving.engine.frontend.kv_cache_space import (
    SHARE_OF_LIMIT,
    UNLIMITED_BYTES,
    cpu_kv_cache_bytes,
)

GIB = 1 << 30


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)


def _limit(monkeypatch: pytest.MonkeyPatch, limit: int | None) -> None:
    monkeypatch.setattr(kv_cache_space, "memory_limit", lambda: limit)


def test_a_share_of_the_container_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, 8 * GIB)
    assert cpu_kv_cache_bytes(None) == 8 * GIB * SHARE_OF_LIMIT


def test_without_a_limit_a_fixed_size_and_not_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, None)
    assert cpu_kv_cache_bytes(None) == UNLIMITED_BYTES


def test_the_user_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, 8 * GIB)
    assert cpu_kv_cache_bytes(GIB) == GIB
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "3")
    assert cpu_kv_cache_bytes(None) is None
