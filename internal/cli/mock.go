package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/mock/scriptfile"
)

const (
	timingAtOnce   = "at-once"
	timingRecorded = "recorded"

	defaultMockListen = "127.0.0.1:9099"
	// mockJournal is how many requests the journal keeps by default.
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

	mcpStdio string
	output   *choice
}

func (t *tool) mock() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mock", Short: "Stand in for the APIs of language models, and for MCP servers", GroupID: groupServer, Args: cobra.NoArgs,
		Long: `Answers in the form of the OpenAI (Chat Completions, Responses), Anthropic and Gemini APIs on one address, so that a program in
any language can be tested without a key and without a network. docs/mock.md has the whole of it.

--script FILE      answers are written in YAML; scripted MCP servers are at /mcp/NAME. A change of the file is taken over at once;
                   while the file is wrong the old one stays.
--record URL       passes requests on to the real API and writes what it answers into the file of --cassette, without secrets
--cassette FILE    answers from such a file; a request that is not in it is an error that says what is different

Base URLs are printed at the start. What nothing was planned for is answered with an error that says so, and told at the end
together with what was planned and not asked; the exit code is 1 then, unless --strict=false. GET /_mock/verify tells the same to a test.`,
		Example: `  tarsy mock --script script.yaml
  tarsy mock --script script.yaml --check
  tarsy mock --script script.yaml --listen 127.0.0.1:0 -o json
  tarsy mock --record https://api.openai.com --cassette chat.yaml
  tarsy mock --cassette chat.yaml --timing recorded
  tarsy mock --script script.yaml --mcp-stdio kubernetes`,
	}
	f := newMockFlags(cmd)

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.printSchema {
			return t.printf("%s", scriptfile.Schema())
		}

		if err := t.checkMock(f); err != nil {
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
	flags.StringVar(&f.script, "script", "", "YAML file with the answers")
	flags.BoolVar(&f.check, "check", false, "say everything that is wrong with the script, and end")
	flags.BoolVar(&f.printSchema, "print-schema", false, "print the JSON Schema of scripts, for editors, and end")
	flags.StringVar(&f.listen, "listen", defaultMockListen, "address to listen on; port 0 chooses a free one")
	flags.BoolVar(&f.allowPublic, "allow-public", false, "let --listen be an address that others can reach; there is no authentication")
	flags.IntVar(&f.journal, "journal", mockJournal, "how many requests the journal keeps")
	flags.BoolVar(&f.strict, "strict", true, "end with code 1 if something was not asked for, or not planned")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all that is random, instead of the script's")
	flags.Float64Var(&f.speed, "speed", 1, "how fast answers stream, instead of the script's: 2 is twice as fast, 0 without waiting")
	flags.StringVar(&f.record, "record", "", "URL of the real API whose answers to record into --cassette")
	flags.StringVar(&f.cassette, "cassette", "", "YAML file of recorded answers")
	flags.Var(f.timing, "timing", "when recorded answers are sent")
	flags.StringVar(&f.mcpStdio, "mcp-stdio", "", "serve this MCP server of the script on stdin and stdout, and nothing else")

	_ = cmd.RegisterFlagCompletionFunc("timing", cobra.FixedCompletions(f.timing.allowed, cobra.ShellCompDirectiveNoFileComp))

	return f
}

// mockExample is the least script that does something.
const mockExample = `Put this into script.yaml, then run  tarsy mock --script script.yaml

    version: 1
    replies:
      - text: Hello! I am a scripted model.
        times: forever
`

var (
	errNoScript       = errors.New("there is nothing to answer from: name a script with --script, or a cassette with --cassette")
	errTwoSources     = errors.New("answers come from a script or from a cassette: use --script or --cassette, not both")
	errNoCassette     = errors.New("--record needs the file to write: name it with --cassette")
	errScriptOnly     = errors.New("this is about a script: name it with --script")
	errPublic         = errors.New("is reached by others and there is no authentication; listen on 127.0.0.1, or say --allow-public")
	errJournalSize    = errors.New("--journal must be at least 1")
	errSpeed          = errors.New("--speed must be a number that is not negative")
	errTimingOfScript = errors.New("--timing is about --cassette")
)

// checkMock refuses flags that make no sense, by themselves or together.
func (t *tool) checkMock(f *mockFlags) error {
	err := t.checkMockSource(f)

	switch {
	case err != nil:
	case f.journal < 1:
		err = errJournalSize
	case !(f.speed >= 0 && f.speed <= math.MaxFloat64):
		err = errSpeed
	case !f.allowPublic && requireKey(authAuto, f.listen):
		// Where the server would want keys.
		err = fmt.Errorf("--listen %s %w", f.listen, errPublic)
	}

	if err != nil {
		return usageError{err}
	}

	return nil
}

// checkMockSource tells whether there is one thing to answer from, and what is said of it fits.
func (t *tool) checkMockSource(f *mockFlags) error {
	switch {
	case f.script != "" && (f.cassette != "" || f.record != ""):
		return errTwoSources
	case f.record != "" && f.cassette == "":
		return errNoCassette
	case f.script == "" && (f.check || f.mcpStdio != "" || t.given("seed") || t.given("speed")):
		return errScriptOnly
	case t.given("timing") && (f.cassette == "" || f.record != ""):
		return errTimingOfScript
	case f.script == "" && f.cassette == "":
		t.sayf("%s", mockExample)

		return errNoScript
	default:
		return nil
	}
}

// check says everything that is wrong with the script.
func (m *mockRun) check() error {
	file, err := scriptfile.Load(m.flags.script)
	failed, wrong := errors.AsType[*scriptfile.FileError](err)

	if err != nil && !wrong {
		return err
	}

	switch {
	case m.flags.output.value == formatJSON:
		found := verdict{OK: !wrong, Problems: []problem{}, Warnings: []problem{}}

		if wrong {
			for _, p := range failed.Problems {
				found.Problems = append(found.Problems, problem(p))
			}
		}

		err = m.printJSON(found)
	case wrong:
		err = m.printf("%s\n", failed)
	default:
		m.sayf("The script is valid: %s.", contents(file))
	}

	if err == nil && wrong {
		return errShown
	}

	return err
}

// contents counts what a script holds.
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

	if len(parts) == 0 {
		return "nothing"
	}

	return strings.Join(parts, ", ")
}
