package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/cassette"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
)

const (
	// mockReloadInterval is how often the script is checked for changes.
	mockReloadInterval = 100 * time.Millisecond
	// mockGrace limits how long answers in flight may take after a stop.
	mockGrace = 2 * time.Second
	// mockClient is the client id that the issuer accepts.
	mockClient = "tarsy"
	// mockHeaderTimeout limits how long a client may take to send its headers.
	mockHeaderTimeout = 30 * time.Second
)

// mockRun is one run of the mock server.
type mockRun struct {
	*tool

	flags *mockFlags
	// file is the current script.
	file   atomic.Pointer[scriptfile.File]
	server *mock.Server
	// discord is the current virtual Discord.
	discord atomic.Pointer[discord.Server]
	// mail is the address of the SMTP server; empty if there is none.
	mail string
	// slack is the current virtual Slack.
	slack atomic.Pointer[slack.Server]
}

// serve runs the server until ctx is done.
func (m *mockRun) serve(ctx context.Context) error {
	cfg := mock.Config{JournalSize: m.flags.journal}

	end, err := m.source(&cfg)
	if err != nil {
		return err
	}
	defer end()

	m.server = mock.New(cfg)
	defer m.server.Stop()

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.flags.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", m.flags.listen, err)
	}

	endMail, err := m.serveMail(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer endMail()

	if err := m.announce(listener.Addr().String()); err != nil {
		return errors.Join(err, listener.Close())
	}

	if err := m.run(ctx, listener); err != nil {
		return err
	}

	// An interrupted conversation reports why its next step was not reached.
	m.server.Stop()

	return m.reportProblems(mock.Summary(m.server.Verify()))
}

// source configures the source of answers and returns its clean-up.
func (m *mockRun) source(cfg *mock.Config) (func(), error) {
	cfg.Discord = func() mock.Virtual { return m.virtualDiscord(nil) }
	cfg.Slack = m.virtualSlack

	if m.flags.oidc {
		cfg.Issuer = issuer.New(issuer.Config{Path: issuer.Path, ClientID: mockClient})
	}

	switch {
	case m.flags.record != "":
		recorder, err := cassette.NewRecorder(cassette.RecorderConfig{
			Upstream: m.flags.record, Path: m.flags.cassette, Log: func(text string) { m.infof("%s", text) },
		})
		if err != nil {
			return nil, usageError{err}
		}

		cfg.Tape = func(string) mock.Tape { return recorder }

		return recorder.Close, nil
	case m.flags.cassette != "":
		return func() {}, m.replay(cfg)
	default:
		return func() {}, m.play(cfg)
	}
}

// replay configures answers from a cassette.
func (m *mockRun) replay(cfg *mock.Config) error {
	loaded, err := cassette.Load(m.flags.cassette)
	if err != nil {
		return err
	}

	var clock clockwork.Clock
	if m.flags.timing.value == timingRecorded {
		clock = clockwork.NewRealClock()
	}

	player, err := cassette.NewPlayer(loaded, clock)
	if err != nil {
		return err
	}

	cfg.Tape = func(string) mock.Tape { return player.Fresh() }

	return nil
}

// mockAddresses are the addresses for SDKs.
type mockAddresses struct {
	URL       string            `json:"url"`
	OpenAI    string            `json:"openai"`
	Anthropic string            `json:"anthropic"`
	Gemini    string            `json:"gemini"`
	MCP       map[string]string `json:"mcp,omitempty"`
	Discord   *discordAddresses `json:"discord,omitempty"`
	Slack     *slackAddresses   `json:"slack,omitempty"`
	SMTP      string            `json:"smtp,omitempty"`
	// OIDC is the issuer, if there is one.
	OIDC string `json:"oidc,omitempty"`
}

// slackAddresses are the address of the virtual Slack and the tokens that it accepts.
type slackAddresses struct {
	API      string `json:"api"`
	Token    string `json:"token"`
	AppToken string `json:"app_token"`
}

// discordAddresses are the addresses of the virtual Discord and a token that it accepts.
type discordAddresses struct {
	URL     string `json:"url"`
	API     string `json:"api"`
	Gateway string `json:"gateway"`
	Token   string `json:"token"`
}

