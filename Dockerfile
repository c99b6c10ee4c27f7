# The service in an image without a shell or package manager, as a user that owns
# nothing but the data folder.
#
#   docker build -t dotkontor .
#   docker run --read-only --cap-drop ALL -p 8080:8080 -v dotkontor:/data dotkontor
#
# This runs `serve` with SQLite in the volume; see docs/operating.md. A release has a
# copy of this file with its base images pinned by digest; build it with
# --build-arg VERSION=v0.1.0 --build-arg COMMIT=… --build-arg DATE=…

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=v0.0.0-dev
ARG COMMIT=unknown
ARG DATE=unknown
# Static, because the image below has no C library. The data folder is created here,
# because the image below has no shell.
RUN CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -trimpath -buildvcs=false \
      -ldflags="$(scripts/ldflags.sh "$VERSION" "$COMMIT" "$DATE")" -o /out/dotkontor ./cmd/dotkontor \
    && mkdir -p /out/data

# Has CA certificates, time zones and the user nonroot (65532).
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/dotkontor /usr/local/bin/dotkontor
COPY --from=build --chown=65532:65532 --chmod=0700 /out/data /data
# What differs in a container; everything else is set by file or environment. /metrics,
# /healthz and /readyz stay on loopback; docs/operating.md says how to scrape them.
ENV DOTKONTOR_DATA=/data \
    DOTKONTOR_SERVER_LISTEN=0.0.0.0:8080
USER 65532:65532
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/dotkontor"]
CMD ["serve"]
