package grpc_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
	"tarsy.dev/tarsy/llm/script"
)

// raw returns a client that can send anything.
func raw(t *testing.T, address string) llmpb.LLMServiceClient {
	t.Helper()

	conn, err := rpc.NewClient(address, rpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })

	return llmpb.NewLLMServiceClient(conn)
}

// all reads a stream to its end.
func all(t *testing.T, client llmpb.LLMServiceClient, req *llmpb.GenerateRequest) ([]*llmpb.GenerateResponse, error) {
	t.Helper()

	stream, err := client.Generate(t.Context(), req)
	require.NoError(t, err)

	var responses []*llmpb.GenerateResponse

	for {
		response, err := stream.Recv()
		if err != nil {
			return responses, err
		}

		responses = append(responses, response)
	}
}

func TestInvalidRequestErrorNamesTheField(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		spoil func(req *llmpb.GenerateRequest)
		says  string
	}{
		"no config":       {func(req *llmpb.GenerateRequest) { req.Config = nil }, "config.model"},
		"no model":        {func(req *llmpb.GenerateRequest) { req.Config.Model = "" }, "config.model"},
		"negative limit":  {func(req *llmpb.GenerateRequest) { req.Config.MaxOutputTokens = -1 }, "max_output_tokens"},
		"broken schema":   {func(req *llmpb.GenerateRequest) { req.Config.ResponseSchema = "{" }, "response_schema"},
		"no messages":     {func(req *llmpb.GenerateRequest) { req.Messages = nil }, "messages"},
		"unknown role":    {func(req *llmpb.GenerateRequest) { req.Messages[1].Role = "root" }, `messages[1]: "root"`},
		"calls of a user": {func(req *llmpb.GenerateRequest) { req.Messages[1].Role = "user" }, "messages[1]"},
		"a call without a name": {
			func(req *llmpb.GenerateRequest) { req.Messages[1].ToolCalls[0].Name = "" }, "messages[1]: a tool call needs",
		},
		"a call without an id":      {func(req *llmpb.GenerateRequest) { req.Messages[1].ToolCalls[0].Id = "" }, "messages[1]"},
		"a result without its call": {func(req *llmpb.GenerateRequest) { req.Messages[2].ToolCallId = "x" }, `messages[2]: the result of call "x"`},
		"a broken signature": {
			func(req *llmpb.GenerateRequest) { req.Messages[1].Signature = &llmpb.Signature{By: "x", Data: "<"} }, "messages[1].signature",
		},
		"an empty signature": {
			func(req *llmpb.GenerateRequest) { req.Messages[1].Signature = &llmpb.Signature{} }, "messages[1].signature",
		},
		"a tool without a name": {func(req *llmpb.GenerateRequest) { req.Tools[0].Name = "" }, "tools[0].name"},
		"a tool whose schema is none": {
			func(req *llmpb.GenerateRequest) { req.Tools[0].ParametersSchema = "<xml/>" }, "tools[0].parameters_schema",
		},
		"an empty message and an empty tool": {
			func(req *llmpb.GenerateRequest) { req.Messages[0], req.Tools[0] = &llmpb.Message{}, &llmpb.Tool{} }, "tools[0]",
		},
	}

	s := script.New(script.Options{})
	client := raw(t, serve(t, s, plain))

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			req := goodRequest()
			test.spoil(req)

			responses, err := all(t, client, req)
			require.Empty(t, responses)
			require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
			require.ErrorContains(t, err, test.says)
		})
	}

	require.Zero(t, s.CallCount(), "a request that makes no sense reached the model")
}

func goodRequest() *llmpb.GenerateRequest {
	return &llmpb.GenerateRequest{
		Messages: []*llmpb.Message{
			{Role: "user", Content: "Why?"},
			{Role: "assistant", ToolCalls: []*llmpb.ToolCall{{Id: "call_1", Name: "look", Arguments: "{}"}}},
			{Role: "tool", ToolCallId: "call_1", Content: "nothing"},
		},
		Config: &llmpb.LLMConfig{Model: "m-1", NativeTools: &llmpb.NativeTools{GoogleSearch: true}, ApiKeyEnv: "HOME", BaseUrl: "http://169.254.169.254"},
		Tools:  []*llmpb.Tool{{Name: "look", ParametersSchema: `{"type":"object"}`}},
	}
}

func TestAnyClientCanServeAsGateway(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "look", Arguments: "{}"}}})

	responses, err := all(t, raw(t, serve(t, s, plain)), goodRequest())
	require.ErrorContains(t, err, "EOF")
	require.Len(t, responses, 3)
	require.Equal(t, "look", responses[0].GetToolCall().GetName())
	require.NotNil(t, responses[1].GetUsage())
	require.Equal(t, "tool_calls", responses[2].GetEnd().GetStopReason(), "a client that tells no end has one")

	seen := s.Calls()[0].Request
	require.Zero(t, seen.NativeTools, "tools are bound")
	require.Equal(t, "m-1", seen.Model)
}

func TestGatewaySendsErrorDetailAndStatus(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		err   error
		code  codes.Code
		class llm.Class
	}{
		"auth":      {&llm.Error{Class: llm.ClassAuth, Message: "m"}, codes.PermissionDenied, llm.ClassAuth},
		"quota":     {&llm.Error{Class: llm.ClassQuota, Message: "m"}, codes.ResourceExhausted, llm.ClassQuota},
		"too long":  {&llm.Error{Class: llm.ClassContextTooLong, Message: "m"}, codes.InvalidArgument, llm.ClassContextTooLong},
		"invalid":   {&llm.Error{Class: llm.ClassInvalid, Message: "m"}, codes.InvalidArgument, llm.ClassInvalid},
		"safety":    {&llm.Error{Class: llm.ClassSafety, Message: "m"}, codes.FailedPrecondition, llm.ClassSafety},
		"transient": {&llm.Error{Class: llm.ClassTransient, Err: errors.New("m")}, codes.Unavailable, llm.ClassTransient},
		"unknown":   {errors.New("m \xff"), codes.Unknown, llm.ClassUnknown},
		"a chunk":   {llm.ErrorChunk{Message: "m", Retryable: true}, codes.Unavailable, llm.ClassTransient},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := script.New(script.Options{})
			if chunk, ok := test.err.(llm.ErrorChunk); ok { //nolint:errorlint // is one
				s.Add(script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "a"}, chunk}})
			} else {
				s.Add(script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "a"}}, Err: test.err, AfterChunks: 1})
			}

			responses, err := all(t, raw(t, serve(t, s, plain)), goodRequest())
			require.Equal(t, test.code, status.Code(err))
			require.Len(t, responses, 2)
			require.Equal(t, string(test.class), responses[1].GetError().GetClass())
			require.Contains(t, responses[1].GetError().GetMessage(), "m")
		})
	}
}
