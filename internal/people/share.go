package people

import (
	"context"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Share creates a link with which anyone can read a session for a limited time, and returns it with its secret, which is not
// stored.
func (d *Desk) Share(ctx context.Context, sessionID, author string, life time.Duration) (tarsy.Share, string, error) {
	if err := d.sharable(ctx, sessionID); err != nil {
		return tarsy.Share{}, "", err
	}

	now := calendar.Time(d.cfg.Clock.Now())
	share := tarsy.Share{ID: ident.New(), SessionID: sessionID, Author: author, CreatedAt: now, ExpiresAt: now.Add(life)}
	secret, hash := auth.NewShareSecret()

	return share, secret, d.cfg.Accounts.CreateShare(ctx, share, hash)
}

// Shares returns the shares of a session, newest first, including expired and revoked ones.
func (d *Desk) Shares(ctx context.Context, sessionID string) ([]tarsy.Share, error) {
	if err := d.sharable(ctx, sessionID); err != nil {
		return nil, err
	}

	return d.cfg.Accounts.Shares(ctx, sessionID)
}

// RevokeShare ends a share of a session immediately. It is idempotent.
func (d *Desk) RevokeShare(ctx context.Context, sessionID, id string) (tarsy.Share, error) {
	if err := d.sharable(ctx, sessionID); err != nil {
		return tarsy.Share{}, err
	}

	var share *tarsy.Share

	if ident.Valid(id) {
		var err error

		share, err = d.cfg.Accounts.RevokeShare(ctx, sessionID, id, calendar.Time(d.cfg.Clock.Now()))
		if err != nil {
			return tarsy.Share{}, err
		}
	}

	if share == nil {
		return tarsy.Share{}, tarsy.Errorf(tarsy.CodeShareNotFound, "the session has no share %q", plaintext.Cut(plaintext.Clean(id), 40))
	}

	return *share, nil
}

// sharable checks that the session exists and can be shared.
func (d *Desk) sharable(ctx context.Context, id string) error {
	_, err := d.cfg.DB.RequestTarget(ctx, id)

	return err
}

// OpenShare finds the share with a secret and counts the use; nil means that the secret gives no access, without saying why.
func (d *Desk) OpenShare(ctx context.Context, secret string) (*tarsy.Share, error) {
	if !auth.MayBeShareSecret(secret) {
		return nil, nil //nolint:nilnil // none is an answer
	}

	return d.cfg.Accounts.UseShare(ctx, auth.Hash(secret), calendar.Time(d.cfg.Clock.Now()))
}
