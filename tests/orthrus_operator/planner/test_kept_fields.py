"""What the cluster made of an object: a loss is a problem, another value a note."""

from typing import Any

from orthrus_operator.builders.deployment import deployment
from orthrus_operator.planner.containment import Difference, differences
from orthrus_operator.planner.kept_fields import dropped_problem, rewriting_note
from tests.orthrus_operator.making import demo

FIELD = "spec.template.spec.containers[0].image"
WANTED = deployment(demo(), "hub/serving:1")


def mirrored() -> dict[str, Any]:
    return deployment(demo(), "mirror/serving:1")


def test_a_mirrors_image_is_named_and_no_problem() -> None:
    found = list(differences(WANTED, mirrored()))
    assert dropped_problem(WANTED, found) is None
    assert rewriting_note(WANTED, found) == (
        f"the cluster made {FIELD} mirror/serving:1, not hub/serving:1 in Deployment demo"
    )


def test_a_loss_beside_it_is_a_problem() -> None:
    stored = mirrored()
    del stored["spec"]["template"]["spec"]["serviceAccountName"]
    found = list(differences(WANTED, stored))
    problem = dropped_problem(WANTED, found)
    assert problem
    assert (problem.reason, problem.stalled) == ("FieldDropped", True)
    assert "spec.template.spec.serviceAccountName of Deployment demo" in problem.message
    note = rewriting_note(WANTED, found)
    assert note
    assert "serviceAccountName" not in note


def test_what_is_as_asked_is_neither() -> None:
    assert dropped_problem(WANTED, ()) is None
    assert rewriting_note(WANTED, ()) is None


def test_a_long_value_is_cut() -> None:
    note = rewriting_note(WANTED, [Difference("args", ["x" * 5000], ["y" * 5000])])
    assert note
    assert len(note) < 400
