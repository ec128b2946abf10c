package postgres

import (
	"context"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The input of an inspection's checks, for tests of what cannot be arranged on a server.
type (
	Facts         = facts
	ServerSetting = serverSetting
)

// InspectionNames returns the names of all checks.
func InspectionNames() []string {
	var names []string
	for _, check := range inspections() {
		names = append(names, check.name)
	}

	return names
}

// GatherFacts reads the facts of a real database.
func GatherFacts(ctx context.Context, url string) (*Facts, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}

	return gather(ctx, config, url)
}

// Judge runs all checks.
func (f *facts) Judge() []Observation { return f.judge() }

// ConnectionOf reports how a connection reaches the server.
func ConnectionOf(conn net.Conn) (remote, encrypted bool) {
	var f facts

	f.encryption(conn)

	return f.Remote, f.Encrypted
}

// InspectWithin is Inspect with another time limit.
func InspectWithin(ctx context.Context, url string, patience time.Duration) ([]Observation, error) {
	return inspect(ctx, url, patience)
}
