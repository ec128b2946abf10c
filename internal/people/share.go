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

// Share makes a link by which anybody can read a session for a while, and returns it with its secret, which is stored nowhere.
func (d *Desk) Share(ctx context.Context, sessionID, author string, life time.Duration) (tarsy.Share, string, error) {
	if err := d.sharable(ctx, sessionID); err != nil {
		return tarsy.Share{}, "", err
	}

	now := calendar.Time(d.cfg.Clock.Now())
	share := tarsy.Share{ID: ident.New(), SessionID: sessionID, Author: author, CreatedAt: now, ExpiresAt: now.Add(life)}
	secret, hash := auth.NewShareSecret()

	return share, secret, d.cfg.DB.CreateShare(ctx, share, hash)
}

// Shares returns the shares of a session, the newest first, also those that are over.
func (d *Desk) Shares(ctx context.Context, sessionID string) ([]tarsy.Share, error) {
	if err := d.sharable(ctx, sessionID); err != nil {
		return nil, err
	}

	return d.cfg.DB.Shares(ctx, sessionID)
}

// RevokeShare ends a share of a session at once. Revoking twice is revoking once.
func (d *Desk) RevokeShare(ctx context.Context, sessionID, id string) (tarsy.Share, error) {
	if err := d.sharable(ctx, sessionID); err != nil {
		return tarsy.Share{}, err
	}

	var share *tarsy.Share

	if ident.Valid(id) {
		var err error

		share, err = d.cfg.DB.RevokeShare(ctx, sessionID, id, calendar.Time(d.cfg.Clock.Now()))
		if err != nil {
			return tarsy.Share{}, err
		}
	}

	if share == nil {
		return tarsy.Share{}, tarsy.Errorf(tarsy.CodeShareNotFound, "the session has no share %q", plaintext.Cut(plaintext.Clean(id), 40))
	}

	return *share, nil
}

// sharable checks that there is a session that can be shared.
func (d *Desk) sharable(ctx context.Context, id string) error {
	_, err := d.cfg.DB.RequestTarget(ctx, id)

	return err
}

// OpenShare finds the share of a secret and counts the use; nil means that nobody can read by it. What is wrong with it is not told.
func (d *Desk) OpenShare(ctx context.Context, secret string) (*tarsy.Share, error) {
	if !auth.MayBeShareSecret(secret) {
		return nil, nil //nolint:nilnil // none is an answer
	}

	return d.cfg.DB.UseShare(ctx, auth.Hash(secret), calendar.Time(d.cfg.Clock.Now()))
}
