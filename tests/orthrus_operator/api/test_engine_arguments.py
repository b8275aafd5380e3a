"""The CRD and the replica agree on which flags a user may set."""

from orthrus_operator.api.engine_arguments import REFUSED_FLAGS
from orthrus_operator.api.orthrus_deployment import Spec
from orthrus_operator.builders.arguments import serve_arguments
from orthrus_serving.engine.frontend.vllm_flags import REFUSED
from tests.orthrus_operator.making import demo


def test_what_a_replica_refuses_by_name_is_refused_before_it_is_stored() -> None:
    replica_refuses = {flag.replace("_", "-") for flag in REFUSED}
    assert replica_refuses - REFUSED_FLAGS == set()


def test_no_flag_that_the_operator_sets_can_be_set_twice() -> None:
    everything = demo(
        model={"source": "hf://org/model", "revision": "main", "servedName": "name"},
    )
    owned = {
        argument.removeprefix("--").partition("=")[0]
        for argument in serve_arguments(everything)
        if argument.startswith("--")
    }
    assert "revision" in owned
    assert owned - REFUSED_FLAGS == set()


def test_the_field_says_which_flags_a_replica_takes_and_what_becomes_of_others() -> None:
    """The replica has a list, which the operator does not know."""
    meaning = str(Spec.model_fields["engine_args"].description)
    assert "`orthrus serve --help`" in meaning
    assert "InvalidArguments" in meaning
