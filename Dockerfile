# The service in an image with nothing else in it: no shell, no package manager, and
# a user that owns nothing but the data folder.
#
#   docker build -t dotkontor .
#   docker run --read-only --cap-drop ALL -p 8080:8080 -v dotkontor:/data dotkontor
#
# That runs `serve` with SQLite in the volume. docs/operating.md has the rest.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Static, so that the image below needs no C library. The folder is made here because
# an image without a shell can make none.
RUN CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -trimpath -buildvcs=false -ldflags='-s -w' -o /out/dotkontor ./cmd/dotkontor \
    && mkdir -p /out/data

# It brings certificates of authorities, time zones and the user nonroot (65532).
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/dotkontor /usr/local/bin/dotkontor
COPY --from=build --chown=65532:65532 --chmod=0700 /out/data /data
# Everything is set by a file or by the environment; these are what a container needs
# otherwise than a machine does. /metrics, /healthz and /readyz stay on loopback, as
# everywhere; docs/operating.md says how to scrape them.
ENV DOTKONTOR_DATA=/data \
    DOTKONTOR_SERVER_LISTEN=0.0.0.0:8080
USER 65532:65532
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/dotkontor"]
CMD ["serve"]
