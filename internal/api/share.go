package api

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

// shareRequest is the body that shares a session.
type shareRequest struct {
	ExpiresIn string `doc:"How long the link is valid, such as 24h; at most 2160h (90 days). The default is 168h." json:"expires_in,omitempty"`
}

type shareInput struct {
	ID      string `doc:"The id of a session." path:"id"`
	ShareID string `doc:"The id of a share."   path:"share_id"`
}

type shareListOutput struct{ Body shareList }

type shareList struct {
	Shares []tarsy.Share `doc:"Newest first, including expired and revoked ones." json:"shares"`
}

type shareOutput struct{ Body tarsy.Share }

type createdShareOutput struct{ Body createdShare }

type createdShare struct {
	tarsy.Share

	Secret string `doc:"The secret of the link. It is returned only once." json:"secret"`
	URL    string `doc:"The link, if the server knows the dashboard's URL. Otherwise it is /shared#secret of the dashboard." json:"url,omitempty"`
}

type sharedInput struct {
	Authorization string `header:"Authorization" hidden:"true"`
	Cursor        cursor `doc:"The next_cursor of the previous page of the timeline." query:"cursor"`
}

type sharedOutput struct{ Body shared }

type shared struct {
	SharedBy   string               `doc:"Who shared the session."                                  json:"shared_by"`
	ExpiresAt  time.Time            `doc:"When the link expires."                                   json:"expires_at"`
	Session    tarsy.SharedSession  `json:"session"`
	Events     []tarsy.TimelineItem `doc:"The timeline. Long contents are truncated, as in previews." json:"events"`
	NextCursor string               `doc:"Cursor of the next page of the timeline; absent on the last page." json:"next_cursor,omitempty"`
}

func (d *desk) createShare(ctx context.Context, in *sessionInput) (*createdShareOutput, error) {
	who := callerOf(ctx)

	life, err := readShare(who.body)
	if err != nil {
		return nil, err
	}

	share, secret, err := d.people.Share(ctx, in.ID, who.author, life)
	if err != nil {
		return nil, fmt.Errorf("share session: %w", err)
	}

	return &createdShareOutput{Body: createdShare{Share: share, Secret: secret, URL: d.sharedURL(secret)}}, nil
}

// readShare parses how long a session is shared.
func readShare(body []byte) (time.Duration, error) {
	if body == nil {
		return tarsy.DefaultShareLife, nil
	}

	request, err := readRequest[shareRequest](body)
	if err != nil || request.ExpiresIn == "" {
		return tarsy.DefaultShareLife, err
	}

	life, err := time.ParseDuration(request.ExpiresIn)
	if err != nil || life < time.Minute || life > tarsy.MaxShareLife {
		return 0, tarsy.FieldErrorf(tarsy.CodeInvalidField, "expires_in", "expires_in must be a time from 1m to 2160h, which is 90 days")
	}

	return life, nil
}

// sharedURL returns the address of the page that shows a share. The secret is in the fragment, which browsers do not send.
func (d *desk) sharedURL(secret string) string {
	base := d.public.url
	if base == nil {
		return ""
	}

	address := base.JoinPath("/shared")
	address.RawQuery, address.Fragment = "", ""

	return address.String() + "#" + url.PathEscape(secret)
}

func (d *desk) listShares(ctx context.Context, in *sessionInput) (*shareListOutput, error) {
	shares, err := d.people.Shares(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("list shares: %w", err)
	}

	return &shareListOutput{Body: shareList{Shares: append([]tarsy.Share{}, shares...)}}, nil
}

func (d *desk) revokeShare(ctx context.Context, in *shareInput) (*shareOutput, error) {
	share, err := d.people.RevokeShare(ctx, in.ID, in.ShareID)
	if err != nil {
		return nil, fmt.Errorf("revoke share: %w", err)
	}

	return &shareOutput{Body: share}, nil
}

// getShared answers requests that have the secret of a share. Errors do not reveal why a share is unusable.
func (d *desk) getShared(ctx context.Context, in *sharedInput) (*sharedOutput, error) {
	err := d.attempts.atShares(ctx, callerOf(ctx).remote.network, d.clock.Now())
	if err != nil {
		return nil, err
	}

	query, err := (&timelineInput{Cursor: in.Cursor}).query()
	if err != nil {
		return nil, err
	}

	query.Preview = maxPreview

	share, err := d.useShare(ctx, in.Authorization)
	if err != nil {
		return nil, err
	}

	detail, err := d.store.SessionDetail(ctx, share.SessionID)
	if err != nil {
		return nil, hideSession(err)
	}

	page, err := d.store.Timeline(ctx, share.SessionID, query)
	if err != nil {
		return nil, hideSession(err)
	}

	out := shared{SharedBy: share.Author, ExpiresAt: share.ExpiresAt, Session: detail.Shared(), Events: []tarsy.TimelineItem{}}

	for _, event := range page.Events {
		if out.Session.Shows(event.TimelineEvent) {
			out.Events = append(out.Events, event)
		}
	}

	if page.More {
		out.NextCursor, err = encodeCursor(timelineCursor{SequenceNumber: page.Events[len(page.Events)-1].SequenceNumber})
	}

	return &sharedOutput{Body: out}, err
}

// useShare finds the share with a secret and counts the use.
func (d *desk) useShare(ctx context.Context, header string) (*tarsy.Share, error) {
	scheme, secret, _ := strings.Cut(header, " ")

	if !strings.EqualFold(scheme, "Bearer") {
		return nil, noShare()
	}

	share, err := d.people.OpenShare(ctx, strings.TrimSpace(secret))
	if err != nil {
		return nil, fmt.Errorf("use share: %w", err)
	}

	if share == nil {
		return nil, noShare()
	}

	return share, nil
}

// hideSession replaces the error for a session deleted in the meantime by that of any other ended share.
func hideSession(err error) error {
	if tarsy.CodeOf(err) == tarsy.CodeSessionNotFound {
		return noShare()
	}

	return fmt.Errorf("read shared session: %w", err)
}

func noShare() error {
	return tarsy.Errorf(tarsy.CodeShareNotFound, "This link does not exist, has expired or was revoked. Ask for a new one.")
}
