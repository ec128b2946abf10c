package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/config"
)

// The exit codes.
const (
	ExitOK           = 0
	ExitFailed       = 1
	ExitUsage        = 2
	ExitNotFound     = 3
	ExitAuth         = 4
	ExitNotCompleted = 5
	ExitInterrupted  = 130
)

// usageError is an error in a flag or an argument.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// notCompletedError reports that a session or answer did not complete. The output has already shown that.
type notCompletedError struct{ status string }

func (e notCompletedError) Error() string { return "it " + readable(e.status) }

// errShown ends a command that has already printed the problem.
var errShown = errors.New("see above")

// reportedError is an error that has already been printed; only its exit code matters.
type reportedError struct{ err error }

func (e reportedError) Error() string { return e.err.Error() }

// explain turns an error into an exit code and one line for people.
func explain(ctx context.Context, err error) (int, string) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return ExitInterrupted, ""
	}

	if reported, ok := errors.AsType[reportedError](err); ok {
		code, _ := explain(ctx, reported.err)

		return code, ""
	}

	switch {
	case errors.Is(err, errShown):
		return ExitFailed, ""
	case errors.Is(err, syscall.EPIPE) && !isA[*client.UnreachableError](err):
		return ExitOK, "" // the reader has closed the pipe
	case isA[usageError](err):
		return ExitUsage, line(err)
	case isA[notCompletedError](err):
		return ExitNotCompleted, ""
	case isA[*config.Error](err):
		return ExitFailed, err.Error() // one line for each problem
	}

	if problem, ok := errors.AsType[*client.Problem](err); ok {
		return problemCode(problem.Status), explainProblem(problem)
	}

	if unreachable, ok := errors.AsType[*client.UnreachableError](err); ok {
		return ExitFailed, explainUnreachable(unreachable)
	}

	if own, ok := errors.AsType[*tarsy.Error](err); ok {
		switch own.Code {
		case tarsy.CodeNotFound, tarsy.CodeSessionNotFound, tarsy.CodeKeyNotFound, tarsy.CodeNoteNotFound, tarsy.CodeApprovalNotFound:
			return ExitNotFound, line(err)
		case tarsy.CodeInvalidParameter, tarsy.CodeInvalidField, tarsy.CodeMissingField:
			return ExitUsage, line(err)
		default:
		}
	}

	if errors.Is(err, client.ErrAddress) {
		return ExitUsage, line(err) + "; set it with --server or TARSY_SERVER"
	}

	return ExitFailed, line(err)
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)

	return ok
}

// line returns an error's text on one line, cleaned because it may quote a server or a file.
func line(err error) string { return terminal.Line(err.Error()) }

func problemCode(status int) int {
	switch status {
	case http.StatusNotFound:
		return ExitNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return ExitAuth
	case http.StatusBadRequest:
		return ExitUsage
	default:
		return ExitFailed
	}
}

func explainProblem(problem *client.Problem) string {
	text := terminal.Line(problem.Detail)

	if problem.Code == tarsy.CodeInvalidConfiguration { // one line for each problem
		var lines []string
		for line := range strings.SplitSeq(problem.Detail, "\n") {
			lines = append(lines, strings.TrimRight(terminal.Line(line), " "))
		}

		return strings.Join(lines, "\n")
	}

	switch problem.Status {
	case http.StatusUnauthorized:
		return text + "; set the key with --token or TARSY_TOKEN"
	case http.StatusForbidden:
		return text + "; use a key with that scope, see tarsy keys create --help"
	default:
		return text
	}
}

func explainUnreachable(e *client.UnreachableError) string {
	switch {
	case isA[*tls.CertificateVerificationError](e.Err):
		return line(e) + "; if your own authority signed the certificate, set its file with --ca-cert or TARSY_CA_CERT"
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return "no server responds at " + e.Server + "; start one with tarsy serve (or tarsy demo), or choose another with --server"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return e.Server + " did not respond in time; check that it is a healthy TARSy server"
	default:
		return line(e) + "; check --server"
	}
}
