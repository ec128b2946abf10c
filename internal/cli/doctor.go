package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/config"
)

const (
	findingOK   = "ok"
	findingWarn = "warn"
	findingFail = "fail"
)

// finding is the result of one check, with advice.
type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"`
}

func doctorCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that a server can run here, and report how to fix problems", GroupID: groupHelp, Args: namedArgs,
		Long: `Checks what a server needs: PostgreSQL, a data directory, a free port, a valid configuration, and the MCP servers that
chains use. Variables of the tarsy.env that tarsy init wrote next to the configuration count as set. If a database address is set, it connects and reports the settings of PostgreSQL that matter, each with what to do about it
(docs/operations.md lists them); it changes nothing there. Otherwise it looks for PostgreSQL programs. It starts MCP servers of type
stdio, connects to those of type http and sse, and lists their tools. If system.discord is enabled, it asks Discord whether the token and the
channels are valid; if system.slack is, it asks Slack about its tokens. It connects and logs in to the SMTP servers of
alerts.write_back, and sends no mail. If system.auth.oidc is configured, it reads the issuer's discovery document. With --live it also sends a one-word prompt to each configured
LLM provider, which costs a few tokens. With --server it also checks the health of a running server. It exits with code 1 if a check
fails; an MCP server that does not answer is a warning, or a failure with system.mcp_startup: strict.`,
		Example: "  tarsy doctor\n  tarsy doctor --live --config-dir ./config\n  tarsy doctor --config-dir ./config --listen 127.0.0.1:9000\n  tarsy doctor --database-url postgres://tarsy@db.example/tarsy\n  tarsy doctor --server http://tarsy.internal:8080 -o json",
	}
	flags := newServerFlags(t, cmd, "tarsy", "warn").configured(cmd)
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	var live bool

	cmd.Flags().BoolVar(&live, "live", false, "send a one-word prompt to each configured LLM provider")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		path := flags.addWrittenVariables()
		findings := append(flags.checkMachine(cmd.Context()), flags.checkConfiguration(cmd.Context(), live)...)

		if path != "" {
			findings = append(findings, finding{"environment", findingOK, "with the variables of " + path, "load them before tarsy serve: set -a; . " + quoteForShell(path) + "; set +a"})
		}

		if t.given("server") {
			findings = append(findings, checkServer(cmd.Context(), connection))
		}

		return showFindings(t, findings, format.value)
	}

	return cmd
}

// checkMachine checks what a server needs besides its configuration.
func (f *serverFlags) checkMachine(ctx context.Context) []finding {
	return append(f.checkPostgres(ctx), f.checkDataDir(), checkPort(ctx, f.listen))
}

// checkDataDir checks that the directory, or its nearest existing parent, is writable.
func (f *serverFlags) checkDataDir() finding {
	const check = "data directory"

	dir, err := f.directory()
	if err != nil {
		return finding{check, findingFail, line(err), "set --data-dir"}
	}

	if dir == "" {
		return finding{check, findingOK, "not needed", ""}
	}

	existing := dir
	for {
		info, err := os.Stat(existing)
		if err == nil && info.IsDir() {
			break
		}

		parent := filepath.Dir(existing)
		if err == nil || parent == existing {
			return finding{check, findingFail, existing + " is not a directory", "choose another with --data-dir"}
		}

		existing = parent
	}

	probe, err := os.CreateTemp(existing, ".tarsy-doctor-*")
	if err != nil {
		return finding{check, findingFail, existing + " is not writable", "choose another with --data-dir, or change its owner"}
	}

	err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	if err != nil {
		return finding{check, findingWarn, line(err), "remove " + probe.Name()}
	}

	return finding{check, findingOK, dir, ""}
}

func checkPort(ctx context.Context, listen string) finding {
	const check = "address"

	var config net.ListenConfig

	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return finding{check, findingWarn, line(err), "another server may be running; choose another address with --listen"}
	}

	if err := listener.Close(); err != nil {
		return finding{check, findingWarn, line(err), ""}
	}

	return finding{check, findingOK, listen + " is free", ""}
}

