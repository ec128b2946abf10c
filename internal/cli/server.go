package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mcp"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/web"
)

// serverFlags are the flags of commands that run a server.
type serverFlags struct {
	*tool

	listen    string
	dataDir   string
	configDir string
	// tlsCert and tlsKey are files; they override those of the configuration.
	tlsCert, tlsKey string
	databaseURL     string
	// adminListen overrides system.admin_listen.
	adminListen string
	// databaseWait is how long to wait for the database during the start.
	databaseWait time.Duration
	pgBin        string
	workers      int
	auth         *choice
	logLevel     *choice
	logFormat    *choice

	dataDirName string // in the user's data directory
}

const (
	authAuto = "auto"
	authOn   = "on"
	authOff  = "off"
)

func newServerFlags(t *tool, cmd *cobra.Command, dataDirName, logLevel string) *serverFlags {
	f := &serverFlags{
		tool: t, auth: newChoice(authAuto, authOn, authOff), logLevel: &choice{value: logLevel, allowed: []string{"debug", "info", "warn", "error"}},
		logFormat: newChoice(formatText, formatJSON), dataDirName: dataDirName,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address to listen on; port 0 chooses a free one")
	flags.StringVar(&f.adminListen, "admin-listen", "", "loopback address of a second listener with metrics, profiles and the log level (default: system.admin_listen of the configuration, or none)")
	flags.StringVar(&f.dataDir, "data-dir", "", "directory of the private PostgreSQL and the first admin key (default ~/.local/share/"+dataDirName+")")
	flags.StringVar(&f.databaseURL, "database-url", "", "PostgreSQL to use instead of a private one, as postgres://user:password@host/name")
	flags.DurationVar(&f.databaseWait, "database-wait", time.Minute, "how long to wait at the start for a database that is not available")
	flags.StringVar(&f.pgBin, "pg-bin", "", "directory of the PostgreSQL server programs (default: searched for)")
	flags.IntVar(&f.workers, "workers", 0, "number of sessions to run concurrently (default: queue.worker_count of the configuration)")
	flags.Var(f.logLevel, "log-level", "lowest level to log")
	flags.Var(f.logFormat, "log-format", "log format")

	for name, variable := range map[string]string{
		"listen": "TARSY_LISTEN", "admin-listen": "TARSY_ADMIN_LISTEN", "data-dir": "TARSY_DATA_DIR", "database-url": "TARSY_DATABASE_URL", "database-wait": "TARSY_DATABASE_WAIT", "pg-bin": "TARSY_PG_BIN",
		"workers": "TARSY_WORKERS", "log-level": "TARSY_LOG_LEVEL", "log-format": "TARSY_LOG_FORMAT",
	} {
		withEnv(flags, name, variable)
	}

	return f
}

// configured adds the flags of servers other than the demo.
func (f *serverFlags) configured(cmd *cobra.Command) *serverFlags {
	configFlag(cmd, &f.configDir)
	cmd.Flags().StringVar(&f.tlsCert, "tls-cert", "", "PEM file of a certificate to serve HTTPS with (default: system.tls.cert_file of the configuration)")
	cmd.Flags().StringVar(&f.tlsKey, "tls-key", "", "PEM file of its private key (default: system.tls.key_file of the configuration)")
	withEnv(cmd.Flags(), "tls-cert", "TARSY_TLS_CERT")
	withEnv(cmd.Flags(), "tls-key", "TARSY_TLS_KEY")
	cmd.Flags().Var(f.auth, "auth", "require an API key; auto requires one unless the address is loopback")
	withEnv(cmd.Flags(), "auth", "TARSY_AUTH")

	return f
}

func configFlag(cmd *cobra.Command, target *string) {
	cmd.Flags().StringVar(target, "config-dir", "", "directory of YAML files, or one file (default: built-in configuration)")
	withEnv(cmd.Flags(), "config-dir", "TARSY_CONFIG_DIR")
}

// load reads the configuration, applies the flags, and checks what this machine must provide.
func (f *serverFlags) load(files ...config.File) (*config.Config, error) {
	if err := f.readDotEnv(f.configDir); err != nil {
		return nil, err
	}

	cfg, err := config.Load(config.Source{Path: f.configDir, Files: files, Env: f.lookup})
	if err != nil {
		return nil, err
	}

	if f.given("workers") {
		err = f.setWorkers(cfg, f.workers)
	}

	if err == nil && f.given("tls-cert") {
		err = cfg.Override("system.tls.cert_file", f.tlsCert, f.origins["tls-cert"])
	}

	if err == nil && f.given("tls-key") {
		err = cfg.Override("system.tls.key_file", f.tlsKey, f.origins["tls-key"])
	}

	if err == nil && f.given("admin-listen") {
		err = cfg.Override("system.admin_listen", f.adminListen, f.origins["admin-listen"])
	}

	if err != nil {
		return nil, err
	}

	if err := cfg.Validate(); err != nil {
		return cfg, err
	}

	return cfg, cfg.CheckUsers(mcp.CheckUser)
}

// setWorkers sets the number of workers. Workers beyond the session limit would be idle, so the limit follows unless a file sets it.
func (f *serverFlags) setWorkers(cfg *config.Config, workers int) error {
	origin := f.origins["workers"]

	if workers < 1 {
		return usageError{fmt.Errorf("%s: at least one worker is needed, not %d", origin, workers)}
	}

	if err := cfg.Override("queue.worker_count", strconv.Itoa(workers), origin); err != nil {
		return err
	}

	if cfg.Queue.MaxConcurrentSessions < workers && builtIn(cfg, "queue.max_concurrent_sessions") {
		return cfg.Override("queue.max_concurrent_sessions", strconv.Itoa(workers), origin)
	}

	return nil
}

func builtIn(cfg *config.Config, path string) bool {
	for _, value := range cfg.Origins() {
		if value.Path == path {
			return value.Origin == "built-in"
		}
	}

	return false
}

// checkAddresses rejects addresses that no server could use.
func (f *serverFlags) checkAddresses() error {
	_, port, err := net.SplitHostPort(f.listen)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}

	if err != nil {
		return usageError{fmt.Errorf("%s: %q is not an address such as 127.0.0.1:8080", f.origins["listen"], terminal.Line(f.listen))}
	}

	if f.databaseURL == "" {
		return nil
	}

	if err := postgres.CheckURL(f.databaseURL); err != nil {
		return usageError{fmt.Errorf("%s: %w", f.origins["database-url"], err)}
	}

	return nil
}

