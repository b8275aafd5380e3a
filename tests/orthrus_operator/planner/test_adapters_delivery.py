"""Pods are told of a changed adapters file once, if their replica says that it has another."""

from typing import Any

import pytest

from orthrus_operator.api.adapters import Adapter
from orthrus_operator.builders.adapters import declaration_digest
from orthrus_operator.planner.adapters_delivery import DELIVERED, file_mark, lacking_the_file
from orthrus_operator.planner.replica_report import AdapterReport, ReplicaReport

E5 = Adapter.model_validate({"name": "e5", "source": "hf://org/e5", "task": "embed"})
E5_2 = E5.model_copy(update={"source": "hf://org/e5@v2"})
SQL = Adapter.model_validate({"name": "sql", "source": "hf://org/sql", "task": "generate"})


def pod(mark: str | None = None) -> dict[str, Any]:
    annotations = {"annotations": {DELIVERED: mark}} if mark else {}
    return {"metadata": {"name": "demo-1", "uid": "1", **annotations}}


def has(*adapters: Adapter, state: str = "loaded") -> dict[str, ReplicaReport]:
    reports = (AdapterReport(each.name, declaration_digest(each), state) for each in adapters)
    return {"1": ReplicaReport("demo-1", tuple(reports))}


@pytest.mark.parametrize("before", [(), (E5_2,), (E5, SQL), (SQL,)])
def test_one_that_has_others_is_told(before: tuple[Adapter, ...]) -> None:
    for marked in (pod(), pod(file_mark(before))):
        assert lacking_the_file([E5], [marked], has(*before)) == [marked]


def test_one_that_was_told_is_not_told_again() -> None:
    assert lacking_the_file([E5], [pod(file_mark([E5]))], has(E5_2)) == []


@pytest.mark.parametrize("state", ["loaded", "loading", "failed"])
def test_one_that_has_these_is_left_alone_whatever_became_of_them(state: str) -> None:
    assert lacking_the_file([E5, SQL], [pod()], has(SQL, E5, state=state)) == []


@pytest.mark.parametrize("reports", [{}, {"1": ReplicaReport("demo-1", None)}])
def test_one_that_says_nothing_is_left_alone(reports: dict[str, ReplicaReport]) -> None:
    assert lacking_the_file([E5], [pod()], reports) == []
