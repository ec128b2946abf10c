package grpc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
	"tarsy.dev/tarsy/llm/script"
)

// handler is a gateway written by someone else.
type handler func(req *llmpb.GenerateRequest, stream rpc.ServerStreamingServer[llmpb.GenerateResponse]) error

// foreign returns the address of a server on which only handle answers.
func foreign(t *testing.T, handle handler, options ...rpc.ServerOption) string {
	t.Helper()

	return serve(t, script.New(script.Options{}), plain, append(options,
		rpc.StreamInterceptor(func(_ any, stream rpc.ServerStream, _ *rpc.StreamServerInfo, _ rpc.StreamHandler) error {
			var req llmpb.GenerateRequest
			if err := stream.RecvMsg(&req); err != nil {
				return err
			}

			return handle(&req, &rpc.GenericServerStream[llmpb.GenerateRequest, llmpb.GenerateResponse]{ServerStream: stream})
		}))...)
}

func newClient(t *testing.T, cfg grpc.Config) *grpc.Client {
	t.Helper()

	client, err := grpc.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })

	return client
}

func question() *llm.Request {
	return &llm.Request{Provider: "gateway", Model: "m-1", Messages: []llm.Message{{Role: llm.RoleUser, Content: "Why?"}}}
}

func text(content string) *llmpb.GenerateResponse {
	return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Text{Text: &llmpb.Text{Content: content}}}
}

func end() *llmpb.GenerateResponse {
	return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_End{End: &llmpb.End{}}}
}

func call(id, name, arguments string) *llmpb.GenerateResponse {
	return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_ToolCall{ToolCall: &llmpb.ToolCall{Id: id, Name: name, Arguments: arguments}}}
}

func reported(e *llmpb.Error) *llmpb.GenerateResponse {
	return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Error{Error: e}}
}

// sends answers every call with responses, then with err.
func sends(err error, responses ...*llmpb.GenerateResponse) handler {
	return func(_ *llmpb.GenerateRequest, stream rpc.ServerStreamingServer[llmpb.GenerateResponse]) error {
		for _, response := range responses {
			if err := stream.Send(response); err != nil {
				return err
			}
		}

		return err
	}
}

func TestCallStatusIsClassified(t *testing.T) {
	t.Parallel()

	wait, err := status.New(codes.ResourceExhausted, "slow down").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(9 * time.Second)})
	require.NoError(t, err)

	tests := map[string]struct {
		err       error
		class     llm.Class
		retryable bool
		after     time.Duration
		advice    string
	}{
		"unauthenticated":                  {status.Error(codes.Unauthenticated, "who are you"), llm.ClassAuth, false, 0, "API key"},
		"permission denied":                {status.Error(codes.PermissionDenied, "not you"), llm.ClassAuth, false, 0, "API key"},
		"exhausted":                        {status.Error(codes.ResourceExhausted, "too many"), llm.ClassQuota, true, 0, "limits"},
		"exhausted, and when to come back": {wait.Err(), llm.ClassQuota, true, 9 * time.Second, "limits"},
		"invalid argument":                 {status.Error(codes.InvalidArgument, "no such role"), llm.ClassInvalid, false, 0, "settings"},
		"context too long": {
			status.Error(codes.InvalidArgument, "prompt is too long"), llm.ClassContextTooLong, false, 0, "larger context",
		},
		"not found":         {status.Error(codes.NotFound, "no such model"), llm.ClassInvalid, false, 0, "model"},
		"unimplemented":     {status.Error(codes.Unimplemented, "what?"), llm.ClassInvalid, false, 0, "llm_service.proto"},
		"unavailable":       {status.Error(codes.Unavailable, "starting"), llm.ClassTransient, true, 0, "check that the gateway at 127.0.0.1"},
		"deadline exceeded": {status.Error(codes.DeadlineExceeded, "the model is slow"), llm.ClassTransient, true, 0, "try again"},
		"cancelled there":   {status.Error(codes.Canceled, "shutting down"), llm.ClassTransient, true, 0, "try again"},
		"internal":          {status.Error(codes.Internal, "panic"), llm.ClassTransient, true, 0, "try again"},
		"any other error":   {errors.New("oops"), llm.ClassTransient, true, 0, "try again"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := newClient(t, grpc.Config{Target: foreign(t, sends(test.err, text("half ")))})

			response, err := llm.Collect(client.Generate(t.Context(), question()), nil)
			require.Equal(t, "half ", response.Text)

			e, ok := errors.AsType[*llm.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, test.class, e.Class)
			require.Equal(t, test.retryable, e.Retryable)
			require.Equal(t, test.after, e.RetryAfter)
			require.Zero(t, e.Status, "no HTTP was spoken")
			require.Contains(t, e.Error(), status.Convert(test.err).Message())
			require.Contains(t, e.Error(), test.advice)
		})
	}
}

