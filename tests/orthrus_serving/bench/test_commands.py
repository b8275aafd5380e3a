"""`orthrus bench` as its users start it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from orthrus_serving.bench.ceiling.ceiling import ceiling
from orthrus_serving.scheduling.task import Task
from tests.orthrus_serving.bench.known_server import known_server
from tests.orthrus_serving.bench.test_summary import generation, write

ORTHRUS = Path(sys.executable).parent / "orthrus"


async def bench(*arguments: object) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        ORTHRUS, "bench", *map(str, arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_a_run_measures_and_writes_all_its_files(tmp_path: Path) -> None:
    files = {
        "--output": tmp_path / "a.json",
        "--report": tmp_path / "a.html",
        "--plots": tmp_path / "plots",
    }
    options = [part for option in files.items() for part in option]
    async with known_server(wait=0.01) as server:
        code, out, err = await bench(
            *("run", "--url", f"{server.url}/v1", "--requests", 20, "--clients", 4),
            *("--output-tokens", 3, "--mix", "5:5", "--slo", "embedding.total=60000"),
            *options,
        )
    assert code == 0, err
    assert "first token" in out
    found = json.loads(files["--output"].read_text())
    tasks = found["windows"][0]["tasks"]
    assert tasks["embedding"]["answered"] == tasks["generation"]["answered"] == 10
    assert tasks["embedding"]["latency"]["p50"] >= 0.01
    assert tasks["embedding"]["good_per_second"] > 0
    assert "bench run --url" in found["environment"]["command"]
    assert isinstance(found["settings"]["nonce"], int)
    page = files["--report"].read_text()
    assert page.count("data:image/png;base64,") == 3
    assert 'src="http' not in page
    assert {path.name for path in files["--plots"].iterdir()} == {
        "latency.png",
        "throughput.png",
        "mix.png",
    }


async def test_a_split_fleet_gets_each_task_where_it_belongs() -> None:
    async with known_server() as pooling, known_server() as generating:
        code, _, err = await bench(
            *("run", "--embedding-url", pooling.url, "--generation-url", generating.url),
            *("--requests", 8, "--output-tokens", 2),
        )
    assert code == 0, err
    assert {path for path, _ in pooling.requests} == {"/v1/embeddings"}
    assert {path for path, _ in generating.requests} == {"/v1/completions"}


async def test_another_run_has_other_prompts_of_the_same_lengths_unless_its_nonce_is_given() -> (
    None
):
    asked = []
    async with known_server() as server:
        for nonce in ((), (), ("--nonce", 5), ("--nonce", 5)):
            code, _, err = await bench(
                *("run", "--url", server.url, "--requests", 6, "--clients", 1),
                *("--mix", "1:0", "--embedding-tokens", "uniform:5,50", *nonce),
            )
            assert code == 0, err
            asked.append([body["input"] for _, body in server.requests[-6:]])
    assert [len({tuple(map(len, run)) for run in asked})] == [1]
    assert asked[0] != asked[1]
    assert asked[2] == asked[3]


async def test_a_run_that_had_to_be_cut_says_so_in_its_result(tmp_path: Path) -> None:
    output, page = tmp_path / "a.json", tmp_path / "a.html"
    async with known_server(wait=0.02) as server:
        code, _, err = await bench(
            *("run", "--url", server.url, "--embedding-clients", 1, "--generation-clients", 1),
            *("--output-tokens", 2, "--warm-up", 0, "--seconds", 0.5, "--seconds-most", 0.5),
            *("--answers", 100000, "--output", output, "--report", page),
        )
    assert code == 0, err
    assert "window ended at its bound of 0.5 s" in err
    found = json.loads(output.read_text())
    assert "window ended at its bound" in found["notes"][0]
    assert "window ended at its bound" in page.read_text()
    assert set(found["windows"][0]["tasks"]) == {"embedding", "generation"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ((), "no server of embedding"),
        (("--url", "http://127.0.0.1:9"), "does not answer"),
        (("--url", "http://127.0.0.1:9", "--mix", "x"), "EMBEDDING:GENERATION"),
        (("--url", "http://127.0.0.1:9", "--rate", "2", "--requests", "3"), "exclude"),
        (("--url", "http://127.0.0.1:9", "--prompts", "none.jsonl"), "none.jsonl"),
        (("--url", "http://127.0.0.1:9", "--embedding-clients", "2"), "go together"),
    ],
)
async def test_what_cannot_be_run_is_told_in_a_sentence(
    options: tuple[str, ...], sentence: str
) -> None:
    code, _, err = await bench("run", *options)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


async def test_a_suite_says_beforehand_what_it_will_take(tmp_path: Path) -> None:
    code, _, err = await bench(
        *("suite", "acceptance", "--model", "never-opened", "--output", tmp_path / "out", "--plan"),
        *("--rounds", 9, "--warm-up", 5, "--warm-up-most", 20, "--seconds", 10),
    )
    assert code == 0, err
    # (5 + 10) and (20 + 10) seconds of 9 x 8 measurements
    assert "9 rounds of 8 measurements: 18 to 36 minutes" in " ".join(err.split())
    assert "6 engines" in err
    assert not (tmp_path / "out").exists()


async def test_two_results_are_compared(tmp_path: Path) -> None:
    write(tmp_path / "a.json", generation(11, 13, 14))
    write(tmp_path / "b.json", generation(11, 12, 13))
    ratios = tmp_path / "ratios.json"
    code, out, err = await bench(
        "compare", tmp_path / "a.json", tmp_path / "b.json", "--output", ratios
    )
    assert code == 0, err
    assert "generation" in out
    found = {each["name"]: each for each in json.loads(ratios.read_text())["comparisons"]}
    assert found["generation time to first token p50"]["median"] == 2.0


@pytest.mark.slow
def test_the_client_has_a_ceiling_for_each_task() -> None:
    reached = {found.task: found for found in ceiling(clients=8, seconds=2)}
    assert reached[Task.EMBEDDING].requests_per_second > 0
    generation = reached[Task.GENERATION]
    assert generation.messages_per_second == pytest.approx(32 * generation.requests_per_second)


def test_help_comes_without_the_heavy_libraries() -> None:
    code = (
        "import sys\n"
        "from orthrus_serving.bench.cli.app import bench\n"
        "bench(['run', '--help'])\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'aiohttp', 'vllm', 'torch'}\n"
        "assert not heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
