"""`spec.adapters`: LoRA adapters of the model, served beside it in the same batches."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orthrus_operator.api.declare import ApiType, Rule, rules
from orthrus_operator.api.model import Pooling

_EMBEDDING_FIELDS = ("pooling", "normalize", "endToken", "instruction", "dimensions")

AdapterName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=253,
        json_schema_extra=rules(
            Rule(
                "self.matches('^[A-Za-z0-9][A-Za-z0-9._/:-]*$')",
                "an adapter's name has letters, digits and . _ / : - and starts with a letter or a"
                " digit",
            )
        ),
    ),
]


class Adapter(ApiType):
    """One LoRA adapter: clients send its name as `model`. Adapters come, change and go without a
    restart. These changes replace the pods, one at a time: the first adapter and the end of the
    last one, the first on a claim and the end of the last one there, another
    spec.embedding.adapter, and more than 8, 24 or 56 for the first time."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            *(
                Rule(
                    f"self.task == 'embed' || !has(self.{field})",
                    f"{field} is only for adapters of task embed; remove it",
                    field=f".{field}",
                )
                for field in _EMBEDDING_FIELDS
            )
        )
    )

    name: AdapterName
    """What clients send as `model`."""
    source: Annotated[
        str,
        Field(
            max_length=512,
            json_schema_extra=rules(
                Rule(
                    "self.matches('^(hf://[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*"
                    "(/[^ @]+)?(@[^ @]+)?|pvc://[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[^ ]+)$')",
                    "source must be hf://ORG/NAME[/FOLDER][@REVISION] or pvc://CLAIM/path",
                ),
                Rule(
                    "!self.contains('/../') && !self.endsWith('/..')",
                    "source may not contain .. as a path segment",
                ),
            ),
        ),
    ]
    """hf://ORG/NAME[/FOLDER][@REVISION] on the Hugging Face Hub, or pvc://CLAIM/path. Content that
    changes under one source is not noticed: give it another revision or path."""
    task: Literal["embed", "generate"]
    """What the adapter was trained for; the other task answers 400."""
    pooling: Pooling | None = None
    """How its token states become one vector; spec.embedding.pooling when not set."""
    # No defaults: GitOps tools take a default inside a list's item for drift.
    normalize: bool | None = None
    """Whether vectors are scaled to length 1; true when not set."""
    end_token: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    """Token of the vocabulary that becomes the last of every input."""
    instruction: Annotated[str, Field(max_length=8192)] | None = None
    """Text put before every text input."""
    dimensions: (
        Annotated[
            list[Annotated[int, Field(ge=1, description="One size.")]],
            Field(
                min_length=1, max_length=64, json_schema_extra={"x-kubernetes-list-type": "atomic"}
            ),
        ]
        | None
    ) = None
    """Matryoshka sizes that a request may ask for."""

    @property
    def claim(self) -> str | None:
        """The claim that holds it; None for one of the Hub."""
        scheme, _, rest = self.source.partition("://")
        return rest.partition("/")[0] if scheme == "pvc" else None
