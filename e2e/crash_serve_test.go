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

// processSettings configure a server that runs in its own process.
type processSettings struct {
	Config   string
	Database string
	// Model is the address of the model, see remoteModel.
	Model string
	// Env has the environment variables that the configuration refers to.
	Env map[string]string
}

// processHello is what the process prints once it answers requests.
type processHello struct {
	URL      string
	ServerID string
}

// serveProcess runs a server process from start to end: signals and wiring as in `tarsy serve`, with a model in the test's process.
func serveProcess(raw string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	// A second signal has its default effect.
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
