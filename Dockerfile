# The image has the binary, licences, and nothing else: no shell, no package manager, no PostgreSQL, no Node. It runs as user 65532 and writes
# nothing to its root file system. docs/install.md says how to run it.
#   docker build -t tarsy .
# The context has .git: the commit in the binary comes from it. So .dockerignore lists only what Git ignores too.

FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY docs/openapi.json docs/events.schema.json /src/docs/
COPY web/ ./
RUN npm run build

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/web/dist/ web/dist/
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /out/tarsy ./cmd/tarsy

FROM gcr.io/distroless/static-debian12:nonroot
LABEL org.opencontainers.image.title="TARSy" org.opencontainers.image.version="0.1.0" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/tarsy /usr/local/bin/tarsy
COPY --from=build /src/LICENSE /src/internal/licenses/THIRD_PARTY_LICENSES.txt /usr/share/doc/tarsy/
# Numeric, so that Kubernetes can check runAsNonRoot.
USER 65532:65532
ENV TARSY_LISTEN=:8080 TARSY_LOG_FORMAT=json
EXPOSE 8080
# There is no curl in the image; Kubernetes ignores this and has its own probes.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/tarsy", "smoke", "--ready"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/tarsy"]
CMD ["serve"]
