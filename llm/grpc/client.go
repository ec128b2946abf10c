// Package grpc implements the client of a gateway to language models that speaks llm_service.proto, and its server: any
// llm.Client as such a gateway. A team that wants its calls to go through its own program writes that program, in any language,
// and names it in the configuration. The package knows neither providers nor what a gateway does.
package grpc

// The generated code is committed. Its generators come from the Go module registry; protoc is not needed.
//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.57.0 generate llm_service.proto

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
)

// MaxMessageSize bounds one message in either direction. A server that should accept long conversations must set it with
// grpc.MaxRecvMsgSize, because the default of gRPC is lower.
const MaxMessageSize = 64 << 20

// Config is the configuration of a client.
type Config struct {
	// Target is the gateway's address, such as "localhost:50051", "dns:///gateway:50051" or "unix:///run/llm.sock".
	Target string
	// TLS secures the connection. Without it, the gateway should be on the same host, or in the same pod.
	TLS bool
	// APIKey authenticates the client to the gateway, as "authorization: Bearer KEY"; empty sends none.
	APIKey string
	// Headers are sent as metadata; one named authorization replaces the key.
	Headers map[string]string
	// Provider, APIKeyEnv and BaseURL are passed to the gateway unchanged. An empty Provider means that of the request.
	Provider  string
	APIKeyEnv string
	BaseURL   string
	// DialOptions are added to the client's own, and override them.
	DialOptions []rpc.DialOption
}

// Client calls a gateway. It is safe for concurrent use; all calls share one connection.
type Client struct {
	cfg     Config
	secrets *strings.Replacer
	conn    *rpc.ClientConn
	service llmpb.LLMServiceClient
}

var _ llm.Client = (*Client)(nil)

// New returns a client. It connects on first use, and again after the connection was lost.
func New(cfg Config) (*Client, error) {
	if cfg.Target == "" {
		return nil, errors.New("a gateway needs an address, such as localhost:50051")
	}

	transport := insecure.NewCredentials()
	if cfg.TLS {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}

	const (
		maxReconnectWait = 5 * time.Second
		connectTimeout   = 20 * time.Second
	)

	reconnect := backoff.DefaultConfig
	reconnect.MaxDelay = maxReconnectWait

	conn, err := rpc.NewClient(cfg.Target, append([]rpc.DialOption{
		rpc.WithTransportCredentials(transport),
		rpc.WithDefaultCallOptions(rpc.MaxCallRecvMsgSize(MaxMessageSize), rpc.MaxCallSendMsgSize(MaxMessageSize)),
		rpc.WithConnectParams(rpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: connectTimeout}),
		// Retries are up to the caller.
		rpc.WithDisableRetry(), rpc.WithDisableServiceConfig(),
	}, cfg.DialOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("the gateway's address %q: %w", cfg.Target, err)
	}

	return &Client{
		cfg: cfg, secrets: llm.Secrets(cfg.APIKey, cfg.Headers), conn: conn, service: llmpb.NewLLMServiceClient(conn),
	}, nil
}

// Close closes the connection, which ends all calls.
func (c *Client) Close() error { return c.conn.Close() }

// Generate implements llm.Client.
func (c *Client) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		// Returning from this function ends the call, whatever the consumer did.
		callCtx, cancel := context.WithCancel(ctx)
		defer cancel()

		stream, err := c.service.Generate(c.withMetadata(callCtx), c.wireRequest(req))
		if err != nil {
			yield(nil, c.statusError(ctx, err))

			return
		}

		a := answer{names: llm.NewToolNames(req), calls: countCalls(req), by: signatureBy(req), errorOf: c.reportedError, yield: yield}
		if err := a.read(stream.Recv); err != nil {
			// A gateway can report the end of the caller's context as an error.
			if reported, ok := errors.AsType[*llm.Error](err); ok && ctx.Err() == nil {
				yield(nil, reported)
			} else {
				yield(nil, c.statusError(ctx, err))
			}
		}
	}
}

// withMetadata adds the key and the configured headers.
func (c *Client) withMetadata(ctx context.Context) context.Context {
	const authorization = "authorization"

	ours := metadata.New(c.cfg.Headers)
	if c.cfg.APIKey != "" && len(ours.Get(authorization)) == 0 {
		ours.Set(authorization, "Bearer "+c.cfg.APIKey)
	}

	callers, _ := metadata.FromOutgoingContext(ctx)

	return metadata.NewOutgoingContext(ctx, metadata.Join(callers, ours))
}

var errCut = errors.New("the gateway's stream ended before the answer did")

// answer is the state of reading one answer.
type answer struct {
	names llm.ToolNames
	// calls counts the calls of the conversation.
	calls   int
	by      string
	errorOf func(*llmpb.Error) *llm.Error
	yield   func(llm.Chunk, error) bool
}

// read passes everything on until the answer ends or the consumer stops.
func (a *answer) read(next func() (*llmpb.GenerateResponse, error)) error {
	var end *llm.EndChunk

	for {
		response, err := next()

		switch {
		case errors.Is(err, io.EOF) && end == nil:
			return transient(errCut)
		case errors.Is(err, io.EOF):
			a.yield(*end, nil)

			return nil
		case err != nil:
			return err
		case end != nil:
			return transient(errors.New("the gateway sent more after the end of its answer"))
		}

		chunk, err := a.chunk(response)
		if err != nil {
			return err
		}

		// The end is passed on only when nothing can follow it.
		if last, ok := chunk.(llm.EndChunk); ok {
			end = &last

			continue
		}

		if chunk != nil && !a.yield(chunk, nil) {
			return nil
		}
	}
}

func transient(err error) *llm.Error {
	return &llm.Error{Class: llm.ClassTransient, Retryable: true, Message: err.Error(), Err: err}
}
