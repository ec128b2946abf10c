package cli

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/config"
)

func configCommand(t *tool) *cobra.Command {
	return group(&cobra.Command{
		Use: "config", Short: "Validate, show and reload the configuration", GroupID: groupHelp,
		Example: `  tarsy config check --config-dir ./config
  tarsy config show --config-dir ./config
  tarsy config reload --dry-run
  tarsy config schema > tarsy.schema.json`,
	}, checkConfigCommand(t), showConfigCommand(t), routeAlertsCommand(t), reloadConfigCommand(t), configSchemaCommand(t))
}

// problem is one problem as config check prints it.
type problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// verdict is the result of config check.
type verdict struct {
	OK       bool      `json:"ok"`
	Problems []problem `json:"problems"`
	Warnings []problem `json:"warnings"`
	// Notes are about keys that have no effect.
	Notes []problem `json:"notes"`
}

func checkConfigCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check", Short: "Validate the configuration and report every problem", Args: namedArgs,
		Long: `Prints every problem with its file and line, and exits with code 1 if there is one. It loads the configuration the way serve
does, with the same flags and variables, so a configuration that passes does not stop the server. Variables of the tarsy.env that tarsy
init wrote next to the configuration count as set. Users that MCP servers run as
(transport.user) must exist on this machine, so run it where the server runs if there are any.`,
		Example: "  tarsy config check --config-dir ./config\n  tarsy config check --config-dir tarsy.yaml -o json",
	}

	flags := newServerFlags(t, cmd, "tarsy", "info").configured(cmd)
	format := outputFlag(cmd)

	cmd.RunE = func(*cobra.Command, []string) error {
		if path := flags.addWrittenVariables(); path != "" {
			t.infof("With the variables of %s, which the server needs too.", path)
		}

		cfg, err := flags.load()
		failed, isFault := errors.AsType[*config.Error](err)

		if err != nil && !isFault {
			return err
		}

		found := verdict{Problems: []problem{}, Warnings: []problem{}, Notes: []problem{}}

		var (
			problems []config.Problem
			warnings []config.Warning
			notes    []config.Note
		)

		if isFault {
			problems = failed.Problems
		} else {
			// The files are valid or invalid on every machine, except for users; but keys are set only where the server runs.
			chains := chain.NewCatalog(cfg)
			warnings, notes = chains.Warnings(), chains.Notes()

			for _, p := range slices.Concat(chains.UnsetVariables(t.lookup), cfg.UnsetVariables(t.lookup)) {
				warnings = append(warnings, config.Warning{File: p.File, Line: p.Line, Column: p.Column, Path: p.Path, Message: p.Message})
			}

			found.Warnings, found.Notes = shownWarnings(warnings), shownWarnings(notes)
		}

		for _, p := range problems {
			found.Problems = append(found.Problems, problem(p))
		}

		found.OK = len(problems) == 0

		return printConfigCheck(t, found, problems, warnings, notes, format.value)
	}

	return cmd
}

func shownWarnings(warnings []config.Warning) []problem {
	shown := make([]problem, 0, len(warnings))
	for _, w := range warnings {
		shown = append(shown, problem{File: w.File, Line: w.Line, Column: w.Column, Path: w.Path, Message: w.Message})
	}

	return shown
}

func printConfigCheck(t *tool, found verdict, problems []config.Problem, warnings []config.Warning, notes []config.Note, format string) error {
	var err error

	switch {
	case format == formatJSON:
		err = t.printJSON(found)
	case len(problems) > 0:
		for _, p := range problems {
			err = errors.Join(err, t.printf("%s\n", p))
		}
	default:
		for _, w := range warnings {
			err = errors.Join(err, t.printf("warning: %s\n", w))
		}

		for _, n := range notes {
			err = errors.Join(err, t.printf("note: %s\n", n))
		}

		t.infof("The configuration is valid.")
	}

	if err == nil && !found.OK {
		if format == formatText {
			t.infof("%d problems found.", len(found.Problems))
		}

		return errShown
	}

	return err
}

// setting is one value as config show prints it.
type setting struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

func showConfigCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Show every setting and where it came from", Args: namedArgs,
		Long: `Prints every setting with its value and origin: a flag, an environment variable, a file and line, or the built-in default.
Secrets and values from {{.VAR}} are hidden. It accepts the flags of serve, to show their effect.`,
		Example: "  tarsy config show\n  TARSY_WORKERS=8 tarsy config show --config-dir ./config -o json",
	}
	flags := newServerFlags(t, cmd, "tarsy", "info").configured(cmd)
	format := outputFlag(cmd)

	cmd.RunE = func(*cobra.Command, []string) error {
		cfg, err := flags.load()
		if err != nil {
			return err
		}

		settings := flags.settings()
		for _, v := range cfg.Origins() {
			settings = append(settings, setting(v))
		}

		if format.value == formatJSON {
			return t.printJSON(settings)
		}

		const longestValue = 80

		rows := make([][]string, 0, len(settings))
		for _, s := range settings {
			rows = append(rows, []string{s.Path, terminal.Truncate(terminal.Line(s.Value), longestValue), s.Origin})
		}

		return t.table([]column{{name: "SETTING"}, {name: "VALUE", cut: true}, {name: "FROM"}}, rows)
	}

	return cmd
}

// settings returns the settings that exist only as flags and variables.
func (f *serverFlags) settings() []setting {
	dir, err := f.directory()
	if err != nil {
		dir = ""
	}

	var settings []setting

	for _, s := range []struct{ flag, value string }{
		{"listen", f.listen}, {"auth", f.auth.value}, {"config-dir", f.configDir}, {"data-dir", dir},
		{"database-url", hidePassword(f.databaseURL)}, {"pg-bin", f.pgBin}, {"log-level", f.logLevel.value}, {"log-format", f.logFormat.value},
	} {
		if s.value != "" {
			settings = append(settings, setting{Path: "--" + s.flag, Value: s.value, Origin: f.origins[s.flag]})
		}
	}

	return settings
}

// hidePassword keeps what identifies the database and hides the credentials. An address that is not a URL is hidden as a whole.
func hidePassword(text string) string {
	if text == "" {
		return ""
	}

	address, err := url.Parse(text)
	if err != nil || address.Host == "" && address.Scheme == "" {
		return config.Hidden
	}

	shown := fmt.Sprintf("%s://%s%s", address.Scheme, address.Host, address.Path)
	if address.User != nil || address.RawQuery != "" {
		shown += " (credentials hidden)"
	}

	return shown
}

func configSchemaCommand(t *tool) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the configuration files, for editors", Args: namedArgs,
		Example: "  tarsy config schema > tarsy.schema.json",
		RunE:    func(*cobra.Command, []string) error { return t.printf("%s", config.Schema()) },
	}
}