// options converts flags to the options of an app.
func (f *serverFlags) options(cfg *config.Config) (app.Options, error) {
	if f.databaseWait < 0 {
		return app.Options{}, usageError{fmt.Errorf("%s must not be negative, it is %s", f.origins["database-wait"], f.databaseWait)}
	}

	if err := f.checkAddresses(); err != nil {
		return app.Options{}, err
	}

	dir, err := f.directory()
	if err != nil {
		return app.Options{}, err
	}

	level := f.level()

	return app.Options{
		Config: cfg, DatabaseURL: f.databaseURL, DatabaseWait: f.databaseWait, DataDir: dir, PGBinDir: f.pgBin, Listen: f.listen,
		RequireKey: requireKey(f.auth.value, f.listen), Logger: f.logger(level), LogLevel: level, Version: buildVersion().Version, Env: f.lookup,
		Progress: func(text string) { f.infof("%s", text) }, Scripted: scriptedModel(),
	}, nil
}

var errNoHome = errors.New("no home directory to keep data in; choose a directory with --data-dir")

// directory returns the directory of the private PostgreSQL; empty if there is none and --data-dir is not set.
func (f *serverFlags) directory() (string, error) {
	if f.dataDir != "" || f.databaseURL != "" {
		return f.dataDir, nil
	}

	return f.defaultDirectory()
}

func (f *serverFlags) defaultDirectory() (string, error) {
	if base, ok := f.variable("XDG_DATA_HOME"); ok && filepath.IsAbs(base) {
		return filepath.Join(base, f.dataDirName), nil
	}

	if home, ok := f.variable("HOME"); ok {
		return filepath.Join(home, ".local", "share", f.dataDirName), nil
	}

	return "", errNoHome
}

// requireKey reports whether requests need a key.
func requireKey(mode, listen string) bool {
	if mode != authAuto {
		return mode == authOn
	}

	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return true
	}

	return !app.IsLoopback(host)
}