func (f *serverFlags) checkConfiguration(ctx context.Context, live bool) []finding {
	const check = "configuration"

	cfg, err := f.load()
	if failed, ok := errors.AsType[*config.Error](err); ok {
		all := make([]finding, 0, len(failed.Problems))
		for _, p := range failed.Problems {
			all = append(all, finding{check, findingFail, p.String(), "see tarsy config check"})
		}

		return all
	}

	if err != nil {
		return []finding{{check, findingFail, line(err), "set the path of your files with --config-dir"}}
	}

	chains := chain.NewCatalog(cfg)

	from := f.configDir
	if from == "" {
		from = "built-in configuration"
	}

	all := []finding{{check, findingOK, from, ""}}

	for _, w := range chains.Warnings() {
		all = append(all, finding{check, findingWarn, w.String(), ""})
	}

	all = append(all, checkCertificate(cfg.System.TLS, time.Now())...)
	all = append(all, checkProviders(ctx, f.tool, cfg, chains.LLMProviders(), live)...)
	all = append(all, f.checkMCPServers(ctx, cfg, chains.MCPServers())...)

	for _, unset := range cfg.UnsetReceiverVariables(f.lookup) {
		all = append(all, finding{"receivers", findingWarn, unset.String(), "set it where the server runs"})
	}

	for _, unset := range cfg.UnsetWriteBackVariables(f.lookup) {
		all = append(all, finding{"write-back", findingWarn, unset.String(), "set it where the server runs"})
	}

	all = append(all, checkMail(ctx, f.tool, cfg)...)

	for _, unset := range cfg.UnsetTracingVariables(f.lookup) {
		all = append(all, finding{"traces", findingWarn, unset.String(), "set it where the server runs"})
	}

	all = append(all, checkOIDC(ctx, f.tool, cfg)...)
	all = append(all, checkDiscord(ctx, f.tool, cfg.System.Discord)...)

	return append(all, checkSlack(ctx, f.tool, cfg)...)
}

func checkServer(ctx context.Context, connection *connection) finding {
	const check = "server"

	c, err := connection.open()
	if err != nil {
		return finding{check, findingFail, line(err), "write it as http://host:port"}
	}
	defer c.Close()

	health, err := client.Call(ctx, c, client.Health, nil)
	if err != nil {
		_, text := explain(ctx, err)

		return finding{check, findingFail, text, ""}
	}

	found := fmt.Sprintf("%s is %s, version %s", c.Server(), terminal.Line(health.Status), terminal.Line(health.Version))

	if len(health.Warnings) == 0 {
		return finding{check, findingOK, found, ""}
	}

	messages := make([]string, len(health.Warnings))
	for i, w := range health.Warnings {
		messages[i] = terminal.Line(w.Message)
	}

	advice := "see the server's log"
	if slices.ContainsFunc(health.Warnings, func(w client.Warning) bool { return w.Category == "paused" }) {
		advice += "; tarsy resume ends pauses"
	}

	return finding{check, findingWarn, found + ": " + strings.Join(messages, "; "), advice}
}

func showFindings(t *tool, findings []finding, format string) error {
	failed := false
	palette := t.palette(t.Stdout)
	styles := map[string]terminal.Style{findingOK: terminal.Green, findingWarn: terminal.Yellow, findingFail: terminal.Red}

	for _, f := range findings {
		failed = failed || f.Result == findingFail

		if format == formatJSON {
			continue
		}

		result := palette.Paint(styles[f.Result], terminal.Pad(f.Result, len(findingFail)))
		if err := t.printf("%s  %s: %s\n", result, f.Check, terminal.Line(f.Found)); err != nil {
			return err
		}

		if f.Advice != "" {
			if err := t.printf("      → %s\n", terminal.Line(f.Advice)); err != nil {
				return err
			}
		}
	}

	if format == formatJSON {
		if err := t.printJSON(findings); err != nil {
			return err
		}
	}

	if failed {
		return errShown
	}

	return nil
}
