package pgtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	templatePrefix = "tarsy_tmpl_"
	// templateLock is held while templates are inspected, built or dropped.
	templateLock int64 = 0x7461727379_74
	// templateRetention is how long an unused template is kept: branches come back.
	templateRetention = 7 * 24 * time.Hour
)

// schema is what a template contains: a name for it, and how to create it in an empty database.
type schema struct {
	hash    string
	migrate func(ctx context.Context, url string) error
	// icu sorts by ICU's rules for English if the server can: databases that are not ours do not sort by bytes.
	icu bool
}

// ensureTemplate builds the template if it does not exist, and drops those that have not been used for a while. The time of the
// last use is stored as the database's comment.
func (r *run) ensureTemplate(ctx context.Context, wanted schema) error {
	if _, err := r.connection.Exec(ctx, "SELECT pg_advisory_lock($1)", templateLock); err != nil {
		return fmt.Errorf("wait for the lock of the templates: %w", err)
	}
	err := r.renewTemplates(ctx, wanted)
	if _, unlockErr := r.connection.Exec(ctx, "SELECT pg_advisory_unlock($1)", templateLock); err == nil {
		err = unlockErr
	}
	if err != nil {
		return fmt.Errorf("make the template database: %w", err)
	}
	return nil
}

func (r *run) renewTemplates(ctx context.Context, wanted schema) error {
	rows, err := r.connection.Query(ctx,
		"SELECT datname, coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE starts_with(datname, $1)", templatePrefix)
	if err != nil {
		return err
	}
	type template struct{ Name, Used string }
	templates, err := pgx.CollectRows(rows, pgx.RowToStructByPos[template])
	if err != nil {
		return err
	}
	exists := false
	now := time.Now()
	for _, found := range templates {
		if found.Name == r.template {
			exists = true
			continue
		}
		used, err := time.Parse(time.RFC3339, found.Used)
		if err != nil || now.Sub(used) > templateRetention {
			if err := r.dropTemplate(ctx, found.Name); err != nil {
				return err
			}
		}
	}
	if !exists {
		if err := r.buildTemplate(ctx, wanted); err != nil {
			return err
		}
	}
	_, err = r.connection.Exec(ctx, "COMMENT ON DATABASE "+quote(r.template)+" IS '"+now.UTC().Format(time.RFC3339)+"'")
	return err
}

// buildTemplate builds under a name of this run, so that a template gets its name only when it is complete, and an interrupted
// one is a leftover like others. Connections to it are disabled afterwards, because PostgreSQL does not clone a database that is
// in use.
func (r *run) buildTemplate(ctx context.Context, wanted schema) error {
	temporary := r.database("template")
	if _, err := r.connection.Exec(ctx, "CREATE DATABASE "+quote(temporary)+" TEMPLATE template0"+r.locale); err != nil {
		return err
	}
	err := wanted.migrate(ctx, r.url(temporary))
	for _, statement := range []string{
		"ALTER DATABASE " + quote(temporary) + " WITH ALLOW_CONNECTIONS false",
		"ALTER DATABASE " + quote(temporary) + " RENAME TO " + quote(r.template),
	} {
		if err == nil {
			_, err = r.connection.Exec(ctx, statement)
		}
	}
	if err != nil {
		return errors.Join(err, r.dropTemplate(ctx, temporary))
	}
	return nil
}

func (r *run) dropTemplate(ctx context.Context, name string) error {
	_, err := r.connection.Exec(ctx, "DROP DATABASE "+quote(name)+" WITH (FORCE)")
	return err
}
