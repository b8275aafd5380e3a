"""Reads the stages of a Dockerfile: what each is made of."""

import shlex
from dataclasses import dataclass

from e2e.images.errors import ImageError


@dataclass(frozen=True)
class Stage:
    """One `FROM … AS name` block.

    `lines` are its instructions without comments, `uses` the stages and images it starts or
    copies from, `sources` the paths it copies from the build context.
    """

    name: str
    lines: tuple[str, ...]
    uses: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def parse(text: str) -> list[Stage]:
    """The stages of a Dockerfile, in order.

    Raises ImageError for a stage without a name and for forms whose inputs cannot be told.
    """
    blocks: list[list[str]] = []
    for line in _instructions(text):
        if line.startswith("FROM "):
            blocks.append([])
        if not blocks:
            raise ImageError(f"Dockerfile: {line!r} stands before the first FROM")
        blocks[-1].append(line)
    return [_stage(block) for block in blocks]


def needed(stages: list[Stage], target: str) -> list[Stage]:
    """The stages that `target` is built from, itself included, in file order."""
    by_name = {stage.name: stage for stage in stages}
    if target not in by_name:
        raise ImageError(f"Dockerfile has no target {target!r}")
    wanted: set[str] = set()
    pending = [target]
    while pending:
        name = pending.pop()
        if name in by_name and name not in wanted:
            wanted.add(name)
            pending.extend(by_name[name].uses)
    return [stage for stage in stages if stage.name in wanted]


def _instructions(text: str) -> list[str]:
    """Whole instructions: comments dropped, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [" ".join(line.split()) for line in joined.splitlines() if line.strip()]


def _stage(lines: list[str]) -> Stage:
    words = lines[0].split()
    if len(words) != 4 or words[2] != "AS":
        raise ImageError(f"Dockerfile: write {lines[0]!r} as FROM image AS name")
    uses, sources = [words[1]], []
    for line in lines[1:]:
        instruction, *arguments = shlex.split(line)
        options = [word for word in arguments if word.startswith("--")]
        origins = [_origin(option) for option in options]
        uses += [origin for origin in origins if origin]
        if instruction == "ADD" or (instruction == "COPY" and "[" in line):
            raise ImageError(f"Dockerfile: use the plain form of COPY in {line!r}")
        if instruction == "COPY" and not any(origins):
            sources += [word for word in arguments if word not in options][:-1]
        if instruction == "RUN" and any(_mounts_context(option) for option in options):
            raise ImageError(f"Dockerfile: COPY what {line!r} mounts, or no layer depends on it")
    return Stage(words[3], tuple(lines), tuple(uses), tuple(sources))


def _origin(option: str) -> str | None:
    """The stage of `--from=STAGE` or `--mount=…,from=STAGE,…`."""
    fields = dict(
        field.split("=", 1) for field in option.removeprefix("--mount=").split(",") if "=" in field
    )
    return fields.get("from") or fields.get("--from")


def _mounts_context(option: str) -> bool:
    return option.startswith("--mount=type=bind") and _origin(option) is None
