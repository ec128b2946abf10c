package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
)

func serveCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server", GroupID: groupServer, Args: namedArgs,
		Long: `Runs the server, which accepts alerts, runs the agents, and serves the API and the dashboard on one address.

Without --database-url it starts a private PostgreSQL in the data directory. On an address that is not loopback it
requires API keys; if there is none, it creates an admin key and saves it to the file admin-key in the data directory.

With --tls-cert and --tls-key it serves HTTPS only. Renewed files are loaded without a restart.

On SIGHUP it reads the configuration again and applies it to new sessions; see tarsy config reload --help. Files that are not
valid change nothing.

Ctrl-C stops it gracefully: running sessions are handed over or continue at the next start. A second Ctrl-C exits at once.`,
		Example: `  tarsy serve --config-dir ./config
  tarsy serve --listen 0.0.0.0:8080 --database-url postgres://tarsy:secret@db/tarsy
  tarsy serve --listen 0.0.0.0:8443 --tls-cert tls.crt --tls-key tls.key
  TARSY_LOG_FORMAT=json tarsy serve --workers 16`,
	}
	flags := newServerFlags(t, cmd, "tarsy", "info").configured(cmd)

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := flags.load()
		if err != nil {
			return err
		}

		options, err := flags.options(cfg)
		if err != nil {
			return err
		}

		options.Load = func() (*config.Config, func(), error) {
			previous := flags.dotEnv.Load()
			cfg, err := flags.load()

			return cfg, func() { flags.dotEnv.Store(previous) }, err
		}

		prepare := func(ctx context.Context, server *app.App) error {
			if !options.RequireKey {
				return nil
			}

			return flags.bootstrap(ctx, server, options.Logger)
		}

		return runServer(cmd.Context(), t, options, prepare, func(_ context.Context, server *app.App) error {
			warnOf(t, cfg)
			t.infof("TARSy listens on %s", address(server))

			if admin := server.AdminAddr(); admin != "" {
				t.infof("Administrative listener: http://%s", admin)
			}

			t.infof("Dashboard: %s", publicDashboard(cfg, address(server)))

			return nil
		})
	}

	return cmd
}

// warnOf prints the warnings and notes of a valid configuration.
func warnOf(t *tool, cfg *config.Config) {
	chains := chain.NewCatalog(cfg)

	for _, warning := range chains.Warnings() {
		t.infof("warning: %s", warning)
	}

	for _, note := range chains.Notes() {
		t.infof("note: %s", note)
	}

	for _, unset := range chains.UnsetVariables(t.lookup) {
		t.infof("warning: %s: sessions that need it fail", unset)
	}

	for _, unset := range slices.Concat(cfg.UnsetReceiverVariables(t.lookup), cfg.UnsetWriteBackVariables(t.lookup), cfg.UnsetSlackVariables(t.lookup), cfg.UnsetTracingVariables(t.lookup)) {
		t.infof("warning: %s", unset)
	}

	switch variable := cfg.ChosenBy(); {
	case variable != "":
		t.infof("LLM provider: %s (%s), because %s is set", cfg.Defaults.LLMProvider, cfg.LLMProviders[cfg.Defaults.LLMProvider].Model, variable)
	case cfg.LacksKey() && slices.Contains(chains.LLMProviders(), cfg.Defaults.LLMProvider):
		t.infof("note: %s", keyAdvice())
	}
}

// keyAdvice is the advice when no API key is set and no file configures a provider.
func keyAdvice() string {
	return "set one of " + strings.Join(config.KeyVariables(), ", ") + " where the server runs, or configure llm_providers"
}
