"""Reading a Dockerfile: which stages and files an image is made of."""

import pytest

from e2e.images import ImageError, dockerfile

TEXT = """\
# a comment
FROM debian AS base
RUN apt-get install \\
    # inside an instruction
    python3

FROM base AS code
COPY --chmod=644 src/one src/two /opt/

FROM base AS other
COPY else /opt/

FROM base AS app
COPY --from=code /opt /opt
RUN --mount=type=cache,target=/cache make
"""


def test_comments_are_dropped_and_lines_joined() -> None:
    base = dockerfile.parse(TEXT)[0]
    assert base.lines == ("FROM debian AS base", "RUN apt-get install python3")


def test_a_stage_knows_what_it_copies_and_from_where() -> None:
    stages = {stage.name: stage for stage in dockerfile.parse(TEXT)}
    assert stages["code"].sources == ("src/one", "src/two")
    assert stages["app"].sources == ()
    assert stages["app"].uses == ("base", "code")


def test_a_target_needs_its_stages_and_no_others() -> None:
    needed = dockerfile.needed(dockerfile.parse(TEXT), "app")
    assert [stage.name for stage in needed] == ["base", "code", "app"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("FROM debian", "FROM image AS name"),
        ("ARG A\nFROM debian AS a", "before the first FROM"),
        ("FROM debian AS a\nADD x /x", "use the plain form of COPY"),
        ('FROM debian AS a\nCOPY ["x", "/x"]', "use the plain form of COPY"),
        ("FROM debian AS a\nRUN --mount=type=bind,source=x,target=/x ls", "COPY what"),
    ],
)
def test_a_form_whose_inputs_cannot_be_told_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ImageError, match=complaint):
        dockerfile.parse(text)


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(ImageError, match="no target 'gpu'"):
        dockerfile.needed(dockerfile.parse(TEXT), "gpu")
