"""Pools, routers and layouts."""

from random import Random

import pytest

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.front_end import FrontEnd, FrontEndCost
from orthrus_serving.sim.linear_cost import LinearCost
from orthrus_serving.sim.record import Record
from orthrus_serving.sim.replica import Replica
from orthrus_serving.sim.replica_in_time import ReplicaInTime, Told
from orthrus_serving.sim.report import report
from orthrus_serving.sim.request import SimulatedRequest
from orthrus_serving.sim.routers import ROUTER_NAMES, LeastLoaded, make_router
from orthrus_serving.sim.setup import Setup
from orthrus_serving.sim.simulation import Simulation
from orthrus_serving.sim.sources import Burst, ClosedLoop, Phase, Poisson
from orthrus_serving.sim.systems import Dedicated, Disaggregated, Unified
from tests.orthrus_serving.sim.making import (
    COST,
    MIXED,
    SETTINGS,
    E,
    embedding,
    generation,
    pool_parts,
)


def closed_loop(
    replicas: int, seed: int = 0, router: str = "least-loaded", cost: LinearCost = COST
) -> Simulation:
    clock = Clock()
    random = Random(seed)  # noqa: S311
    parts = pool_parts(clock, cost=cost, router=router)
    source = ClosedLoop(MIXED, 40, random, count=600)
    simulation = Simulation(clock, lambda done: Unified(parts, replicas, done), source)
    simulation.run()
    return simulation


def answers(simulation: Simulation) -> list[Record]:
    return list(simulation.records.values())


def test_the_same_seed_gives_the_same_moments_and_another_seed_gives_others() -> None:
    first, again, other = (closed_loop(3, seed, "random") for seed in (5, 5, 6))
    assert [record.finished for record in answers(first)] == [
        record.finished for record in answers(again)
    ]
    assert first.clock.now != other.clock.now


@pytest.mark.parametrize("router", ROUTER_NAMES)
def test_every_request_is_answered_once(router: str) -> None:
    simulation = closed_loop(3, router=router)
    assert simulation.sent == 600
    assert sum(len(record.finished) for record in answers(simulation)) == 600


def test_more_replicas_are_faster_and_dearer_steps_slower() -> None:
    ends = [closed_loop(replicas).clock.now for replicas in (1, 2, 4, 8)]
    assert ends == sorted(ends, reverse=True)
    dearer = LinearCost(COST.step, 2 * COST.chunk_token, COST.decode_token)
    assert closed_loop(2, cost=dearer).clock.now > closed_loop(2).clock.now


def test_a_dedicated_replica_sees_one_task() -> None:
    clock = Clock()
    parts = pool_parts(clock)
    source = ClosedLoop(MIXED, 20, Random(0), count=200)  # noqa: S311
    simulation = Simulation(clock, lambda done: Dedicated(parts, 1, 2, done), source)
    simulation.run()
    embed, generate = simulation.system.pools
    assert sum(r.totals.decode_tokens for r in embed.replicas) == 0
    prompts = sum(simulation.records[E].prompt_tokens)
    assert sum(r.totals.chunk_tokens for r in embed.replicas) == prompts
    assert sum(r.totals.decode_tokens for r in generate.replicas) > 0


def test_a_disaggregated_generation_moves_after_its_first_token() -> None:
    clock = Clock()
    parts = pool_parts(clock)
    requests = [generation(100, 11), embedding(30)]

    def make(done: Told) -> Disaggregated:
        return Disaggregated(clock, parts, 1, 1, done, seconds_per_token=0.001)

    simulation = Simulation(clock, make, Burst(requests))
    simulation.run()
    prefill, decode = (pool.replicas[0].totals for pool in simulation.system.pools)
    assert (prefill.chunk_tokens, prefill.decode_tokens) == (130, 0)
    assert (decode.chunk_tokens, decode.decode_tokens) == (1, 9)
    first = COST.step + 130 * COST.chunk_token
    rest = 10 * COST.step + COST.chunk_token + 9 * COST.decode_token
    assert requests[0].first_output == pytest.approx(first)
    assert requests[0].finished == pytest.approx(first + 100 * 0.001 + rest)
    assert requests[1].finished == pytest.approx(first)


