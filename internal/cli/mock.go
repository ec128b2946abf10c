package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
)

const (
	timingAtOnce   = "at-once"
	timingRecorded = "recorded"

	defaultMockListen = "127.0.0.1:9099"
	// mockJournal is the default number of requests that the journal keeps.
	mockJournal = 10_000
)

// mockFlags are the flags of the mock server.
type mockFlags struct {
	script      string
	check       bool
	printSchema bool

	listen      string
	allowPublic bool
	journal     int
	strict      bool
	seed        uint64
	speed       float64

	record   string
	cassette string
	timing   *choice

	discord  bool
	slack    bool
	oidc     bool
	smtp     string
	mcpStdio string
	output   *choice
}

func mockCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mock", Short: "Run scripted LLM APIs, MCP servers, Discord, Slack and SMTP for tests", GroupID: groupServer, Args: namedArgs,
		Long: `Serves the OpenAI (Chat Completions, Responses), Anthropic and Gemini APIs on one address, so that a program in any language can
be tested without an API key and without a network. See docs/mock.md for details.

--script FILE      reads replies from YAML; scripted MCP servers are at /mcp/NAME. Changes to the file take effect at once;
                   an invalid file is reported and ignored.
--discord          serves a virtual Discord below /discord, REST and gateway; a script with a section discord does that too
--slack            serves a virtual Slack below /slack, Web API and Socket Mode
--oidc             serves an OpenID Connect issuer below /oidc, with a page on which people choose who they are; see docs/login.md
--smtp ADDRESS     accepts mail, prints it and delivers nothing
--record URL       forwards requests to the real API and records its responses in the file of --cassette, without secrets
--cassette FILE    replays such a file; a request that it does not contain is an error that shows the difference

Base URLs are printed at the start. An unexpected request gets an error. When the server stops, it reports unexpected requests and
unused replies, and exits with code 1 if there are any, unless --strict=false. GET /_mock/verify returns the same report to a test.`,
		Example: `  tarsy mock --script script.yaml
  tarsy mock --script script.yaml --check
  tarsy mock --script script.yaml --listen 127.0.0.1:0 -o json
  tarsy mock --discord
  tarsy mock --slack
  tarsy mock --oidc
  tarsy mock --smtp 127.0.0.1:2525
  tarsy mock --record https://api.openai.com --cassette chat.yaml
  tarsy mock --cassette chat.yaml --timing recorded
  tarsy mock --script script.yaml --mcp-stdio kubernetes`,
	}
	f := newMockFlags(cmd)

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.printSchema {
			return t.printf("%s", scriptfile.Schema())
		}

		if err := checkMock(t, f); err != nil {
			return err
		}

		m := &mockRun{tool: t, flags: f}

		switch {
		case f.check:
			return m.check()
		case f.mcpStdio != "":
			return m.serveStdio(cmd.Context())
		default:
			return m.serve(cmd.Context())
		}
	}

	return cmd
}

func newMockFlags(cmd *cobra.Command) *mockFlags {
	f := &mockFlags{timing: newChoice(timingAtOnce, timingRecorded), output: outputFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.script, "script", "", "YAML file with the replies")
	flags.BoolVar(&f.check, "check", false, "validate the script, report every problem, and exit")
	flags.BoolVar(&f.printSchema, "print-schema", false, "print the JSON Schema of scripts, for editors, and exit")
	flags.StringVar(&f.listen, "listen", defaultMockListen, "address to listen on; port 0 chooses a free one")
	flags.BoolVar(&f.allowPublic, "allow-public", false, "allow --listen on an address that other machines can reach; there is no authentication")
	flags.IntVar(&f.journal, "journal", mockJournal, "number of requests to keep in the journal")
	flags.BoolVar(&f.strict, "strict", true, "exit with code 1 on unexpected requests or unused replies")
	flags.Uint64Var(&f.seed, "seed", 0, "seed for random values, overrides the script")
	flags.Float64Var(&f.speed, "speed", 1, "how fast replies stream, overrides the script: 2 is twice as fast, 0 without delay")
	flags.StringVar(&f.record, "record", "", "URL of the real API whose responses to record in --cassette")
	flags.StringVar(&f.cassette, "cassette", "", "YAML file of recorded responses")
	flags.Var(f.timing, "timing", "timing of recorded responses")
	flags.BoolVar(&f.discord, "discord", false, "serve a virtual Discord, as the section discord of the script describes it or with one guild")
	flags.BoolVar(&f.slack, "slack", false, "serve a virtual Slack with the channel general and the users alice and bob")
	flags.BoolVar(&f.oidc, "oidc", false, "serve an OpenID Connect issuer with the public client tarsy")
	flags.StringVar(&f.smtp, "smtp", "", "address to accept mail on over SMTP, without encryption or login; mails are printed")
	flags.StringVar(&f.mcpStdio, "mcp-stdio", "", "serve only this MCP server of the script, on stdin and stdout")

	offer(cmd, "timing", f.timing.allowed)

	return f
}

