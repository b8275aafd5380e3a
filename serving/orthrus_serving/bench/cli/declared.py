"""Options that several commands have, each declared once; defaults are a command's own."""

from pathlib import Path
from typing import Annotated

import typer

SERVERS, WORK, LOAD, ENGINES, FIGURES = "Servers", "Work", "Load", "Engines", "Figures"

Urls = Annotated[
    list[str] | None,
    typer.Option(help="A server of both tasks; several take turns.", rich_help_panel=SERVERS),
]
EmbeddingUrls = Annotated[
    list[str] | None, typer.Option(help="A server of embeddings.", rich_help_panel=SERVERS)
]
GenerationUrls = Annotated[
    list[str] | None, typer.Option(help="A server of generation.", rich_help_panel=SERVERS)
]
ModelName = Annotated[
    str | None,
    typer.Option(help="Name of the model; default: the first listed.", rich_help_panel=SERVERS),
]
ModelPath = Annotated[str | None, typer.Option(help="Folder or hub name.", rich_help_panel=ENGINES)]
EmbeddingTokens = Annotated[
    str, typer.Option(help="Lengths of texts to embed.", rich_help_panel=WORK)
]
PromptTokens = Annotated[
    str,
    typer.Option(
        help="Lengths of prompts: 128, uniform:LOW,HIGH, choice:A,B,…, "
        "lognormal:MEDIAN,SIGMA,MOST or exponential:MEAN,MOST.",
        rich_help_panel=WORK,
    ),
]
OutputTokens = Annotated[str, typer.Option(help="Lengths of answers.", rich_help_panel=WORK)]
TokenIds = Annotated[
    str,
    typer.Option(help="FIRST-LAST of the ids that prompts are drawn from.", rich_help_panel=WORK),
]
TOKEN_IDS = "1000-30000"  # noqa: S105 (no password)
Nonce = Annotated[
    int | None,
    typer.Option(
        help="Fixes the token ids that are drawn; default: others in each run, so that no cache of "
        "an earlier one helps.",
        min=0,
        rich_help_panel=WORK,
    ),
]
Clients = Annotated[
    int,
    typer.Option(help="Closed loop: requests open at any time.", min=1, rich_help_panel=LOAD),
]
Seconds = Annotated[
    float,
    typer.Option(
        help="How long to measure; a closed loop goes on by as much while answers are missing.",
        min=0.1,
        rich_help_panel=LOAD,
    ),
]
SecondsMost = Annotated[float, typer.Option(help="Bound of that.", min=0.1, rich_help_panel=LOAD)]
Answers = Annotated[
    int,
    typer.Option(
        help="Closed loop: of each task, wanted while it is measured; 100 give a p99.",
        min=1,
        rich_help_panel=LOAD,
    ),
]
WarmUp = Annotated[
    float,
    typer.Option(
        help="Seconds before it, at least; a closed loop waits until all its open requests have "
        "ended twice.",
        min=0,
        rich_help_panel=LOAD,
    ),
]
WarmUpMost = Annotated[float, typer.Option(help="Bound of that.", min=0, rich_help_panel=LOAD)]
Output = Annotated[Path | None, typer.Option(help="Write figures, JSON.", rich_help_panel=FIGURES)]
Report = Annotated[
    Path | None, typer.Option(help="Write one page of HTML.", rich_help_panel=FIGURES)
]
