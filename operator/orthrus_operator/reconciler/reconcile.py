"""One idempotent pass over one OrthrusDeployment: read, apply, prune, write status."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from orthrus_operator.api.orthrus_deployment import Metadata, OrthrusDeployment
from orthrus_operator.builders.metadata import KubernetesObject
from orthrus_operator.planner.adapters_delivery import DELIVERED, file_mark, lacking_the_file
from orthrus_operator.planner.desired import Installation
from orthrus_operator.planner.invalid_spec import invalid_spec
from orthrus_operator.planner.problem import Problem
from orthrus_operator.planner.status import observed_status, unobserved_status
from orthrus_operator.planner.unsettled import is_unsettled
from orthrus_operator.reconciler.autoscaler_names import AutoscalerNames
from orthrus_operator.reconciler.children import Children
from orthrus_operator.reconciler.client import Api, ApiError
from orthrus_operator.reconciler.observe import Observer
from orthrus_operator.reconciler.outcome import ObjectKey, Outcome
from orthrus_operator.reconciler.paths import orthrus_path
from orthrus_operator.reconciler.plan import plan
from orthrus_operator.reconciler.pod_annotations import annotate
from orthrus_operator.reconciler.publish import Publisher
from orthrus_operator.reconciler.replica_address import serves
from orthrus_operator.reconciler.replica_reports import Reports
from orthrus_operator.reconciler.timestamps import timestamp
from orthrus_operator.reconciler.world_afterwards import world_afterwards


class Reconciler:
    """Brings the world in line with one OrthrusDeployment at a time.

    It keeps no state that matters: everything is read live, since events can be missed.
    """

    def __init__(
        self,
        api: Api,
        installation: Installation,
        reports: Callable[[ObjectKey], Reports | None],
        autoscalers: AutoscalerNames,
        now: Callable[[], str] = timestamp,
    ) -> None:
        """`reports`: what an object's replicas said last; None when nobody has asked them yet. No
        look at an object waits for a replica: there may be hundreds that do not answer."""
        self._api = api
        self._installation = installation
        self._reports = reports
        self._now = now
        self._observer = Observer(api, autoscalers)
        self._children = Children(api)
        self._publisher = Publisher(api)
        self.is_echo = self._publisher.is_echo

    async def reconcile(self, key: ObjectKey) -> Outcome:
        """Raises ApiError and connection errors; the queue tries again then."""
        stored = await self._api.get(orthrus_path(*key))
        if stored is None or stored["metadata"].get("deletionTimestamp"):
            self._forget(key)
            return Outcome.GONE
        metadata = Metadata.model_validate(stored["metadata"])
        previous = stored.get("status", {})
        try:
            orthrus = OrthrusDeployment.from_object(stored)
        except ValidationError as error:
            return await self._give_up(metadata, previous, invalid_spec(error))
        try:
            observed = await self._observer.observe(key)
        except ApiError as error:
            if error.status != 403:
                raise
            message = f"the operator may not look: {error.message}; give it its rights"
            return await self._give_up(metadata, previous, Problem("Forbidden", message, False))
        todo = plan(orthrus, self._installation, observed)
        done = await self._children.bring_in_line(orthrus, todo, observed)
        reports = self._reports_of(key, observed.pods)
        if done.adapters_file_is_in_line:
            await self._deliver_adapters(orthrus, observed.pods, reports or {})
        told = None if reports is None else tuple(reports.values())
        world = world_afterwards(orthrus, observed, todo, done, told)
        now = self._now()
        status = observed_status(orthrus, world, previous, now)
        await self._publisher.publish(metadata, previous, status)
        soon = done.retry or not observed.knows_autoscalers or is_unsettled(world, status, now)
        return Outcome.RETRY if soon else Outcome.DONE

    def _reports_of(self, key: ObjectKey, pods: Sequence[KubernetesObject]) -> Reports | None:
        """Of those pods that serve, as far as they were asked; None when nobody was yet."""
        told = self._reports(key)
        if told is None:
            return None
        uids = [pod["metadata"]["uid"] for pod in pods if serves(pod)]
        return {uid: told[uid] for uid in uids if uid in told}

    async def _deliver_adapters(
        self, orthrus: OrthrusDeployment, pods: Sequence[KubernetesObject], reports: Reports
    ) -> None:
        declared = orthrus.spec.adapters or ()
        if lacking := lacking_the_file(declared, pods, reports):
            mark = {DELIVERED: file_mark(declared)}
            await annotate(self._api, [(pod, mark) for pod in lacking])

    async def _give_up(
        self, metadata: Metadata, previous: dict[str, Any], problem: Problem
    ) -> Outcome:
        """Says why nothing can be done; what runs is left as it is."""
        status = unobserved_status(metadata.generation, problem, previous, self._now())
        await self._publisher.publish(metadata, previous, status)
        return Outcome.DONE if problem.stalled else Outcome.RETRY

    def _forget(self, key: ObjectKey) -> None:
        self._children.forget(key)
        self._publisher.forget(key)