// announce prints the server's addresses.
func (m *mockRun) announce(at string) error {
	if host, port, err := net.SplitHostPort(at); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
			at = net.JoinHostPort("127.0.0.1", port)
		}
	}

	base := "http://" + at
	a := mockAddresses{URL: base, OpenAI: base + "/v1", Anthropic: base, Gemini: base, MCP: map[string]string{}, SMTP: m.mail}

	if file := m.file.Load(); file != nil {
		for name := range file.MCPServers {
			a.MCP[name] = base + "/mcp/" + name
		}
	}

	if virtual := m.discord.Load(); virtual != nil {
		root := base + discord.Path
		a.Discord = &discordAddresses{URL: root, API: root + "/api/v10", Gateway: "ws://" + at + discord.Path + "/gateway", Token: virtual.Token()}
	}

	if virtual := m.slack.Load(); virtual != nil {
		a.Slack = &slackAddresses{API: base + slack.Path + "/api/", Token: virtual.Token(), AppToken: virtual.AppToken()}
	}

	if m.flags.oidc {
		a.OIDC = base + issuer.Path
	}

	if m.flags.output.value == formatJSON {
		text, err := encodeJSON(a, "")
		if err != nil {
			return err
		}

		return m.printf("%s\n", text)
	}

	err := m.printf("listening on %s\n\n  OPENAI_BASE_URL=%s\n  ANTHROPIC_BASE_URL=%s\n  GOOGLE_GEMINI_BASE_URL=%s\n", base, a.OpenAI, a.Anthropic, a.Gemini)
	for _, name := range slices.Sorted(maps.Keys(a.MCP)) {
		err = errors.Join(err, m.printf("  MCP server %s: %s\n", name, a.MCP[name]))
	}

	if d := a.Discord; d != nil {
		err = errors.Join(err, m.printf("  Discord: API %s, gateway %s, bot token %s\n", d.API, d.Gateway, d.Token))
	}

	if w := a.Slack; w != nil {
		err = errors.Join(err, m.printf("  Slack: API %s, bot token %s, app-level token %s\n", w.API, w.Token, w.AppToken))
	}

	if a.OIDC != "" {
		err = errors.Join(err, m.printf("  OpenID Connect: issuer %s, client_id %s\n", a.OIDC, mockClient))
	}

	if a.SMTP != "" {
		err = errors.Join(err, m.printf("  SMTP: %s\n", a.SMTP))
	}

	m.infof("\nAny API key works. %s/_mock/journal shows the requests. Ctrl-C stops.", base)

	return err
}

var errStopped = errors.New("the server was stopped")

// run serves until ctx is done, then lets requests in flight finish.
func (m *mockRun) run(ctx context.Context, listener net.Listener) error {
	app.Tune(m.lookup)

	// Answers that wait for a gate end when the server stops.
	answers, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)

	server := &http.Server{
		Handler: m.server, ReadHeaderTimeout: mockHeaderTimeout, BaseContext: func(net.Listener) context.Context { return answers },
	}

	var helpers sync.WaitGroup
	defer helpers.Wait()

	watching, stop := context.WithCancel(ctx)
	defer stop()

	if file := m.file.Load(); file != nil && m.flags.script != "" {
		helpers.Go(func() { scriptfile.Watch(watching, file, clockwork.NewRealClock(), mockReloadInterval, m.reload) })
	}

	failed := make(chan error, 1)

	helpers.Go(func() { failed <- server.Serve(listener) })

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}

	cancel(errStopped)

	grace, done := context.WithTimeout(context.WithoutCancel(ctx), mockGrace)
	defer done()

	if err := server.Shutdown(grace); err != nil {
		// Drop clients that did not disconnect in time.
		_ = server.Close()
	}

	return nil
}

// reportProblems prints what did not go as planned.
func (m *mockRun) reportProblems(summary string) error {
	if summary == "" {
		return nil
	}

	m.infof("%s", summary)

	if m.flags.strict {
		return errShown
	}

	return nil
}

// serveStdio serves one of the script's MCP servers on the standard streams.
func (m *mockRun) serveStdio(ctx context.Context) error {
	file, err := m.load()
	if err != nil {
		return err
	}

	host, err := mcpserver.NewHost(file.MCPServers, mcpserver.Options{})
	if err != nil {
		return err
	}

	in, ok := m.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(m.Stdin)
	}

	out, ok := m.Stdout.(io.WriteCloser)
	if !ok {
		out = nopCloser{m.Stdout}
	}

	if err := host.Serve(ctx, m.flags.mcpStdio, in, out); err != nil {
		return err
	}

	return m.reportProblems(mock.Summary([]mock.Verdict{{Unused: host.Unused(), Unexpected: host.Unexpected()}}))
}

// nopCloser is a stream that must stay open.
type nopCloser struct{ io.Writer }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }
