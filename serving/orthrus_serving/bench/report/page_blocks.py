"""Parts of a Markdown page that a program writes: from a comment that names each to the next one.

<!-- KIND NAME -->
<!-- end -->
"""

import re
from collections.abc import Callable


class PageBlocks:
    """Those of one kind."""

    def __init__(self, kind: str, name: str) -> None:
        """`name`: a pattern that all their names match."""
        self._kind = kind
        self._pattern = re.compile(
            rf"<!-- {re.escape(kind)} (?P<name>{name}) -->\n(?P<content>.*?)<!-- end -->",
            re.DOTALL,
        )

    def contents(self, page: str) -> dict[str, str]:
        """What each has, by its name."""
        return {found["name"]: found["content"] for found in self._pattern.finditer(page)}

    def renewed(self, page: str, content: Callable[[str, str], str]) -> str:
        """The page with what `content` makes of each one's name and of what it has."""

        def renew(found: re.Match[str]) -> str:
            name = found["name"]
            return f"<!-- {self._kind} {name} -->\n{content(name, found['content'])}<!-- end -->"

        return self._pattern.sub(renew, page)
