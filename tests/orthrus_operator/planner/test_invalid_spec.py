"""An object of another CRD version is explained by the names of its fields."""

from typing import Any

import pytest
from pydantic import ValidationError

from orthrus_operator.api.orthrus_deployment import OrthrusDeployment
from orthrus_operator.planner.invalid_spec import invalid_spec
from orthrus_operator.planner.problem import Problem


def problem_of(**spec: Any) -> Problem:
    metadata = {"name": "demo", "namespace": "models", "uid": "u1", "generation": 3}
    with pytest.raises(ValidationError) as raised:
        OrthrusDeployment.from_object({"metadata": metadata, "spec": spec})
    return invalid_spec(raised.value)


def test_it_is_stalled_and_names_the_field() -> None:
    problem = problem_of(model={"source": "hf://a/b"}, drainSeconds=9999)
    assert (problem.reason, problem.stalled) == ("InvalidSpec", True)
    assert "spec.drainSeconds: Input should be less than" in problem.message


def test_of_many_fields_a_few_are_named() -> None:
    problem = problem_of(
        model={"source": 1}, drainSeconds="x", replicas=-1, image={"pullSecrets": [{"name": 1}]}
    )
    assert "and 1 more" in problem.message
    secret = problem_of(model={"source": "hf://a/b"}, image={"pullSecrets": [{"name": 1}]})
    assert "spec.image.pullSecrets[0].name" in secret.message


def test_no_value_is_shown_since_it_may_be_a_secret() -> None:
    problem = problem_of(model={"source": "hf://a/b"}, engineArgs={"x": ["hunter2"]})
    assert "hunter2" not in problem.message
