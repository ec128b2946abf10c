package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
)

// processSettings is what a server in a process of its own is told.
type processSettings struct {
	Config   string
	Database string
	// Model is the address of the model, see remoteModel.
	Model string
	// Env are the environment variables that the configuration names.
	Env map[string]string
}

// processHello is what it says once it answers requests.
type processHello struct {
	URL      string
	ServerID string
}

// serveProcess is the whole life of a server process: signals and wiring as `tarsy serve` has them, with a model that
// lives in the test's process.
func serveProcess(raw string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	// A second signal means what it means to every program.
	context.AfterFunc(ctx, stop)

	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)

		os.Exit(1) // the test is gone
	}()

	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))

	if err := serveUntil(ctx, raw, logger); err != nil {
		logger.Error("the server failed", "error", err)

		return 1
	}

	return 0
}

func serveUntil(ctx context.Context, raw string, logger *slog.Logger) error {
	var settings processSettings
	if err := json.Unmarshal([]byte(raw), &settings); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "process.yaml", Text: []byte(settings.Config)}}})
	if err != nil {
		return fmt.Errorf("load the configuration: %w", err)
	}

	server, err := app.New(ctx, app.Options{
		Config: cfg, DatabaseURL: settings.Database, Listen: "127.0.0.1:0", LLM: &remoteModel{URL: settings.Model},
		Env:    func(name string) (string, bool) { value, ok := settings.Env[name]; return value, ok },
		Logger: logger, Version: "test",
	})
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}

	if err := server.Start(ctx); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}

	hello, err := json.Marshal(processHello{URL: "http://" + server.Addr(), ServerID: server.ServerID()})
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}

	fmt.Println(helloMark + string(hello))

	<-ctx.Done()

	return server.Stop(context.WithoutCancel(ctx))
}
