"""A replica on the clock: steps follow one another while there are requests."""

from collections.abc import Callable
from functools import partial
from math import isnan

from orthrus_serving.sim.clock import Clock
from orthrus_serving.sim.front_end import FrontEnd
from orthrus_serving.sim.replica import Outputs, Replica
from orthrus_serving.sim.request import SimulatedRequest

Told = Callable[[SimulatedRequest], None]
Answered = Callable[["ReplicaInTime", SimulatedRequest], None]


class ReplicaInTime:
    """Answers each request through `done`, at the moment at which its client has the answer.

    Steps of the same decodes are taken in one leap, which an arrival cuts short at the end of
    the step that it falls into.
    """

    def __init__(self, clock: Clock, replica: Replica, front_end: FrontEnd, done: Answered) -> None:
        self.replica = replica
        self.unanswered = 0
        self._clock = clock
        self._front_end = front_end
        self._done = done
        self._running = False
        self._leap_began = 0.0
        self._leap_steps = 0
        self._leap = 0
        """Which leap is on: an event of an earlier one, which was cut, is void. 0: none."""
        self._leaps = 0

    def submit(self, request: SimulatedRequest) -> None:
        self.unanswered += 1
        self.replica.submit(request)
        if not self._running:
            self._running = True
            # After everything else of this moment: a step takes all that has arrived.
            self._clock.at(self._clock.now, self._begin)
        elif self._leap:
            self._cut_leap()

    def _begin(self) -> None:
        steps = self.replica.steps_alike()
        if steps > 1:
            self._leap_began = self._clock.now
            self._schedule_leap(steps)
            return
        outputs = self.replica.step()
        self._clock.at(self._clock.now + outputs.seconds, partial(self._end, outputs))

    def _end(self, outputs: Outputs) -> None:
        self._deliver(outputs)
        if self.replica.idle:
            self._running = False
        else:
            self._begin()

    def _schedule_leap(self, steps: int) -> None:
        self._leaps += 1
        self._leap = self._leaps
        self._leap_steps = steps
        end = self._leap_began + self.replica.seconds_of(steps)
        self._clock.at(max(end, self._clock.now), partial(self._end_leap, self._leap, steps))

    def _end_leap(self, leap: int, steps: int) -> None:
        if leap == self._leap:
            self._leap = 0
            self._end(self.replica.advance(steps))

    def _cut_leap(self) -> None:
        """Let the leap end with the step that is on now."""
        begun = self.replica.steps_begun(self._clock.now - self._leap_began)
        if begun < self._leap_steps:
            self._schedule_leap(begun)

    def _deliver(self, outputs: Outputs) -> None:
        ended = self._clock.now
        if outputs.steps == 1:
            sent = self._front_end.tokens(ended, outputs.tokens)
        else:
            first = ended - outputs.seconds + outputs.first_step_seconds
            sent = self._front_end.steps(first, ended, outputs.steps, outputs.tokens)
        for request in outputs.started:
            if isnan(request.first_output):  # not after a preemption
                request.first_output = sent
        for request in outputs.generated:
            self._answer(request, sent)
        for request in outputs.embedded:
            self._answer(request, self._front_end.vector(ended))

    def _answer(self, request: SimulatedRequest, moment: float) -> None:
        request.finished = moment
        if moment <= self._clock.now:
            self._tell(request)
        else:
            self._clock.at(moment, partial(self._tell, request))

    def _tell(self, request: SimulatedRequest) -> None:
        self.unanswered -= 1
        self._done(self, request)
