"""What became of the requests."""

from array import array

from orthrus_serving.scheduling.task import Task
from orthrus_serving.sim.request import SimulatedRequest


class Record:
    """Answered requests of one task: moments of arrival, first output and answer, in seconds."""

    def __init__(self) -> None:
        self.arrived = array("d")
        self.first_output = array("d")
        self.finished = array("d")
        self.output_tokens = array("q")
        self.prompt_tokens = array("q")

    def add(self, request: SimulatedRequest) -> None:
        self.arrived.append(request.arrived)
        self.first_output.append(request.first_output)
        self.finished.append(request.finished)
        self.output_tokens.append(request.output_tokens)
        self.prompt_tokens.append(request.prompt_tokens)

    def extend(self, other: "Record") -> None:
        self.arrived.extend(other.arrived)
        self.first_output.extend(other.first_output)
        self.finished.extend(other.finished)
        self.output_tokens.extend(other.output_tokens)
        self.prompt_tokens.extend(other.prompt_tokens)


Records = dict[Task, Record]


def new_records() -> Records:
    return {task: Record() for task in Task}
