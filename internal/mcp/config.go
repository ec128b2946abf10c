package mcp

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/agent"
)

// Transport types.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
	TransportSSE   = "sse"
)

// Config configures a Factory. The zero value of every field but Servers is usable.
type Config struct {
	Servers map[string]ServerConfig
	// Transport replaces the transports configured by Servers, for tests. Nil means none.
	Transport func(ctx context.Context, serverID string) (mcpsdk.Transport, error)
	// Mask masks secrets in what a server sends. Nil masks nothing; on an error the text is withheld.
	Mask   func(serverID, text string) (string, error)
	Clock  clockwork.Clock
	Logger *slog.Logger
	Limits Limits
	// Abandon, once closed, kills the processes of servers: the program has no time left to let them exit. Nil means never.
	Abandon <-chan struct{}
}

// ServerConfig configures one MCP server.
type ServerConfig struct {
	Transport Transport
	// Rule limits which of its tools exist for any execution.
	Rule agent.ToolRule
}

// Transport configures how a server is reached.
type Transport struct {
	// Type is stdio, http or sse.
	Type string

	// Command, Args, User, Env and InheritEnv belong to stdio. The process gets Env and those variables of this process that programs
	// commonly need, see environment. With InheritEnv it gets all of them.
	Command string
	Args    []string
	// User is the user, and optionally the group, that the process runs as: see findAccount. Empty means the user of this process.
	User       string
	Env        map[string]string
	InheritEnv bool

	// URL, BearerToken, VerifySSL, Headers and CleanupURL belong to http and sse.
	URL         string
	BearerToken string
	// VerifySSL is true unless it is set to false.
	VerifySSL *bool
	// Headers and CleanupURL may contain SessionIDMark.
	Headers map[string]string
	// CleanupURL gets a DELETE when the tools of an execution are closed.
	CleanupURL string

	// Timeout lowers the limits for connecting and for calls of this server. Zero does not change them.
	Timeout time.Duration
}

// SessionIDMark is the placeholder for the id of the execution of a session.
const SessionIDMark = "{{.SESSION_ID}}"

// filled replaces the mark with the id of an execution.
func (t Transport) filled(executionID string) Transport {
	headers := make(map[string]string, len(t.Headers))
	for name, value := range t.Headers {
		headers[name] = strings.ReplaceAll(value, SessionIDMark, executionID)
	}
	t.Headers = headers
	t.CleanupURL = strings.ReplaceAll(t.CleanupURL, SessionIDMark, url.PathEscape(executionID))

	return t
}

// Limits are limits of time and size. Zero means the default; a negative BackoffMax means no pause.
type Limits struct {
	// Init limits connecting to one server, including its handshake and its tool list.
	Init time.Duration
	// Call limits one tool call, including the recovery of its session.
	Call time.Duration
	// Reinit limits recreating a broken session.
	Reinit time.Duration
	// BackoffMin and BackoffMax are the range of the random pause before a session is recreated.
	BackoffMin time.Duration
	BackoffMax time.Duration
	// Exit is how long to wait for a subprocess to exit, or for a remote server to answer the end of the session, before the next,
	// harsher step. It is real time: the operating system does not follow an injected clock.
	Exit time.Duration
	// KeepAlive is how long an idle HTTP connection is kept for the next request. Node and Python servers close theirs after five
	// seconds: a request sent at that moment is lost, and for a tool that writes its outcome is unknown.
	KeepAlive time.Duration
	// ResultBytes is how much of one result is kept.
	ResultBytes int
	// MessageBytes limits one message of a server, on every transport. An eighth of the limit is used of a larger message.
	MessageBytes int
}

const (
	defaultInit         = 30 * time.Second
	defaultCall         = 90 * time.Second
	defaultReinit       = 10 * time.Second
	defaultBackoffMin   = 250 * time.Millisecond
	defaultBackoffMax   = 750 * time.Millisecond
	defaultExit         = time.Second
	defaultKeepAlive    = 2 * time.Second
	defaultResultBytes  = 1 << 20
	defaultMessageBytes = 16 << 20
)

func (l Limits) withDefaults() Limits {
	l.Init = orDefault(l.Init, defaultInit)
	l.Call = orDefault(l.Call, defaultCall)
	l.Reinit = orDefault(l.Reinit, defaultReinit)
	l.Exit = orDefault(l.Exit, defaultExit)
	l.KeepAlive = orDefault(l.KeepAlive, defaultKeepAlive)
	l.ResultBytes = orDefault(l.ResultBytes, defaultResultBytes)
	l.MessageBytes = orDefault(l.MessageBytes, defaultMessageBytes)
	if l.BackoffMax == 0 {
		l.BackoffMin, l.BackoffMax = defaultBackoffMin, defaultBackoffMax
	}

	return l
}

// forServer lowers the limits to the server's configured timeout.
func (l Limits) forServer(timeout time.Duration) Limits {
	if timeout > 0 {
		l.Init, l.Call, l.Reinit = min(l.Init, timeout), min(l.Call, timeout), min(l.Reinit, timeout)
	}

	return l
}

func orDefault[T time.Duration | int](value, fallback T) T {
	if value <= 0 {
		return fallback
	}

	return value
}
