"""Dashboard and chart files are what their sources say."""

from e2e.monitoring.generated import generated_files


def test_the_files_in_the_repository_are_current() -> None:
    for path, content in generated_files().items():
        assert path.read_text() == content, f"{path.name} is stale: run `make generate`"