func TestUnclassifiedErrorIsInferred(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		wire *llmpb.Error
		want llm.Class
	}{
		"by its status":           {&llmpb.Error{Message: "m", Status: 401}, llm.ClassAuth},
		"by its words":            {&llmpb.Error{Message: "m", Code: "context_length_exceeded", Status: 400}, llm.ClassContextTooLong},
		"by being worth a try":    {&llmpb.Error{Message: "m", Retryable: true}, llm.ClassTransient},
		"not at all":              {&llmpb.Error{Message: "m"}, llm.ClassUnknown},
		"of a class nobody knows": {&llmpb.Error{Message: "m", Class: "weather", Retryable: true}, llm.ClassTransient},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := newClient(t, grpc.Config{Target: foreign(t, sends(nil, reported(test.wire), text("never shown")))})

			response, err := llm.Collect(client.Generate(t.Context(), question()), nil)
			require.Equal(t, test.want, llm.AsError(err).Class)
			require.Empty(t, response.Text)
		})
	}
}

func TestNonconformingGatewayIsTolerated(t *testing.T) {
	t.Parallel()

	client := newClient(t, grpc.Config{Target: foreign(t, sends(nil,
		&llmpb.GenerateResponse{}, text(""), text("a"), call("", "one", ""), call("", "two", `{"a":1}`), end(),
	))})

	req := question()
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "zero"}}})

	var chunks []llm.Chunk

	_, err := llm.Collect(client.Generate(t.Context(), req), func(chunk llm.Chunk) error {
		chunks = append(chunks, chunk)

		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{
		llm.TextChunk{Text: "a"},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_2", Name: "one", Arguments: "{}"}},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_3", Name: "two", Arguments: `{"a":1}`}},
		llm.EndChunk{Reason: llm.StopEnd},
	}, chunks)
}

func TestInvalidStreamIsTransientError(t *testing.T) {
	t.Parallel()

	for name, handle := range map[string]handler{
		"no end":                 sends(nil, text("a")),
		"nothing":                sends(nil),
		"more after the end":     sends(nil, end(), text("a")),
		"an error after the end": sends(status.Error(codes.Internal, "oops"), text("a"), end()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := newClient(t, grpc.Config{Target: foreign(t, handle)})
			response, err := llm.Collect(client.Generate(t.Context(), question()), nil)
			require.Equal(t, llm.ClassTransient, llm.AsError(err).Class, "%v", err)
			require.Zero(t, response.End, "an end was told that was none")
		})
	}
}

func TestGatewayReceivesCallerMetadata(t *testing.T) {
	t.Parallel()

	type seen struct {
		authorization []string
		req           *llmpb.GenerateRequest
	}

	calls := make(chan seen, 2)
	address := foreign(t, func(req *llmpb.GenerateRequest, stream rpc.ServerStreamingServer[llmpb.GenerateResponse]) error {
		md, _ := metadata.FromIncomingContext(stream.Context())
		calls <- seen{md.Get("authorization"), req}

		return stream.Send(end())
	})

	req := question()
	req.SessionID, req.ExecutionID, req.Backend = "s-1", "e-1", "google-native"

	client := newClient(t, grpc.Config{Target: address, APIKey: "secret", Provider: "google", APIKeyEnv: "GOOGLE_API_KEY", BaseURL: "https://example.com"})
	_, err := llm.Collect(client.Generate(t.Context(), req), nil)
	require.NoError(t, err)

	got := <-calls
	require.Equal(t, []string{"Bearer secret"}, got.authorization)
	require.Equal(t, "s-1", got.req.GetSessionId())
	require.Equal(t, "e-1", got.req.GetExecutionId())
	require.Equal(t, "google", got.req.GetConfig().GetProvider())
	require.Equal(t, "m-1", got.req.GetConfig().GetModel())
	require.Equal(t, "GOOGLE_API_KEY", got.req.GetConfig().GetApiKeyEnv())
	require.Equal(t, "https://example.com", got.req.GetConfig().GetBaseUrl())
	require.Equal(t, "google-native", got.req.GetConfig().GetBackend())
	require.NotContains(t, got.req.String(), "secret")

	// The server of this package would turn native tools off itself; others may not.
	req.Tools, req.NativeTools = []llm.Tool{{Name: "look"}}, llm.NativeTools{GoogleSearch: true}
	_, err = llm.Collect(newClient(t, grpc.Config{Target: address}).Generate(t.Context(), req), nil)
	require.NoError(t, err)

	got = <-calls
	require.Nil(t, got.req.GetConfig().GetNativeTools())
	require.Empty(t, got.authorization)
	require.Equal(t, "gateway", got.req.GetConfig().GetProvider(), "unless the gateway has its own name for it")
}

