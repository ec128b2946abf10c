package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/auth"
)

// firstKeyFile is the file in the data directory that contains the first admin key.
const firstKeyFile = "admin-key"

// bootstrap creates the first key if keys are required and there is none. It prints the path of the key's file, not the key: a server's
// output ends up in logs that agents and people with fewer rights can read.
func (f *serverFlags) bootstrap(ctx context.Context, server *app.App, logger *slog.Logger) error {
	has, err := server.Accounts().HasKeys(ctx)
	if err != nil || has {
		return err
	}

	issued, err := auth.Issue("bootstrap", []tarsy.Scope{tarsy.ScopeAdmin}, time.Now())
	if err != nil {
		return err
	}

	path, err := f.writeFirstKey(issued.Secret)
	if err != nil {
		f.infof("\nThis server requires API keys and has none. The first one could not be saved: %v", err)
		f.infof("Create one:   %s keys create NAME --scope admin --database-url URL\n", f.Name)

		return nil
	}

	deciding := audit.By(ctx, tarsy.AuditEntry{
		At: time.Now(), Actor: "bootstrap", ActorKind: tarsy.ActorSystem, Action: "key.create", TargetType: "key", Outcome: tarsy.AuditOK,
	})

	if err := server.Accounts().CreateKey(deciding, issued.Key, issued.Hash); err != nil {
		return errors.Join(err, os.Remove(path))
	}

	logger.InfoContext(ctx, "key created", "first_key", true, "changed_key_id", issued.Key.ID, "changed_key_name", issued.Key.Name,
		"changed_key_prefix", issued.Key.Prefix, "scopes", issued.Key.Scopes, "file", path)

	f.infof("\nThis server requires API keys and had none. The first admin key was saved to %s", path)
	f.infof("Use it:   export TARSY_TOKEN=\"$(cat '%s')\"", path)
	f.infof("More:     %s keys create NAME --scope write\n", f.Name)

	return nil
}

// writeFirstKey saves the key in the data directory, readable only by the owner of the process, and returns the absolute path. An existing
// file belongs to another database and is replaced as a whole.
func (f *serverFlags) writeFirstKey(secret string) (string, error) {
	dir, err := f.directory()
	if err == nil && dir == "" {
		dir, err = f.defaultDirectory()
	}

	if err != nil {
		return "", err
	}

	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}

	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create the data directory: %w", err)
	}

	// CreateTemp creates the file with mode 0600.
	file, err := os.CreateTemp(dir, firstKeyFile+"-*")
	if err != nil {
		return "", fmt.Errorf("create the key file: %w", err)
	}

	path := filepath.Join(dir, firstKeyFile)

	_, err = file.WriteString(secret + "\n")
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}

	if err != nil {
		return "", errors.Join(fmt.Errorf("write the key file: %w", err), os.Remove(file.Name()))
	}

	return path, nil
}
