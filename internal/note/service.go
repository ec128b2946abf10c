package note

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
)

// Config is what notes stand on. Everything is required except Logger.
type Config struct {
	Store *store.DB
	// Jobs inserts the jobs that Workers work on.
	Jobs *river.Client[pgx.Tx]
	// Session reads a session; an error for people says that there is none.
	Session func(ctx context.Context, id string) (*tarsy.SessionDetail, error)
	// Mask hides secrets in what people write. It fails open.
	Mask func(string) string
	// Tries is how often jobs are tried.
	Tries  Tries
	Logger *slog.Logger
}

// Service captures notes, shows them, and has them processed again. Any number of servers may have one on the same database.
type Service struct {
	cfg Config
}

// New makes a Service.
func New(cfg Config) *Service {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	return &Service{cfg: cfg}
}
