"""The command line of `orthrus serve`: vLLM's parser, an allow-list over it, and our flags."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from vllm import envs
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser

from orthrus_serving.engine.frontend.orthrus_flags import add_orthrus_flags
from orthrus_serving.engine.frontend.vllm_flags import ALLOWED, REFUSED, UNTESTED
from orthrus_serving.engine.sendable_key import can_be_sent
from orthrus_serving.engine.start_error import Reason, StartError


class ServeParser(FlexibleArgumentParser):
    """Shows every flag in its help, and raises instead of exiting."""

    def format_help(self) -> str:
        # vLLM's form lists groups only.
        return argparse.ArgumentParser.format_help(self)

    def _pull_args_from_config(self, args: list[str]) -> list[str]:
        # vLLM replaces `--config FILE` by the file's flags before anything is parsed, so ours would
        # take effect only in part: the listener has read its own by then. Left in, it is refused.
        return args

    def error(self, message: str) -> NoReturn:
        raise StartError(Reason.INVALID_ARGUMENTS, message)


class _Refused(argparse.Action):
    """Stands in for a vLLM flag that a replica does not take."""

    def __init__(self, replaced: argparse.Action) -> None:
        super().__init__(replaced.option_strings, replaced.dest, nargs="*")
        self._why = REFUSED.get(replaced.dest, UNTESTED)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        parser.error(f"{option_string} of vLLM is refused: {self._why}")


def build_parser() -> ServeParser:
    """vLLM's parser with the flags outside the allow-list hidden and refused."""
    parser = ServeParser(  # type: ignore[no-untyped-call]
        "orthrus serve",
        allow_abbrev=False,
        usage="orthrus serve MODEL [flags]",
        description="Serve embedding and generation from one model, in one batch.",
    )
    make_arg_parser(parser)
    add_orthrus_flags(parser)
    ours = {action.dest for action in parser._action_groups[-1]._group_actions}
    for action in parser._actions:
        if action.dest in ALLOWED | ours:
            continue
        action.help = argparse.SUPPRESS
        refused = _Refused(action)
        parser._option_string_actions.update(dict.fromkeys(action.option_strings, refused))
    parser._action_groups = [group for group in parser._action_groups if _is_shown(group)]
    return parser


def _is_shown(group: argparse._ArgumentGroup) -> bool:
    return any(action.help != argparse.SUPPRESS for action in group._group_actions)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Raises StartError (InvalidArguments); prints help and exits for `--help`."""
    parser = build_parser()
    parsed: argparse.Namespace = parser.parse_args(list(arguments))
    if parsed.model_tag is None:
        parser.error("name the model: orthrus serve MODEL [flags]")
    parsed.model = parsed.model_tag
    try:
        validate_parsed_serve_args(parsed)
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    return parsed


def api_keys(parsed: argparse.Namespace) -> list[str]:
    """Keys that open the replica, from the flag or else the environment; none: it is open to all.

    Raises StartError for a key that is empty, which an empty Secret makes and which would open the
    replica unnoticed, and for one that clients cannot send.
    """
    keys = [key for key in (parsed.api_key or [envs.VLLM_API_KEY]) if key is not None]
    if any(not key or key != key.strip() for key in keys):
        raise StartError(
            Reason.INVALID_ARGUMENTS,
            "an API key (--api-key or VLLM_API_KEY) is empty or has white space around it",
        )
    if not all(map(can_be_sent, keys)):
        raise StartError(
            Reason.INVALID_ARGUMENTS,
            "an API key (--api-key or VLLM_API_KEY) has other characters than printable ASCII",
        )
    if keys and parsed.api_key_file:
        raise StartError(
            Reason.INVALID_ARGUMENTS,
            "--api-key-file is set beside another API key (--api-key or VLLM_API_KEY): use one",
        )
    return keys
