.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON := .venv/bin/python
export VLLM_NO_USAGE_STATS ?= 1
# dpkg, debootstrap and runc are there, and the PATH of a plain `su` lacks them.
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*?## ' $(MAKEFILE_LIST) | awk -F':.*?## ' '{printf "  %-14s %s\n", $$1, $$2}'

##@ Set-up
.PHONY: deps venv model
deps: ## Install the Debian packages that cluster and images need (root)
	@e2e/deps.sh

venv: ## Make .venv from the pinned requirements
	@e2e/venv.sh

model: venv ## Make the sample checkpoint (SmolLM2) and print its folder
	@$(PYTHON) -m e2e.sample_model

##@ Checks
.PHONY: check test test-long test-engine test-cluster fmt generate requirements
check: venv ## All fast checks: format, lint, types, contracts, drift, chart, unit tests
	@$(PYTHON) -m e2e.stages check

test: deps venv ## All that CI runs: check, images, cluster, engine and end-to-end tests
	@$(PYTHON) -m e2e.stages test

test-long: deps venv ## What is too long for CI
	@$(PYTHON) -m e2e.stages long

test-engine: venv ## Tests that start a real vLLM engine
	@$(PYTHON) -m e2e.stages engine

test-cluster: deps venv ## Tests on the local cluster, end-to-end scenario included
	@$(PYTHON) -m e2e.stages cluster

fmt: venv ## Format the code
	@.venv/bin/ruff format . && .venv/bin/ruff check --fix .

generate: venv ## Write the generated files: CRD, reference, metrics page, dashboard, manifest
	@.venv/bin/orthrus-operator generate
	@$(PYTHON) -m orthrus_serving.server.metrics_page > docs/metrics.md
	@$(PYTHON) -m e2e.monitoring generate
	@$(PYTHON) -m e2e.install_manifest > manifests/install.yaml.new
	@mv manifests/install.yaml.new manifests/install.yaml

requirements: venv ## Pin the requirements again after a change of pyproject.toml
	@requirements/compile.sh

##@ Benchmarks
.PHONY: exactness gpu-check soak bench-engine bench-operator
.PHONY: bench bench-agreement bench-iter-retgen bench-page bench-all
exactness: model ## Chunked against single-pass embeddings, head by head
	@$(PYTHON) -m e2e.exactness

gpu-check: venv ## Pooling on CUDA against the CPU, and its cost (needs a GPU; never run so far)
	@$(PYTHON) -m e2e.gpu_check

soak: model ## An hour of mixed load, aborts and bad requests on one replica
	@$(PYTHON) -m e2e.soak

bench-engine: model ## Ratios of the engine to stock vLLM (70 minutes; leave the machine alone)
	@$(PYTHON) -m e2e.engine_benchmarks --output bench-results/engine.json

bench-operator: deps venv ## 500 objects, 1,024 replicas of one: the operator on fake nodes (half an hour)
	@$(PYTHON) -m e2e.operator_benchmarks --output bench-operator.json

BENCH := .venv/bin/orthrus bench
MODEL = "$$($(PYTHON) -m e2e.sample_model)"
# What one core answers in a few seconds; six engines of 3 GB each fit into 24 GB.
CORE_SIZES := --model-length 512 --budget 512 --chunk 128 --sequences 64 --kv-cache-mib 256 \
	--clients 16 --output-tokens uniform:8,24 --warm-up-most 11 --seconds 8
BENCH_PRESETS := acceptance sharing
bench: model ## The acceptance pairs, Orthrus beside stock vLLM (40 minutes; leave the machine alone)
	@$(BENCH) suite $(BENCH_PRESETS) --model $(MODEL) $(CORE_SIZES) --output bench-results $(BENCH_FLAGS)

bench-agreement: model ## Our client beside `vllm bench serve`, on one stock vLLM
	@$(BENCH) agreement --model $(MODEL) --output bench-results/agreement.json

bench-iter-retgen: model ## Iterative retrieval-generation on a replica for each core: recall
	@$(BENCH) iter-retgen --serve $(MODEL) --output bench-results/iter-retgen.json \
		--report bench-results/iter-retgen.html

bench-page: venv ## Write what was measured into docs/benchmarks.md and docs/benchmarks-engine.md
	@$(PYTHON) -m orthrus_serving.cli.measured_page docs/benchmarks.md bench-results
	@$(PYTHON) -m orthrus_serving.cli.measured_page docs/benchmarks-engine.md bench-results

bench-all: bench bench-agreement bench-iter-retgen bench-engine ## Every comparison of the paper (hours)
	@$(BENCH) suite all --model $(MODEL) --output bench-results/all

##@ Local system
.PHONY: demo demo-down cluster-up cluster-down images
demo: deps venv ## Cluster, images, chart, sample model; ends with its answers
	@$(PYTHON) -m e2e.demo

demo-down: venv ## Remove the demo and its cluster
	@$(PYTHON) -m e2e.cluster down

cluster-up: deps venv ## Start the local cluster
	@$(PYTHON) -m e2e.cluster up

cluster-down: venv ## Stop the local cluster and leave nothing behind
	@$(PYTHON) -m e2e.cluster down

images: deps venv ## Build the operator and the CPU serving image
	@$(PYTHON) -m e2e.images build operator serving-cpu
