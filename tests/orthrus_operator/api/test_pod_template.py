"""What of the pods' template is kept for the operator, and what its users are told of it."""

from orthrus_operator.api.pod_template import Volume
from orthrus_operator.api.schema import structural_schema
from orthrus_operator.builders.volumes import volumes
from tests.orthrus_operator.making import demo


def test_the_refusal_of_a_volumes_name_lists_all_that_the_operator_makes() -> None:
    adapter = {"name": "e5", "source": "pvc://adapters/e5", "task": "embed"}
    keys = {"apiKeySecretRef": {"name": "keys", "key": "keys"}}
    everything = demo("pvc://models/base", adapters=[adapter], auth=keys)
    (rule,) = structural_schema(Volume)["properties"]["name"]["x-kubernetes-validations"]
    told = rule["message"].removeprefix("the volume names ").partition(" are ")[0]
    listed = told.replace(" and ", ", ").split(", ")
    for volume in volumes(everything):
        number = volume["name"].partition("adapters-")[2]
        assert volume["name"].removesuffix(number) + "*" * bool(number) in listed
