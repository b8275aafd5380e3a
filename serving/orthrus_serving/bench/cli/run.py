"""`orthrus bench run`."""

import os

from orthrus_serving.bench.cli.failure import explained
from orthrus_serving.bench.cli.run_options import RunOptions


def run(options: RunOptions) -> None:
    """Load servers with both tasks and measure each.

    The API key is taken from OPENAI_API_KEY. Requests are never sent again; a failed one counts
    as an error.
    """
    from rich.console import Console

    from orthrus_serving.bench.cli.run_load import AskedLoad, described, servers_of
    from orthrus_serving.bench.load.measure import measure
    from orthrus_serving.bench.load.progress import shown_progress
    from orthrus_serving.bench.load.run import UnusableServerError
    from orthrus_serving.bench.measure.objective import parse_objective
    from orthrus_serving.bench.report.files import write_plots
    from orthrus_serving.bench.report.summary_table import durations, rates
    from orthrus_serving.bench.work.workload import drawn_nonce

    console = Console(stderr=True, highlight=False)
    with explained(ValueError, OSError, UnusableServerError):
        nonce = drawn_nonce() if options.nonce is None else options.nonce
        load = AskedLoad(options, nonce).load()
        servers = servers_of(options, load, os.environ.get("OPENAI_API_KEY"))
        objectives = [parse_objective(text) for text in options.slo or []]
        with shown_progress(load, console) as progress:
            result = measure(servers, load, objectives, described(options, nonce), progress)
        if options.output is not None:
            result.write(options.output)
        found = result.to_json()
        if options.report is not None:
            from orthrus_serving.bench.report.page import run_page

            options.report.write_text(run_page(found))
        if options.plots is not None:
            write_plots(options.plots, found)
    shown = Console(highlight=False)
    shown.print(rates(found))
    shown.print(durations(found))
    for note in result.notes:
        console.print(note, style="yellow", markup=False)
    if result.client_was_late:
        console.print(
            "[yellow]The client itself was late (send_lag): lower the load or free a core."
        )