func TestTLSIsUsedWhenConfigured(t *testing.T) {
	t.Parallel()

	// httptest has a certificate for 127.0.0.1.
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	t.Cleanup(certified.Close)

	address := foreign(t, sends(nil, text("secure"), end()), rpc.Creds(credentials.NewServerTLSFromCert(&certified.TLS.Certificates[0])))

	_, err := llm.Collect(newClient(t, grpc.Config{Target: address, TLS: true}).Generate(t.Context(), question()), nil)
	require.Equal(t, llm.ClassTransient, llm.AsError(err).Class, "a certificate that nobody vouches for is refused")
	require.ErrorContains(t, err, "certificate")

	_, err = llm.Collect(newClient(t, grpc.Config{Target: address}).Generate(t.Context(), question()), nil)
	require.Equal(t, llm.ClassTransient, llm.AsError(err).Class, "without TLS there is no connection")

	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())

	client := newClient(t, grpc.Config{Target: address, TLS: true, DialOptions: []rpc.DialOption{
		rpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})),
	}})
	response, err := llm.Collect(client.Generate(t.Context(), question()), nil)
	require.NoError(t, err)
	require.Equal(t, "secure", response.Text)
}

func TestLargeMessagesPassAndTooLargeOnesAreReported(t *testing.T) {
	t.Parallel()

	address := foreign(t, func(req *llmpb.GenerateRequest, stream rpc.ServerStreamingServer[llmpb.GenerateResponse]) error {
		return sends(nil, text(req.GetMessages()[0].GetContent()), end())(req, stream)
	})
	client := newClient(t, grpc.Config{Target: address})

	req := question()
	req.Messages[0].Content = strings.Repeat("x", 20<<20)
	response, err := llm.Collect(client.Generate(t.Context(), req), nil)
	require.NoError(t, err)
	require.Len(t, response.Text, 20<<20)

	req.Messages[0].Content = strings.Repeat("x", grpc.MaxMessageSize+1)
	_, err = llm.Collect(client.Generate(t.Context(), req), nil)
	require.Equal(t, llm.ClassContextTooLong, llm.AsError(err).Class, "%v", err)

	small := serve(t, script.New(script.Options{}), plain, rpc.MaxRecvMsgSize(1000))
	req.Messages[0].Content = strings.Repeat("x", 2000)
	_, err = llm.Collect(newClient(t, grpc.Config{Target: small}).Generate(t.Context(), req), nil)
	require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class)
	require.ErrorContains(t, err, "raise the gateway's limit")
	require.False(t, llm.AsError(err).Retryable)
}

func TestDeadlineMetByGatewayIsCallersDeadline(t *testing.T) {
	t.Parallel()

	client := newClient(t, grpc.Config{Target: foreign(t, sends(status.Error(codes.DeadlineExceeded, "over")))})

	slow := errors.New("the model took too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, slow)
	t.Cleanup(cancel)

	_, err := llm.Collect(client.Generate(ctx, question()), nil)
	require.ErrorIs(t, err, slow)
}

func TestAddressIsRequired(t *testing.T) {
	t.Parallel()

	_, err := grpc.New(grpc.Config{})
	require.ErrorContains(t, err, "localhost:50051")

	_, err = grpc.New(grpc.Config{Target: "dns://%%%/x"})
	require.Error(t, err)
}

func TestClosedClientReturnsError(t *testing.T) {
	t.Parallel()

	client := newClient(t, grpc.Config{Target: "127.0.0.1:1"})
	require.NoError(t, client.Close())

	_, err := llm.Collect(client.Generate(t.Context(), question()), nil)
	require.ErrorContains(t, err, "closing")
}