// mockExample is a minimal script.
const mockExample = `Put this into script.yaml, then run  tarsy mock --script script.yaml

    version: 1
    replies:
      - text: Hello! I am a scripted model.
        times: forever
`

var (
	errNoScript       = errors.New("no replies given: name a script with --script, or a cassette with --cassette")
	errTwoSources     = errors.New("use either --script or --cassette, not both")
	errNoCassette     = errors.New("--record needs a file to write: name it with --cassette")
	errScriptOnly     = errors.New("this flag needs a script: name it with --script")
	errPublic         = errors.New("can be reached by other machines and there is no authentication; listen on 127.0.0.1, or add --allow-public")
	errJournalSize    = errors.New("--journal must be at least 1")
	errSpeed          = errors.New("--speed must be a number, zero or more")
	errTimingOfScript = errors.New("--timing needs --cassette")
)

// checkMock rejects flags that are invalid, alone or together.
func checkMock(t *tool, f *mockFlags) error {
	err := checkMockSource(t, f)

	switch {
	case err != nil:
	case f.journal < 1:
		err = errJournalSize
	case !(f.speed >= 0 && f.speed <= math.MaxFloat64):
		err = errSpeed
	case !f.allowPublic && requireKey(authAuto, f.listen):
		// The same addresses for which the server requires keys.
		err = fmt.Errorf("--listen %s %w", f.listen, errPublic)
	case f.smtp != "" && !f.allowPublic && requireKey(authAuto, f.smtp):
		err = fmt.Errorf("--smtp %s %w", f.smtp, errPublic)
	}

	if err != nil {
		return usageError{err}
	}

	return nil
}

// checkMockSource checks that there is exactly one source of replies, and that the other flags are compatible with it.
func checkMockSource(t *tool, f *mockFlags) error {
	switch {
	case f.script != "" && (f.cassette != "" || f.record != ""):
		return errTwoSources
	case f.record != "" && f.cassette == "":
		return errNoCassette
	case f.script == "" && (f.check || f.mcpStdio != "" || t.given("seed") || t.given("speed")):
		return errScriptOnly
	case t.given("timing") && (f.cassette == "" || f.record != ""):
		return errTimingOfScript
	case f.script == "" && f.cassette == "" && !f.hasService():
		t.infof("%s", mockExample)

		return errNoScript
	default:
		return nil
	}
}

// hasService reports whether anything besides model replies is served.
func (f *mockFlags) hasService() bool { return f.discord || f.slack || f.oidc || f.smtp != "" }

// check validates the script and reports every problem.
func (m *mockRun) check() error {
	file, err := scriptfile.Load(m.flags.script)
	failed, wrong := errors.AsType[*scriptfile.FileError](err)

	if err != nil && !wrong {
		return err
	}

	switch {
	case m.flags.output.value == formatJSON:
		found := verdict{OK: !wrong, Problems: []problem{}, Warnings: []problem{}, Notes: []problem{}}

		if wrong {
			for _, p := range failed.Problems {
				found.Problems = append(found.Problems, problem(p))
			}
		}

		err = m.printJSON(found)
	case wrong:
		err = m.printf("%s\n", failed)
	default:
		m.infof("The script is valid: %s.", contents(file))
	}

	if err == nil && wrong {
		return errShown
	}

	return err
}

// contents counts the contents of a script.
func contents(file *scriptfile.File) string {
	var parts []string

	for _, part := range []struct {
		n    int
		what string
	}{{len(file.Replies), "reply in sequence|replies in sequence"}, {len(file.Routes), "route|routes"}, {len(file.MCPServers), "MCP server|MCP servers"}} {
		one, many, _ := strings.Cut(part.what, "|")

		switch part.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, many))
		}
	}

	if d := file.Discord; d != nil {
		parts = append(parts, fmt.Sprintf("Discord with %d steps", len(d.Conversation)))
	}

	if len(parts) == 0 {
		return "nothing"
	}

	return strings.Join(parts, ", ")
}
