import logging
from argparse import ArgumentError

import pytest

from orthrus_serving.server.listener import ListenOptions, QuietProbes, bind


def test_the_flags_of_the_listener_are_found_among_those_of_vllm() -> None:
    options = ListenOptions.from_arguments(
        ["model", "--dtype", "float32", "--port=9000", "--drain_timeout", "5", "--enforce-eager"]
    )
    assert (options.host, options.port, options.drain_seconds) == ("0.0.0.0", 9000, 5.0)  # noqa: S104


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--drain-timeout", "-1"),
        ("--drain-timeout", "nan"),
        ("--max-body-bytes", "0"),
        ("--max-connection-requests", "0"),
        ("--max-connection-age", "soon"),
        ("--log-level", "LOUD"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_flag(flag: str, value: str) -> None:
    with pytest.raises(ArgumentError, match=flag):
        ListenOptions.from_arguments([flag, value])


def test_a_taken_port_is_an_error() -> None:
    first = bind(ListenOptions.from_arguments(["--host", "127.0.0.1", "--port", "0"]))
    with first:
        first.listen()
        port = str(first.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            bind(ListenOptions.from_arguments(["--host", "127.0.0.1", "--port", port]))


@pytest.mark.parametrize(
    ("path", "status", "is_logged"),
    [
        ("/health", 200, False),
        ("/health", 503, True),
        ("/ready", 503, False),
        ("/metrics", 200, False),
        ("/v1/embeddings", 200, True),
        ("/nothing", 404, True),
    ],
)
def test_probes_are_logged_only_when_they_say_something(
    path: str, status: int, is_logged: bool
) -> None:
    arguments = ("127.0.0.1:1", "GET", path, "1.1", status)
    record = logging.LogRecord("uvicorn.access", logging.INFO, "", 0, "", arguments, None)
    assert QuietProbes().filter(record) is is_logged
