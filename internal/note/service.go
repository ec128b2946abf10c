package note

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
)

// Config holds the dependencies of a Service. Everything is required except Logger.
type Config struct {
	Store *store.DB
	// Jobs inserts the jobs that Workers work on.
	Jobs *river.Client[pgx.Tx]
	// Session reads a session. If there is none it returns a tarsy.Error.
	Session func(ctx context.Context, id string) (*tarsy.SessionDetail, error)
	// Mask hides secrets in what people write. If it fails, it returns the text unmasked.
	Mask func(string) string
	// Tries is the maximum number of attempts of a job.
	Tries  Tries
	Logger *slog.Logger
}

// Service captures, reads and reprocesses notes. Any number of servers can use one on the same database.
type Service struct {
	cfg Config
}

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	return &Service{cfg: cfg}
}
