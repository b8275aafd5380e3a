"""The present moment as the API server reads it, always in UTC."""

from datetime import UTC, datetime


def timestamp() -> str:
    """metav1.Time: to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp() -> str:
    """metav1.MicroTime: to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
