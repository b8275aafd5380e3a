"""An engine that failed ends, whatever its workers do."""

import multiprocessing
import time

from orthrus_serving.engine.child_processes import end_children

SPAWN = multiprocessing.get_context("spawn")


def test_a_child_that_does_not_end_is_killed() -> None:
    child = SPAWN.Process(target=time.sleep, args=(3600,))
    child.start()
    end_children(seconds=0.1)
    assert child.exitcode is not None
    assert child.exitcode < 0


def test_a_child_that_ends_in_time_is_left_to_it() -> None:
    child = SPAWN.Process(target=time.sleep, args=(0,))
    child.start()
    end_children(seconds=60)
    assert child.exitcode == 0
