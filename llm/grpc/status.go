package grpc

import (
	"context"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc/llmpb"
)

// statusError converts the status of a call to an error.
func (c *Client) statusError(ctx context.Context, err error) error {
	s := status.Convert(err)
	if callEnded(ctx, s.Code()) {
		return context.Cause(ctx)
	}

	message := s.Message()
	e := llm.ErrorOfStatus(httpStatus(s.Code()), nil, s.Code().String(), c.public(message))
	e.Status, e.RetryAfter, e.Err = 0, retryAfter(s), nil

	switch {
	case s.Code() == codes.ResourceExhausted && strings.Contains(message, "send message larger than max"):
		e.Class, e.Retryable = llm.ClassContextTooLong, false
	case s.Code() == codes.ResourceExhausted && strings.Contains(message, "larger than max"):
		e.Class, e.Retryable = llm.ClassInvalid, false
		e.Hint = "the gateway and its client do not agree on the size of messages; raise the gateway's limit"
	case s.Code() == codes.Unavailable:
		e.Hint = "check that the gateway at " + c.cfg.Target + " runs and can be reached"
	case s.Code() == codes.Unimplemented:
		e.Hint = "what answers at " + c.cfg.Target + " is not a gateway for llm_service.proto"
	}

	return e
}

// callEnded reports whether the caller ended the call. A gateway that knows the deadline can be slightly ahead of it.
func callEnded(ctx context.Context, code codes.Code) bool {
	const moment = time.Second

	if deadline, ok := ctx.Deadline(); ok && code == codes.DeadlineExceeded && time.Until(deadline) < moment {
		<-ctx.Done()
	}

	return ctx.Err() != nil
}

// httpStatus returns the HTTP status with the same meaning.
func httpStatus(code codes.Code) int {
	switch code {
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.OutOfRange, codes.AlreadyExists, codes.Unimplemented:
		return http.StatusBadRequest
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func retryAfter(s *status.Status) time.Duration {
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return max(info.GetRetryDelay().AsDuration(), 0)
		}
	}

	return 0
}

// reportedError converts an error that the gateway reported within the stream.
func (c *Client) reportedError(wire *llmpb.Error) *llm.Error {
	e := &llm.Error{
		Class: llm.Class(wire.GetClass()), Status: int(wire.GetStatus()), Code: c.public(wire.GetCode()), Message: c.public(wire.GetMessage()),
		Retryable: wire.GetRetryable(), RetryAfter: max(time.Duration(wire.GetRetryAfterMs())*time.Millisecond, 0),
	}

	switch e.Class {
	case llm.ClassAuth, llm.ClassQuota, llm.ClassContextTooLong, llm.ClassSafety, llm.ClassTransient, llm.ClassInvalid, llm.ClassUnknown:
	default:
		// Infer the class if the gateway does not send one.
		guess := llm.ErrorOfStatus(e.Status, nil, e.Code, e.Message)

		e.Class = guess.Class
		if e.Class == llm.ClassUnknown && e.Retryable {
			e.Class = llm.ClassTransient
		}
	}

	return e
}

// public returns a gateway's text as it can be shown: shortened, and without the key and the values of the headers.
func (c *Client) public(text string) string { return llm.Brief(c.secrets.Replace(text)) }

// wireError converts an error to the protocol.
func wireError(e *llm.Error) *llmpb.GenerateResponse {
	message := e.Message
	if message == "" && e.Err != nil {
		message = e.Err.Error()
	}

	return &llmpb.GenerateResponse{Chunk: &llmpb.GenerateResponse_Error{Error: &llmpb.Error{
		Message: valid(message), Code: valid(e.Code), Retryable: e.Retryable, Class: string(e.Class),
		RetryAfterMs: e.RetryAfter.Milliseconds(), Status: int32(e.Status),
	}}}
}

// codeOf returns the status that a call ends with after an error, for metrics.
func codeOf(class llm.Class) codes.Code {
	switch class {
	case llm.ClassAuth:
		return codes.PermissionDenied
	case llm.ClassQuota:
		return codes.ResourceExhausted
	case llm.ClassContextTooLong, llm.ClassInvalid:
		return codes.InvalidArgument
	case llm.ClassSafety:
		return codes.FailedPrecondition
	case llm.ClassTransient:
		return codes.Unavailable
	default:
		return codes.Unknown
	}
}
