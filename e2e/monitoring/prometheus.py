"""What a scenario asks a running Prometheus."""

from dataclasses import dataclass
from typing import Any

import httpx

_SECONDS = 10.0


@dataclass(frozen=True)
class Series:
    """One element of an instant vector."""

    labels: dict[str, str]
    value: float


@dataclass(frozen=True)
class Prometheus:
    """The HTTP API of the Prometheus at `url`."""

    url: str

    def query(self, expression: str) -> list[Series]:
        """The instant vector of a PromQL expression.

        Raises:
            httpx.HTTPError: no answer, or the expression is refused.
        """
        found = self._get("query", query=expression)["result"]
        return [Series(each["metric"], float(each["value"][1])) for each in found]

    def names(self) -> set[str]:
        """The names of all series that it has."""
        return set(self._get("label/__name__/values"))

    def target_problems(self, job: str, namespace: str) -> dict[str, str]:
        """The last error of each target of `job` in `namespace`, by pod; empty where a scrape
        succeeded."""
        targets = self._get("targets", state="active")["activeTargets"]
        return {
            each["labels"]["pod"]: each["lastError"]
            for each in targets
            if each["scrapePool"] == job and each["labels"]["namespace"] == namespace
        }

    def rule_problems(self) -> dict[str, str]:
        """What the last evaluation of each rule said, by name, where it failed."""
        return {
            rule["name"]: rule.get("lastError", "")
            for group in self._get("rules")["groups"]
            for rule in group["rules"]
            if rule["health"] != "ok"
        }

    def _get(self, path: str, **parameters: str) -> Any:
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=_SECONDS)
        return answer.raise_for_status().json()["data"]
