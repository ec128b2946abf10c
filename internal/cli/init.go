package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
)

const (
	// initDir is the default output directory.
	initDir = "config"
	// initReceiver is the name of the receiver that init configures for Alertmanager, and tokenVariable the variable of its token.
	initReceiver  = "main"
	tokenVariable = "TARSY_ALERTMANAGER_TOKEN"
)

// initFlags are the flags of init.
type initFlags struct {
	*serverFlags

	prometheus string
	url        string
	yes        bool
	force      bool
}

func initCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "init", Short: "Write a first configuration for your cluster and your Alertmanager", GroupID: groupHelp, Args: namedArgs,
		Long: `Looks for what a first real investigation needs: an API key of an LLM provider in the environment, a kubeconfig or the service
account of a pod, and Prometheus. On a terminal it asks for what it does not find; with --yes, or without a terminal, it uses the defaults
and reports what is missing.

It writes tarsy.yaml, the commented configuration, and tarsy.env, the variables that the server needs, with a new token for Alertmanager. API
keys are never written. Then it runs the checks of tarsy doctor and prints what to paste into Alertmanager. Existing files are
replaced only with --force, which keeps the token.`,
		Example: `  tarsy init
  tarsy init --config-dir ./config --yes
  tarsy init --prometheus http://prometheus.monitoring:9090 --url http://tarsy.internal:8080`,
	}
	flags := &initFlags{serverFlags: newServerFlags(t, cmd, "tarsy", "warn").configured(cmd)}
	cmd.Flags().Lookup("config-dir").Usage = "directory to write to (default ./" + initDir + ") [TARSY_CONFIG_DIR]"
	cmd.Flags().StringVar(&flags.prometheus, "prometheus", "http://localhost:9090", "address of Prometheus; empty for none")
	cmd.Flags().StringVar(&flags.url, "url", "", "address at which Alertmanager reaches this server (default: the address of --listen)")
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "ask nothing")
	cmd.Flags().BoolVar(&flags.force, "force", false, "replace existing files")
	withEnv(cmd.Flags(), "prometheus", config.PrometheusVariable)

	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context()) }

	return cmd
}

func (f *initFlags) run(ctx context.Context) error {
	if f.configDir == "" {
		f.configDir = initDir
	}

	files := initFiles{dir: f.configDir}
	if err := files.check(f.force); err != nil {
		return err
	}

	found, err := f.detect(ctx)
	if err != nil {
		return err
	}

	if !f.yes && f.isTerminal(f.Stdin) && f.isTerminal(f.Stderr) {
		if err := f.askMissing(ctx, &found); err != nil {
			return err
		}
	}

	f.describeFound(found)

	if found.Token, err = f.receiverToken(files); err != nil {
		return err
	}

	if err := files.write(found); err != nil {
		return err
	}

	f.infof("\nWrote %s and %s.\n", files.config(), files.variables())

	return f.finish(ctx, files, found)
}

// finish checks the written files and prints the next steps. Findings do not make init fail: the files exist, and what is missing may be
// set only where the server runs.
func (f *initFlags) finish(ctx context.Context, files initFiles, found environment) error {
	// The server will have these variables, but this process does not.
	there := *f.tool
	there.Env = append(found.variables(), f.Env...)
	checked := *f.serverFlags
	checked.tool = &there

	findings := append(checked.checkMachine(ctx), checked.checkConfiguration(ctx, false)...)

	err := showFindings(f.tool, findings, formatText)
	if err != nil && !errors.Is(err, errShown) {
		return err
	}

	if err != nil {
		f.infof("\nFix what failed above, then run %s doctor --config-dir %s again.", f.Name, quoteForShell(f.configDir))
	}

	f.infof("\nStart the server:\n\n  set -a; . %s; set +a\n  %s\n", quoteForShell(files.variables()), f.serveCommand(found.URL))
	f.infof("Add to alertmanager.yml:\n")

	credentials := "<" + tokenVariable + " of " + files.variables() + ">"
	if f.isTerminal(f.Stdout) { // elsewhere it would end up in a log
		credentials = found.Token
	}

	receiver := config.Receiver{Source: string(tarsy.SourceAlertmanager), Name: initReceiver}

	return f.printf("%s", alert.AlertmanagerConfig(strings.TrimRight(found.URL, "/")+receiver.Path(), credentials))
}

// serveCommand returns the command that starts the server, with the flags that were given to init. It listens where Alertmanager can reach it
// at address.
func (f *initFlags) serveCommand(address string) string {
	command := f.Name + " serve --config-dir " + quoteForShell(f.configDir)
	add := func(name, value string) {
		if f.origins[name] == originFlag+name {
			command += " --" + name + " " + quoteForShell(value)
		}
	}

	add("data-dir", f.dataDir)
	add("pg-bin", f.pgBin)
	add("database-url", f.shownDatabaseURL())

	public := listenFlag(address)
	if host, _, err := net.SplitHostPort(f.listen); f.given("listen") && (public == "" || err == nil && !app.IsLoopback(host)) {
		add("listen", f.listen)

		return command
	}

	return command + public
}

// shownDatabaseURL returns the address of the database. Where it would end up in a log, the password is hidden.
func (f *initFlags) shownDatabaseURL() string {
	if f.isTerminal(f.Stderr) {
		return f.databaseURL
	}

	return hidePassword(f.databaseURL)
}

// listenFlag returns the flag that makes a server reachable at an address; empty if none is needed.
func listenFlag(address string) string {
	at, err := url.Parse(address)
	if err != nil || app.IsLoopback(at.Hostname()) {
		return ""
	}

	return " --listen 0.0.0.0:" + cmp.Or(at.Port(), "8080")
}

// describeFound reports the values for the configuration, and what is missing.
func (f *initFlags) describeFound(found environment) {
	report := func(what, text string) { f.infof("%-12s %s", what, text) }

	if found.KeySet {
		report("LLM provider", fmt.Sprintf("%s (%s is set)", found.Provider, found.KeyVariable))
	} else {
		report("LLM provider", fmt.Sprintf("%s; no API key found: set %s where the server runs", found.Provider, found.KeyVariable))
	}

	switch {
	case found.Kubeconfig != "":
		report("Kubernetes", found.Kubeconfig)
	case found.InCluster:
		report("Kubernetes", "the service account of this pod")
	default:
		report("Kubernetes", "no kubeconfig found: set KUBECONFIG where the server runs")
	}

	switch {
	case found.Prometheus == "":
		report("Prometheus", "not found: agents cannot query metrics; see --prometheus")
	case !found.PrometheusAnswers:
		report("Prometheus", found.Prometheus+", which does not answer from here")
	default:
		report("Prometheus", found.Prometheus)
	}
}

// initFiles are the two files that init writes.
type initFiles struct{ dir string }

func (f initFiles) config() string    { return filepath.Join(f.dir, "tarsy.yaml") }
func (f initFiles) variables() string { return shellPath(filepath.Join(f.dir, "tarsy.env")) }

// shellPath returns a path for the shell's dot command, which searches PATH if there is no slash.
func shellPath(path string) string {
	if strings.ContainsRune(path, filepath.Separator) {
		return path
	}

	return "." + string(filepath.Separator) + path
}

// check refuses to overwrite existing files without force.
func (f initFiles) check(force bool) error {
	for _, path := range []string{f.config(), f.variables()} {
		_, err := os.Lstat(path)

		switch {
		case err == nil && !force:
			return fmt.Errorf("%s exists; use --force to replace it, or another --config-dir", path)
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("look for earlier files: %w", err)
		}
	}

	return nil
}
