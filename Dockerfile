# Peerage with what most arenas need: models of providers, pages, the sandbox. The arena is the volume /arena.
#
#   docker build -t peerage .
#   docker run --rm -it -v "$PWD/my-arena:/arena" peerage demo
#
# compose.yaml has the server and a service that plays; `--build-arg EXTRAS=models,sandbox,ray` makes the image of
# examples/cluster.
FROM python:3.12-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m pip wheel --quiet --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=wheel /wheels /wheels
COPY constraints.txt /wheels/
ARG EXTRAS
RUN python -m pip install --quiet --no-cache-dir --constraint /wheels/constraints.txt "$(echo /wheels/peerage-*.whl)[${EXTRAS:-models,site,sandbox}]"
RUN useradd --create-home peerage && mkdir /arena && chown peerage /arena
USER peerage
WORKDIR /arena
VOLUME /arena
EXPOSE 8000
ENTRYPOINT ["peerage"]
CMD ["serve", "--network"]
