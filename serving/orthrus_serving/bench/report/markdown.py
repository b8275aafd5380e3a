"""Tables as Markdown."""

from rich.table import Table


def markdown(shown: Table) -> str:
    """Without padding, so that a row changes only where its figures do."""
    names = [str(column.header) for column in shown.columns]
    rules = ["---:" if column.justify == "right" else "---" for column in shown.columns]
    rows = zip(*(map(str, column.cells) for column in shown.columns), strict=True)
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, rules, *rows)) + "\n"
