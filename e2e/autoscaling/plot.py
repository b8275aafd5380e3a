"""A picture of a scenario: load, mix, backlog and replicas over the same time."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from e2e.autoscaling.record import Sample

mpl.use("Agg")


def plot(samples: list[Sample], outage: tuple[float, float], title: str, path: Path) -> None:
    """Write the picture to `path`. `outage` is when Prometheus was stopped."""
    figure = Figure(figsize=(10, 9), layout="constrained")
    figure.suptitle(title)
    load, mix, backlog, replicas = figure.subplots(4, 1, sharex=True)
    seconds = [sample.seconds for sample in samples]

    def line(value: float | None) -> float:
        return float("nan") if value is None else value

    load.set_ylabel("requests under way")
    load.step(seconds, [sample.demand.embeddings for sample in samples], label="embeddings")
    load.step(seconds, [sample.demand.generations for sample in samples], label="generations")
    mix.set_ylabel("embedding share")
    mix.plot(seconds, [line(sample.mix) for sample in samples], label="orthrus_mix_ratio")
    mix.set_ylim(-0.05, 1.05)
    backlog.set_ylabel("backlog tokens")
    for kind in ("embedding", "generation"):
        values = [line((sample.backlog or {}).get(kind)) for sample in samples]
        backlog.plot(seconds, values, label=kind)
    replicas.set_ylabel("replicas")
    replicas.step(seconds, [sample.wanted for sample in samples], label="spec.replicas")
    replicas.step(seconds, [sample.ready for sample in samples], label="ready", linestyle="--")
    replicas.set_xlabel("seconds")
    replicas.set_ylim(0)
    for axes in (load, mix, backlog, replicas):
        axes.axvspan(*outage, color="0.9")
        axes.legend(loc="upper right")
    load.text(outage[0], load.get_ylim()[1] * 0.9, " Prometheus stopped", va="top")
    figure.savefig(path, dpi=100)
