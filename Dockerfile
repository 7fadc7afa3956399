# SPDX-License-Identifier: Apache-2.0
# An image with nothing but Berth in it, for amd64 and arm64 (each is compiled on, or emulated as, its own machine):
#   docker buildx build --platform linux/amd64,linux/arm64 -t berth:0.1.0 .
# Called as kube-scheduler it is that, so a manifest's `command` stays. What could be tried of it: deploy/README.md.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends bash ca-certificates
COPY tools/packages.sh /berth/tools/packages.sh
RUN bash -c '. /berth/tools/packages.sh && apt-get install -y --no-install-recommends "${BERTH_BUILD_PACKAGES[@]}"'
COPY . /berth
WORKDIR /berth
RUN cmake --preset release -DBERTH_TESTS=OFF && cmake --build --preset release --target berth
RUN deploy/image-root.sh build/release/berth /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/berth"]
