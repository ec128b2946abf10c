package grpc

import (
	"context"

	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
)

// Register makes client answer the calls to s, so that a gateway in Go is an llm.Client. Access control is up to the
// interceptors of the server; the keys and addresses of providers in a request are not passed on.
func Register(s rpc.ServiceRegistrar, client llm.Client) {
	llmpb.RegisterLLMServiceServer(s, &server{client: client})
}

type server struct {
	llmpb.UnimplementedLLMServiceServer

	client llm.Client
}

// Generate implements the service.
func (s *server) Generate(wire *llmpb.GenerateRequest, stream rpc.ServerStreamingServer[llmpb.GenerateResponse]) error {
	req, err := readRequest(wire)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}

	end := llm.EndChunk{Reason: llm.StopEnd}

	for chunk, err := range s.client.Generate(stream.Context(), req) {
		if reported, ok := chunk.(llm.ErrorChunk); ok && err == nil {
			err = reported
		}

		if err != nil {
			return fail(stream, err)
		}

		switch c := chunk.(type) {
		case llm.EndChunk:
			end = c

			continue
		case llm.ToolCallChunk:
			// This applies only if the client does not report an end.
			end.Reason = llm.StopToolCalls
		}

		if response := wireChunk(chunk); response != nil {
			if err := stream.Send(response); err != nil {
				return err
			}
		}
	}

	return stream.Send(wireChunk(end))
}

// fail sends the error in full, and ends the call with a status.
func fail(stream rpc.ServerStreamingServer[llmpb.GenerateResponse], err error) error {
	if stream.Context().Err() != nil {
		return status.FromContextError(context.Cause(stream.Context())).Err()
	}

	e := llm.AsError(err)
	if err := stream.Send(wireError(e)); err != nil {
		return err
	}

	return status.Error(codeOf(e.Class), valid(e.Message))
}
