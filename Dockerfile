# Three images from one file: `docker build --target operator|serving-cpu|serving-gpu .`
#
# Packages are installed in the *-packages stages, keyed by one requirements file each; our
# own code is the last layer, so a change of source rebuilds in seconds. `python -m e2e.images`
# reads the stages below to find out what goes into each image: keep every input a COPY.
# Every image runs as uid 1000 on a read-only root file system; /tmp must be writable.

FROM debian:bookworm-slim AS base
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 1000 --no-create-home --home-dir /tmp orthrus


FROM base AS operator-packages
COPY images/install-packages requirements/build.txt requirements/operator.txt /opt/build/
RUN --mount=type=cache,target=/root/.cache/uv /opt/build/install-packages /opt/build/operator.txt

FROM base AS operator-code
COPY operator/orthrus_operator /opt/orthrus/orthrus_operator
COPY images/bin/orthrus-operator /opt/orthrus/bin/
COPY LICENSE /opt/orthrus/
COPY images/orthrus.dist-info /opt/orthrus/orthrus.dist-info
RUN python3 -m compileall -q --invalidation-mode unchecked-hash /opt/orthrus

FROM operator-packages AS operator
COPY --from=operator-code /opt/orthrus /opt/orthrus
LABEL org.opencontainers.image.title="orthrus-operator" \
      org.opencontainers.image.description="Orthrus operator: OrthrusDeployment objects become one-GPU model replicas" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV HOME=/tmp PATH=/opt/orthrus/bin:/opt/venv/bin:/usr/bin:/bin PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /tmp
ENTRYPOINT ["orthrus-operator"]


FROM base AS serving-code
COPY serving/orthrus_serving /opt/orthrus/orthrus_serving
COPY images/bin/orthrus /opt/orthrus/bin/
COPY LICENSE /opt/orthrus/
COPY images/orthrus.dist-info /opt/orthrus/orthrus.dist-info
RUN python3 -m compileall -q --invalidation-mode unchecked-hash /opt/orthrus

# vLLM's CPU kernels link libnuma; Torch Inductor compiles the model with g++ at start.
FROM base AS serving-cpu-packages
RUN apt-get update \
 && apt-get install --yes --no-install-recommends g++ libnuma1 python3-dev \
 && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY images/install-packages requirements/build.txt requirements/serving-cpu.txt /opt/build/
RUN --mount=type=cache,target=/root/.cache/uv /opt/build/install-packages /opt/build/serving-cpu.txt

FROM serving-cpu-packages AS serving-cpu
COPY --from=serving-code /opt/orthrus /opt/orthrus
LABEL org.opencontainers.image.title="orthrus-serving-cpu" \
      org.opencontainers.image.description="Orthrus model replica on a CPU" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV HOME=/tmp PATH=/opt/orthrus/bin:/opt/venv/bin:/usr/bin:/bin PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /tmp
ENTRYPOINT ["orthrus"]

# CUDA comes with the Python packages; Triton compiles its launchers with gcc at run time.
FROM base AS serving-gpu-packages
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev libnuma1 python3-dev \
 && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY images/install-packages requirements/build.txt requirements/serving-gpu.txt /opt/build/
RUN --mount=type=cache,target=/root/.cache/uv /opt/build/install-packages /opt/build/serving-gpu.txt

FROM serving-gpu-packages AS serving-gpu
COPY --from=serving-code /opt/orthrus /opt/orthrus
LABEL org.opencontainers.image.title="orthrus-serving-gpu" \
      org.opencontainers.image.description="Orthrus model replica on an NVIDIA GPU (never run on a GPU so far)" \
      org.opencontainers.image.licenses="Apache-2.0"
# What the NVIDIA container runtime mounts into the container.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENV HOME=/tmp PATH=/opt/orthrus/bin:/opt/venv/bin:/usr/bin:/bin PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /tmp
ENTRYPOINT ["orthrus"]