// level returns the lowest level to log. It can be changed later.
func (f *serverFlags) level() *slog.LevelVar {
	var level slog.LevelVar
	// The flag allows only level names.
	_ = level.UnmarshalText([]byte(f.logLevel.value))

	return &level
}

func (f *serverFlags) logger(level *slog.LevelVar) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}

	if f.logFormat.value == formatJSON {
		return slog.New(slog.NewJSONHandler(f.Stderr, options))
	}

	return slog.New(slog.NewTextHandler(f.Stderr, options))
}

// runServer runs a server until ctx is done, and stops it in order. It calls prepare before the server answers requests, and ready after.
func runServer(ctx context.Context, t *tool, options app.Options, prepare, ready func(context.Context, *app.App) error) error {
	app.Tune(t.lookup)

	server, err := prepareServer(ctx, t, options, prepare)
	if err != nil {
		return err
	}

	err = server.Start(ctx)

	if err == nil {
		err = ready(ctx, server)
	}

	if err == nil {
		err = attendServer(ctx, t, server)
	}

	if ctx.Err() != nil {
		t.infof("\nStopping: running sessions are kept and continue at the next start. Press Ctrl-C again to exit immediately.")

		err = nil
	}

	began := time.Now()

	if stopErr := stopServer(ctx, server, options.Config); stopErr != nil {
		return errors.Join(err, stopErr)
	}

	if ctx.Err() != nil {
		t.infof("Stopped after %.1f s.", time.Since(began).Seconds())
	}

	return err
}

// prepareServer wires a server and prepares it. If the database stops responding during this, it starts over and waits as for a database
// that was unavailable from the beginning.
func prepareServer(ctx context.Context, t *tool, options app.Options, prepare func(context.Context, *app.App) error) (*app.App, error) {
	const pause = 500 * time.Millisecond

	began, wait := time.Now(), options.DatabaseWait

	for {
		server, err := app.New(ctx, options)
		if err == nil {
			done := server.Step("checking what the database holds")
			limited, cancel := context.WithTimeout(ctx, postgres.AnswerTime)
			err = prepare(limited, server)

			cancel()
			done()

			if err == nil {
				return server, nil
			}

			err = errors.Join(err, stopServer(ctx, server, options.Config))
		}

		options.DatabaseWait = wait - time.Since(began)
		if options.DatabaseWait <= 0 || ctx.Err() != nil || !postgres.IsTransient(err) {
			return nil, err
		}

		t.infof("The database stopped responding during the start. Starting again (%s of %s): %s",
			time.Since(began).Round(time.Second), wait, strings.Join(strings.Fields(err.Error()), " "))

		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

// stopServer stops a server within the configured time, even if ctx is done.
func stopServer(ctx context.Context, server *app.App, cfg *config.Config) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), app.StopTime(cfg.Queue))
	defer cancel()

	return server.Stop(ctx)
}

// attendServer waits until ctx is done or the server fails, and reloads the configuration on request.
func attendServer(ctx context.Context, t *tool, server *app.App) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-server.Failed():
			t.infof("Stopping: the database cannot be kept running.")

			return err
		case <-t.reloads:
			// The log has the result; the error lists every problem.
			if _, err := server.Reload(ctx, false, "SIGHUP"); err != nil {
				t.infof("%s", err)
			}
		}
	}
}

// address returns the URL of a server for clients.
func address(server *app.App) string {
	scheme := "http://"
	if server.Secure() {
		scheme = "https://"
	}

	host, port, err := net.SplitHostPort(server.Addr())
	if err != nil {
		return scheme + server.Addr()
	}

	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}

	return scheme + net.JoinHostPort(host, port)
}

// dashboard returns the URL of the dashboard, or why there is none.
func dashboard(server string) string {
	if !web.Built() {
		return "not in this binary; install Node and run make build"
	}

	return server + "/"
}

// publicDashboard returns the URL at which people open the dashboard: the configured address, else the server's own.
func publicDashboard(cfg *config.Config, server string) string {
	if public := cfg.System.Dashboard(); public != nil && web.Built() {
		return public.String()
	}

	return dashboard(server)
}
