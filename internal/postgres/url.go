package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

var errBadURL = errors.New("is not a PostgreSQL address such as postgres://user:password@host/database")

// CheckURL reports whether a database address can be parsed, without connecting. The error does not repeat the address,
// which may contain a password.
func CheckURL(address string) error {
	if _, err := pgxpool.ParseConfig(address); err != nil {
		return errBadURL
	}

	return nil
}
