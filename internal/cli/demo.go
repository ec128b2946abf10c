package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/demo/cluster"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

const (
	demoMCPCommand = "demo-mcp"
	// demoChains is the prefix of the demo's chain names.
	demoChains = "demo-"

	// A pace that a person can follow.
	demoFirstToken = 900 * time.Millisecond
	demoTokens     = 40
	demoJitter     = 0.3
)

func demoCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "demo", Short: "Run the server with a scripted model, a simulated cluster and example alerts", GroupID: groupServer, Args: namedArgs,
		Long: `Runs the real server on a private PostgreSQL, with a scripted model instead of a real one and a simulated Kubernetes
cluster behind a real MCP server. It needs no API key, no network and no configuration.

The first start sends example alerts to its webhook as an Alertmanager would. One is investigated by three agents concurrently, one uses the
text protocol, one arrives three times, one is resolved, and one is kept back by a maintenance window. Eight are of one group: two are
investigated by themselves, the other six together as a storm. One alert is sent as text; its investigation fails because its model
refuses. Four notes become tasks, decisions and open reviews.

Use tarsy ask to ask follow-up questions. Later starts keep everything; --submit sends the alerts again, as those of another cluster
(demo-eu-2 and so on), so that they are investigated and not counted as repetitions, and captures the notes again.`,
		Example: `  tarsy demo
  tarsy demo --speed 4 --submit
  tarsy demo --listen 127.0.0.1:0 --data-dir ./demo-data`,
	}
	flags := newServerFlags(t, cmd, "tarsy-demo", "warn")
	speed := cmd.Flags().Float64("speed", 1, "how fast the model responds: 1 is readable, 2 twice as fast, 0 without delay")
	submit := cmd.Flags().Bool("submit", false, "send the example alerts and notes even if there are sessions already")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *speed < 0 {
			return usageError{fmt.Errorf("--speed must not be negative, but it is %g", *speed)}
		}

		cfg, err := flags.load(config.File{Name: "demo.yaml", Text: story.Config(t.Executable, demoMCPCommand)})
		if err != nil {
			return err
		}

		options, err := flags.options(cfg)
		if err != nil {
			return err
		}

		options.LLM = story.Client(pace(*speed))
		d := &demo{tool: t, flags: flags, options: options, submit: *submit}

		return runServer(cmd.Context(), t, options, d.prepare, d.ready)
	}

	return cmd
}

func pace(speed float64) script.Pace {
	if speed == 0 {
		return script.Pace{}
	}

	return script.Pace{FirstToken: demoFirstToken, TokensPerSecond: demoTokens, Jitter: demoJitter, Speed: speed}
}

// demo is one run of the demo.
type demo struct {
	*tool

	flags   *serverFlags
	options app.Options
	submit  bool
	token   string
}

var errRealSessions = errors.New("this database has sessions that are not from the demo, and the scripted model would run them; " +
	"use another --data-dir or --database-url")

// prepare refuses a database with real sessions, and creates a key if one is needed.
func (d *demo) prepare(ctx context.Context, server *app.App) error {
	const enough = 200

	sessions, err := server.DB().Sessions(ctx, tarsy.SessionFilter{Limit: enough})
	if err != nil {
		return err
	}

	for _, session := range sessions {
		if !strings.HasPrefix(session.ChainID, demoChains) {
			return errRealSessions
		}
	}

	if !d.options.RequireKey {
		return nil
	}

	return d.flags.bootstrap(ctx, server, d.options.Logger)
}

func (d *demo) ready(ctx context.Context, server *app.App) error {
	done := server.Step("sending the example alerts and notes")
	sent, err := d.begin(ctx, server)

	done()

	if err != nil {
		return err
	}

	d.welcome(address(server), sent)

	return nil
}