def test_a_generation_of_one_token_does_not_move() -> None:
    clock = Clock()
    request = generation(100, 1)
    simulation = Simulation(
        clock,
        lambda done: Disaggregated(clock, pool_parts(clock), 1, 1, done, seconds_per_token=1.0),
        Burst([request]),
    )
    simulation.run()
    assert request.finished == request.first_output


def test_round_robin_gives_each_task_its_own_turn() -> None:
    """Clients that embed and generate in turn must not send all of one task to one replica."""
    clock = Clock()
    sent = [embedding(10) if n % 2 else generation(10, 5) for n in range(20)]
    parts = pool_parts(clock, router="round-robin")
    simulation = Simulation(clock, lambda done: Unified(parts, 2, done), Burst(sent))
    simulation.run()
    totals = [replica.totals for replica in simulation.system.pools[0].replicas]
    assert [each.decode_tokens for each in totals] == [20, 20]
    assert [each.chunk_tokens for each in totals] == [100, 100]


def test_the_least_loaded_replica_is_chosen_while_loads_change_and_members_come_and_go() -> None:
    draw = Random(4)  # noqa: S311
    clock = Clock()
    router = LeastLoaded()
    members = list[ReplicaInTime]()

    def add() -> None:
        in_time = ReplicaInTime(
            clock, Replica(SETTINGS, COST), FrontEnd(FrontEndCost()), lambda _m, _r: None
        )
        members.append(in_time)
        router.join(in_time)

    for _ in range(5):
        add()
    for _ in range(2_000):
        if draw.random() < 0.02:
            add()
        elif draw.random() < 0.02 and len(members) > 1:
            router.leave(members.pop(draw.randrange(len(members))))
        chosen = router.choose(E)
        assert chosen.unanswered == min(member.unanswered for member in members)
        changed = chosen if draw.random() < 0.5 else draw.choice(members)
        changed.unanswered += draw.choice([1, 1, -1]) if changed.unanswered else 1
        router.changed(changed)


def test_least_loaded_beats_random_at_the_tail() -> None:
    def p99(router: str) -> float:
        clock = Clock()
        random = Random(1)  # noqa: S311
        parts = pool_parts(clock, router=router)
        simulation = Simulation(
            clock,
            lambda done: Unified(parts, 8, done),
            Poisson([Phase(MIXED, 100.0)], random, count=1_000),
        )
        simulation.run()
        latency = report(simulation, 0.0, clock.now).embedding.latency
        assert latency is not None
        return latency.p99

    assert p99("least-loaded") < p99("random")


def test_a_pool_that_shrinks_loses_the_emptiest_replica_and_no_request() -> None:
    clock = Clock()
    done = list[SimulatedRequest]()
    pool = pool_parts(clock, router="least-loaded")(3, done.append)
    for _ in range(7):
        pool.submit(generation(20, 50))
    assert sorted(member.unanswered for member in pool.serving) == [2, 2, 3]
    pool.shrink(2)
    assert [member.unanswered for member in pool.serving] == [3]
    pool.shrink(1)
    assert pool.size == 1
    clock.run()
    assert len(done) == 7
    pool.settle_account()
    leaving = clock.now
    assert leaving < pool.replica_seconds <= 3 * leaving


def test_a_replica_that_loads_receives_nothing_and_goes_first() -> None:
    clock = Clock()
    pool = pool_parts(clock)(1, lambda _request: None)
    pool.grow(2, load_seconds=5.0)
    pool.shrink(1)
    clock.run(until=4.9)
    assert (pool.size, len(pool.serving)) == (2, 1)
    clock.run(until=5.0)
    assert (pool.size, len(pool.serving)) == (2, 2)


@pytest.mark.parametrize(
    ("layout", "replicas", "message"),
    [
        ("unified", (1, 2), "unified takes one number"),
        ("dedicated", (3,), "dedicated takes two numbers"),
        ("disaggregated", (0, 1), "at least 1 replica, not 0:1"),
    ],
)
def test_numbers_that_do_not_suit_a_layout_are_refused(
    layout: str, replicas: tuple[int, ...], message: str
) -> None:
    kind = pool_parts(Clock()).kind
    with pytest.raises(ValueError, match=message):
        Setup(layout, replicas, kind)  # type: ignore[arg-type]


def test_a_router_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no router 'best'"):
        make_router("best", Random(0))  # noqa: S311
