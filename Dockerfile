# For self-hosting: `docker run cf-conductor conduct --every 30s`. On GitHub the composite action is used instead,
# because a Docker action would pull an image at each tick.
FROM python:3.11.14-slim-bookworm AS build
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN pip install --no-cache-dir uv==0.13.9
WORKDIR /src
COPY pyproject.toml uv.lock README.md LICENSE ./
# The dependencies first: this layer stays while only our own code changes.
RUN uv sync --frozen --no-dev --extra app --no-install-project
COPY action.yml ./
COPY workflows-templates ./workflows-templates
COPY bot ./bot
RUN uv sync --frozen --no-dev --extra app --no-editable

FROM python:3.11.14-slim-bookworm
# The newest git of this Debian release carries its security fixes, so its version is left open.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 cf
COPY --from=build /src/.venv /src/.venv
ENV PATH=/src/.venv/bin:$PATH PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/cf
ENTRYPOINT ["cf"]
