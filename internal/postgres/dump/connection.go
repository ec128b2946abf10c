package dump

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// connectTimeout bounds the attempt to connect, unless the address does.
const connectTimeout = 10 * time.Second

func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}

	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}

	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "tarsy database"
	}

	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}

	return conn, nil
}

// serverVersion returns the version of the server, such as "15.13", without a distribution's suffix.
func serverVersion(conn *pgx.Conn) string {
	version, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), " ")

	return version
}

// fixSettings makes PostgreSQL write values the same way everywhere, and removes the time limits of the transaction. Like LOCK,
// and unlike a query, SET does not take the transaction's snapshot.
func fixSettings(ctx context.Context, conn *pgx.Conn) error {
	settings := []string{
		"datestyle = 'ISO, MDY'", "intervalstyle = 'postgres'", "timezone = 'UTC'", "extra_float_digits = 1", "bytea_output = 'hex'",
		"statement_timeout = 0", "idle_in_transaction_session_timeout = 0", "lock_timeout = 0",
	}

	const withTransactionTimeout = 17

	major, _, _ := strings.Cut(serverVersion(conn), ".")
	if number, err := strconv.Atoi(major); err == nil && number >= withTransactionTimeout {
		settings = append(settings, "transaction_timeout = 0")
	}

	if _, err := conn.Exec(ctx, "SET LOCAL "+strings.Join(settings, "; SET LOCAL ")); err != nil {
		return fmt.Errorf("set up the connection: %w", err)
	}

	return nil
}
