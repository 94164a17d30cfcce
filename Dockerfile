# The program and the Python package, without a compiler:
#   docker build -t hlosim .
#   docker run --rm -v "$PWD:/work" hlosim report module.hlo --device=v5e
FROM debian:12-slim AS build
COPY . /src
WORKDIR /src
RUN scripts/setup python \
 && cmake --preset release -DHLOSIM_BUILD_TESTS=OFF -DHLOSIM_BUILD_BENCH=OFF -DHLOSIM_MPI=OFF \
 && cmake --build --preset release \
 && cd build/release && cpack -G DEB && mkdir /packages && mv *.deb /packages/

FROM debian:12-slim
RUN --mount=type=bind,from=build,source=/packages,target=/packages \
    apt-get update \
 && apt-get install -y --no-install-recommends /packages/*.deb \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["hlosim"]
