package provider_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc"
	"tarsy.dev/tarsy/llm/script"
)

// gateway serves a script over the gRPC protocol, and returns the metadata of each call.
func gateway(t *testing.T, s *script.Script) (address string, seen <-chan metadata.MD) {
	t.Helper()

	var listen net.ListenConfig

	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	calls := make(chan metadata.MD, 8)
	server := rpc.NewServer(rpc.StreamInterceptor(func(service any, stream rpc.ServerStream, _ *rpc.StreamServerInfo, next rpc.StreamHandler) error {
		md, _ := metadata.FromIncomingContext(stream.Context())
		calls <- md

		return next(service, stream)
	}))
	grpc.Register(server, s)

	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})

	return listener.Addr().String(), calls
}

func TestGatewayIsCalledWithItsSettings(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "hi"}, script.Reply{Text: "hi"}, script.Reply{Err: &llm.Error{Status: 401, Message: "no such team: payments-0123"}})
	address, seen := gateway(t, s)

	settings := config.LLMProvider{
		Type: config.ProviderGRPC, Model: "m", BaseURL: "grpc://" + address, APIKeyEnv: "KEY", ReasoningEffort: "high", MaxOutputTokens: 9000,
		Headers: map[string]config.Secret{"X-Team": "payments-0123"},
	}
	own := settings
	own.Headers = map[string]config.Secret{"Authorization": "Basic of-my-own"}
	providers := connect(t, map[string]config.LLMProvider{"gateway": settings, "own": own})

	_, err := ask(t, providers, "gateway")
	require.NoError(t, err)

	md := <-seen
	require.Equal(t, []string{"payments-0123"}, md.Get("X-Team"))
	require.Equal(t, []string{"Bearer key-of-the-test"}, md.Get("Authorization"))
	require.Equal(t, "high", s.Calls()[0].Request.ReasoningEffort)
	require.Equal(t, 9000, s.Calls()[0].Request.MaxOutputTokens)

	_, err = ask(t, providers, "own")
	require.NoError(t, err)
	require.Equal(t, []string{"Basic of-my-own"}, (<-seen).Get("Authorization"))

	_, err = ask(t, providers, "gateway")
	require.ErrorContains(t, err, "no such team")
	require.NotContains(t, err.Error(), "payments-0123")

	// The scheme requires TLS, which this gateway does not support.
	own.BaseURL = "grpcs://" + address
	_, err = ask(t, connect(t, map[string]config.LLMProvider{"sealed": own}), "sealed")
	require.ErrorContains(t, err, "handshake")
}