// welcome prints the addresses and the next steps.
func (d *demo) welcome(at string, sent *demoResult) {
	p := d.palette(d.Stderr)
	row := func(name, what string) {
		d.infof("  %s %s", p.Paint(terminal.Dim, terminal.Pad(name, len("live events "))), what)
	}

	d.infof("\n%s is running at %s\n", p.Paint(terminal.Bold.With(terminal.Cyan), "TARSy"), p.Paint(terminal.Bold, at))

	d.printSent(sent)
	d.infof("\n%s", p.Paint(terminal.Bold, "In a browser"))
	row("dashboard", dashboard(at))

	d.infof("\n%s", p.Paint(terminal.Bold, "In another terminal"))

	if at != defaultServer {
		row("first", "export TARSY_SERVER="+at)
	}

	row("follow", d.Name+" watch")
	alertType, text := story.Example()
	row("submit", fmt.Sprintf("%s submit --type %s -m %q --wait", d.Name, alertType, text))
	row("ask", d.Name+" ask "+sent.example()+` "is it still happening?"`)
	row("list", d.Name+" sessions")
	row("suppressed", d.Name+" suppressed list")
	row("note", d.Name+` note "Ana should bound the cart cache by Friday."`)
	row("API", "curl -s "+at+"/api/v1/sessions")
	row("live events", "curl -N "+at+"/api/v1/sessions/SESSION/events")
	d.infof("\n%s", p.Paint(terminal.Dim, "Ctrl-C stops everything; sessions are kept."))
}

// begin sends the example alerts and captures the notes through the public API.
func (d *demo) begin(ctx context.Context, server *app.App) (*demoResult, error) {
	if d.options.RequireKey {
		issued, err := auth.Issue("demo", []tarsy.Scope{tarsy.ScopeWrite}, time.Now())
		if err != nil {
			return nil, err
		}

		if err := server.Accounts().CreateKey(ctx, issued.Key, issued.Hash); err != nil {
			return nil, err
		}

		defer func() { _, _ = server.Accounts().RevokeKey(context.WithoutCancel(ctx), issued.Key.ID, time.Now()) }()

		d.token = issued.Secret
	}

	c, err := client.New(client.Config{Server: address(server), Token: d.token, UserAgent: userAgent()})
	if err != nil {
		return nil, err
	}
	defer c.Close()

	cluster, used, err := nextCluster(ctx, c)
	if err != nil || used && !d.submit {
		return &demoResult{}, err
	}

	sent, err := sendAlerts(ctx, c, cluster)
	if err != nil {
		return nil, err
	}

	return sent, captureNotes(ctx, c, sent)
}

// captureNotes creates the projects of the demo and captures its notes. The first note belongs to the session of checkout.
func captureNotes(ctx context.Context, c *client.Client, sent *demoResult) error {
	notes := story.LoadNotes()

	for _, p := range notes.Projects {
		created, err := client.Call(ctx, c, client.CreateProject, client.NewProject{Name: p.Name, Description: p.Description})
		if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Code == tarsy.CodeNameTaken {
			continue // created by an earlier run
		}

		if err != nil {
			return fmt.Errorf("create the project %s: %w", p.Name, err)
		}

		for _, e := range p.Epics {
			if _, err := client.Call(ctx, c, client.CreateEpic, client.NewProject{Name: e.Name, Description: e.Description}, created.ID); err != nil {
				return fmt.Errorf("create the epic %s: %w", e.Name, err)
			}
		}
	}

	for i, text := range notes.Notes {
		note := client.NewNote{Content: text, Source: notebook.NoteFromCLI}
		if i == 0 {
			note.SessionID = sent.sessionOf(notes.Session)
		}

		if _, err := client.Create(ctx, c, client.CaptureNote, "", note); err != nil {
			return fmt.Errorf("capture a note: %w", err)
		}
	}

	return nil
}

// demoClusterCommand returns the demo's MCP server on stdio. The server starts it, not the user.
func demoClusterCommand() *cobra.Command {
	return &cobra.Command{
		Use: demoMCPCommand, Short: "Serve the simulated cluster as an MCP server on stdin and stdout", Hidden: true, Args: namedArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cluster.Serve(cmd.Context(), &mcpsdk.StdioTransport{})
		},
	}
}
