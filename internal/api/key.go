package api

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/ident"
)

// keyRequest is the body that creates a key.
type keyRequest struct {
	Name   string        `doc:"The name of the user; the author of what is done with the key." json:"name"   maxLength:"100" minLength:"1"`
	Scopes []tarsy.Scope `doc:"The scopes of the key: admin includes write, write includes read." json:"scopes" minItems:"1"`

	ExpiresAt string   `doc:"Expiry time; if absent, the key does not expire." format:"date-time" json:"expires_at,omitempty"`
	Teams     []string `doc:"Teams whose sessions the key sees if sessions are visible by team; without any it sees all. An admin always sees all." json:"teams,omitempty" maxItems:"20"`
}

type createdKeyOutput struct{ Body createdKey }

type createdKey struct {
	Key string `doc:"The secret. It is returned only once." json:"key"`

	tarsy.APIKey
}

type keysOutput struct{ Body keyList }

type keyList struct {
	Keys []tarsy.APIKey `json:"keys"`
}

type keyInput struct {
	ID string `doc:"The id or the prefix of a key." path:"id"`
}

type keyOutput struct{ Body tarsy.APIKey }

func (a *account) createKey(ctx context.Context, _ *struct{}) (*createdKeyOutput, error) {
	request, err := readRequest[keyRequest](callerOf(ctx).body)
	if err != nil {
		return nil, err
	}

	issued, err := auth.Issue(request.Name, request.Scopes, a.clock.Now())
	if err != nil {
		return nil, err
	}

	err = issued.LimitTo(request.Teams)
	if err != nil {
		return nil, err
	}

	if request.ExpiresAt != "" {
		at, err := time.Parse(time.RFC3339, request.ExpiresAt)
		if err != nil {
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "expires_at", "expires_at must be a time such as 2027-01-31T00:00:00Z")
		}

		err = issued.ExpireAt(at, a.clock.Now())
		if err != nil {
			return nil, err
		}
	}

	err = a.store.CreateKey(ctx, issued.Key, issued.Hash)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}

	a.logKeyChange(ctx, "key created", issued.Key)

	return &createdKeyOutput{Body: createdKey{Key: issued.Secret, APIKey: issued.Key}}, nil
}

func (a *account) listKeys(ctx context.Context, _ *struct{}) (*keysOutput, error) {
	keys, err := a.store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}

	return &keysOutput{Body: keyList{Keys: append([]tarsy.APIKey{}, keys...)}}, nil
}

func (a *account) revokeKey(ctx context.Context, in *keyInput) (*keyOutput, error) {
	if !ident.Valid(in.ID) && !auth.ValidPrefix(in.ID) {
		return nil, tarsy.Errorf(tarsy.CodeKeyNotFound, "there is no key %q", shown(in.ID))
	}

	key, err := a.store.RevokeKey(ctx, in.ID, a.clock.Now())
	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}

	a.logKeyChange(ctx, "key revoked", *key)

	return &keyOutput{Body: *key}, nil
}

// logKeyChange logs a change to a key and who made it.
func (a *account) logKeyChange(ctx context.Context, message string, key tarsy.APIKey) {
	attributes := append(callerOf(ctx).logged(), "changed_key_id", key.ID, "changed_key_name", key.Name, "changed_key_prefix", key.Prefix,
		"scopes", key.Scopes)
	if key.ExpiresAt != nil {
		attributes = append(attributes, "expires_at", *key.ExpiresAt)
	}

	a.logger.InfoContext(ctx, message, attributes...)
}
