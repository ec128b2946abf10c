package grpc_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	rpc "google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
	"tarsy.dev/tarsy/llm/llmtest"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGenerateConforms(t *testing.T) {
	llmtest.Run(t, llmtest.Provider{
		Name: "grpc",
		New: func(t *testing.T, serverURL, key string) llm.Client {
			t.Helper()

			client, err := grpc.New(grpc.Config{Target: strings.TrimPrefix(serverURL, "http://"), APIKey: key})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })

			return client
		},
		Serve: func(t *testing.T, s *script.Script) string {
			t.Helper()

			gateway := &gateway{script: s}

			return serve(t, gateway, gateway.listen, rpc.StreamInterceptor(gateway.intercept))
		},
	})
}

// serve starts a gateway for client and returns its address.
func serve(t *testing.T, client llm.Client, wrap func(net.Listener) net.Listener, options ...rpc.ServerOption) string {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	address := listener.Addr().String()

	server := rpc.NewServer(append([]rpc.ServerOption{rpc.MaxRecvMsgSize(grpc.MaxMessageSize)}, options...)...)
	grpc.Register(server, client)

	done := make(chan error, 1)

	go func() { done <- server.Serve(wrap(listener)) }()

	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-done)
	})

	return address
}

func plain(listener net.Listener) net.Listener { return listener }

// gateway answers from a script and reproduces the script's faults on the wire.
type gateway struct {
	script *script.Script

	mu    sync.Mutex
	conns []net.Conn
}

type faultKey struct{}

// Generate implements llm.Client. A fault ends the answer without an error; faultyStream then sends the fault instead of the end.
func (g *gateway) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for chunk, err := range g.script.Generate(ctx, req) {
			if fault, ok := errors.AsType[*script.Fault](err); ok {
				*ctx.Value(faultKey{}).(*script.FaultKind) = fault.Kind

				return
			}

			if !yield(chunk, err) {
				return
			}
		}
	}
}

func (g *gateway) intercept(srv any, stream rpc.ServerStream, _ *rpc.StreamServerInfo, handler rpc.StreamHandler) error {
	var fault script.FaultKind

	ctx := context.WithValue(stream.Context(), faultKey{}, &fault)

	return handler(srv, &faultyStream{ServerStream: stream, ctx: ctx, gateway: g, fault: &fault})
}

// faultyStream sends a fault instead of the answer's end.
type faultyStream struct {
	rpc.ServerStream
	ctx     context.Context
	gateway *gateway
	fault   *script.FaultKind
}

func (s *faultyStream) Context() context.Context { return s.ctx }

func (s *faultyStream) SendMsg(message any) error {
	if response, ok := message.(*llmpb.GenerateResponse); !ok || response.GetEnd() == nil {
		return s.ServerStream.SendMsg(message)
	}

	switch *s.fault {
	case script.FaultTruncate:
		return nil
	case script.FaultMalformed:
		// The same field as for a text, but the bytes are not a message.
		return s.ServerStream.SendMsg(&wrapperspb.BytesValue{Value: []byte{0xff, 0xff}})
	case script.FaultDrop:
		s.gateway.drop()

		return nil
	default:
		return s.ServerStream.SendMsg(message)
	}
}

func (g *gateway) listen(listener net.Listener) net.Listener {
	return &gatewayListener{Listener: listener, gateway: g}
}

func (g *gateway) drop() {
	g.mu.Lock()
	defer g.mu.Unlock()

	for _, conn := range g.conns {
		_ = conn.Close()
	}
}

type gatewayListener struct {
	net.Listener
	gateway *gateway
}

func (l *gatewayListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}

	l.gateway.mu.Lock()
	defer l.gateway.mu.Unlock()

	l.gateway.conns = append(l.gateway.conns, conn)

	return conn, nil
}
