package postgres

import "context"

// Setting returns a setting of the connections that a server works with.
func (db *DB) Setting(ctx context.Context, name string) (string, error) {
	var value string
	err := db.pool.QueryRow(ctx, `SELECT current_setting($1)`, name).Scan(&value)

	return value, err
}
