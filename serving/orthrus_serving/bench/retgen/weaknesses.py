"""A real text collection: the Common Weakness Enumeration, as the package `cwe2` ships it.

CWE is MITRE's, free to use for any purpose with its notice; the package holds licence and text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as Xml  # our own dependency's file, not a stranger's

_NAMESPACE = {"cwe": "http://cwe.mitre.org/cwe-7"}


@dataclass(frozen=True)
class Weakness:
    """One entry: what a kind of software error is, and errors of that kind that were found."""

    identifier: str
    name: str
    passage: str
    """Name and description, without the examples."""
    observed: tuple[str, ...]
    """Descriptions of real vulnerabilities, which the passage does not hold."""


@cache
def read_weaknesses() -> tuple[Weakness, ...]:
    """All entries that are not deprecated, in the order of the file.

    Raises:
        ValueError: the package is not installed, or ships no such file.
    """
    root = Xml.parse(_database()).getroot()  # noqa: S314 (see above)
    entries = root.iterfind("cwe:Weaknesses/cwe:Weakness", _NAMESPACE)
    return tuple(_read(entry) for entry in entries if entry.get("Status") != "Deprecated")


def _database() -> Path:
    spec = find_spec("cwe2")  # importing it would open all its files
    found = (
        list(Path(spec.origin).parent.glob("database_*/cwec_*.xml")) if spec and spec.origin else []
    )
    if not found:
        raise ValueError("the text collection is missing: install cwe2, of the `bench` extra")
    return found[0]


def _read(entry: Xml.Element) -> Weakness:
    name = entry.get("Name", "")
    texts = [
        _text(part)
        for tag in ("Description", "Extended_Description", "Background_Details")
        for part in entry.iterfind(f"cwe:{tag}", _NAMESPACE)
    ]
    observed = entry.iterfind(
        "cwe:Observed_Examples/cwe:Observed_Example/cwe:Description", _NAMESPACE
    )
    return Weakness(
        f"CWE-{entry.get('ID')}",
        name,
        " ".join([f"{name}.", *texts]),
        tuple(_text(part) for part in observed),
    )


def _text(element: Xml.Element) -> str:
    return " ".join(_words(element))


def _words(element: Xml.Element) -> Iterator[str]:
    for text in element.itertext():
        yield from text.split()
