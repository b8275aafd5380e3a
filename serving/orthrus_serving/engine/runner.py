"""vLLM's V1 model runner, whose batches may mix generation and embedding requests.

An embedding request enters vLLM's input batch as a greedy request for one token, so nothing in
the batch changes; its token is discarded and its hidden states go to the incremental pooler.
The overridden methods and fields are those of vLLM 0.32.0.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from vllm.pooling_params import PoolingParams
from vllm.sampling_params import SamplingParams
from vllm.tasks import SupportedTask
from vllm.v1.core.sched.output import GrammarOutput, NewRequestData, SchedulerOutput
from vllm.v1.outputs import AsyncModelRunnerOutput, ModelRunnerOutput, SamplerOutput
from vllm.v1.spec_decode.metadata import SpecDecodeMetadata
from vllm.v1.worker.gpu_model_runner import GPUModelRunner

from orthrus_serving.engine.adapter_identity import named_by_content
from orthrus_serving.engine.embedding_rows import (
    NO_EMBEDDING_ROWS,
    EmbeddingRows,
    find_embedding_rows,
)
from orthrus_serving.engine.pooled_output import AsyncPooledOutput, attach
from orthrus_serving.engine.settings import EngineSettings
from orthrus_serving.pooling import IncrementalPooler, PoolingRequest


class OrthrusModelRunner(GPUModelRunner):
    """Splits each step's outputs: generation rows to the sampler, embedding rows to the pooler."""

    _embedding_rows: EmbeddingRows = NO_EMBEDDING_ROWS

    @cached_property
    def pooler(self) -> IncrementalPooler:
        """Holds a slot for every request that the scheduler may keep running."""
        scheduler = self.scheduler_config
        return IncrementalPooler(
            scheduler.max_num_active_seqs or scheduler.max_num_seqs,
            self.model_config.get_hidden_size(),
            self.device,
        )

    @cached_property
    def _default_pooling(self) -> str:
        config = cast("dict[str, Any]", self.vllm_config.additional_config)
        return EngineSettings.from_additional_config(config).embedding_pooling

    def get_supported_tasks(self) -> tuple[SupportedTask, ...]:
        return (*super().get_supported_tasks(), "embed")

    def load_model(self, *args: Any, **kwargs: Any) -> None:
        super().load_model(*args, **kwargs)
        compute_logits = cast("Callable[[Tensor], Tensor | None]", self.model.compute_logits)

        def compute_logits_if_sampled(hidden_states: Tensor) -> Tensor | None:
            # The vocabulary projection is a fifth of a small model; a step of embeddings only
            # samples nothing.
            if self._embedding_rows.fill_the_step:
                return None
            return compute_logits(hidden_states)

        self.model.compute_logits = compute_logits_if_sampled

    def profile_run(self, *args: Any, **kwargs: Any) -> None:
        # The pooler's memory must be taken now, or what is left for the KV cache counts it as free.
        reserved = self.pooler.reserve(
            self._default_pooling,
            self.model_config.max_model_len + self.scheduler_config.max_num_batched_tokens,
        )
        super().profile_run(*args, **kwargs)
        del reserved

    def _update_states(self, scheduler_output: SchedulerOutput) -> Callable[[], None] | None:
        self._embedding_rows = NO_EMBEDDING_ROWS
        for request_id in scheduler_output.finished_req_ids:
            self.pooler.remove(request_id)
        for request_id in scheduler_output.preempted_req_ids or ():
            self.pooler.restart(request_id)
        for request in scheduler_output.scheduled_new_reqs:
            if request.lora_request is not None:
                request.lora_request = named_by_content(request.lora_request)
            if request.pooling_params is not None:
                self._enter_as_generation(request, request.pooling_params)
        return super()._update_states(scheduler_output)

    def _enter_as_generation(self, request: NewRequestData, params: PoolingParams) -> None:
        """Hand the request to the pooler and hide from the input batch that it is pooled."""
        extra = params.extra_kwargs or {}
        self.pooler.add(
            request.req_id,
            PoolingRequest(
                method=extra.get("pooling", self._default_pooling),
                prompt_tokens=request.prompt_len,
                normalize=params.use_activation is not False,
            ),
        )
        request.pooling_params = None
        request.sampling_params = SamplingParams(temperature=0.0, max_tokens=1)

    def _prepare_inputs(
        self, scheduler_output: SchedulerOutput, num_scheduled_tokens: NDArray[np.int32]
    ) -> tuple[Tensor, SpecDecodeMetadata | None, int]:
        inputs = super()._prepare_inputs(scheduler_output, num_scheduled_tokens)
        batch = self.input_batch
        rows = self._embedding_rows = find_embedding_rows(
            batch.req_ids,
            self.pooler,
            self.query_start_loc.np,
            num_scheduled_tokens,
            batch.num_computed_tokens_cpu,
        )
        if rows.indices:
            # The scheduler's stop check asserts that no pooling request has a sampled token.
            self.discard_request_mask.np[list(rows.indices)] = True
            self.discard_request_mask.copy_to_gpu(batch.num_reqs)
        return inputs

    def _sample(
        self, logits: Tensor | None, spec_decode_metadata: SpecDecodeMetadata | None
    ) -> SamplerOutput:
        if not self._embedding_rows.fill_the_step:
            return super()._sample(logits, spec_decode_metadata)
        # Every row is discarded, so any token will do.
        tokens = torch.zeros(self.input_batch.num_reqs, 1, dtype=torch.int32, device=self.device)
        return SamplerOutput(sampled_token_ids=tokens, logprobs_tensors=None)

    # vLLM declares `sample_tokens` by its decorator's type, which fits neither use below.
    def sample_tokens(  # type: ignore[override]
        self, grammar_output: GrammarOutput | None
    ) -> ModelRunnerOutput | AsyncModelRunnerOutput:
        state = self.execute_model_state
        pooled = None
        if state is not None and self._embedding_rows.chunks:
            pooled = self.pooler.fold(state.hidden_states, self._embedding_rows.chunks)
        sample = cast("Callable[[GrammarOutput | None], Any]", super().sample_tokens)
        output: ModelRunnerOutput | AsyncModelRunnerOutput = sample(grammar_output)
        if pooled is None:
            return output
        if isinstance(output, AsyncModelRunnerOutput):
            return AsyncPooledOutput(output, pooled)
        return attach(output, pooled)
