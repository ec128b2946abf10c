package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// webhookLimit is the maximum size of a delivery: senders put a whole group of alerts into one.
const webhookLimit = 8 << 20

const (
	webhookPrefix = "/api/v1/webhooks/"
	// webhookAuthor is the prefix of the receiver's name in the author of a delivery without an API key.
	webhookAuthor = "webhook:"
)

// Inbox accepts alerts with an identity: those that webhooks deliver, and alerts with a fingerprint. It returns after the effect of a
// call is durable. Its errors for users are *tarsy.Error.
type Inbox interface {
	// Receivers lists the webhooks by address.
	Receivers() []Receiver
	// Trusts reports whether a receiver's token or signature proves that its sender made the request. The body is needed for a
	// signature only.
	Trusts(ctx context.Context, source, name string, header http.Header, body []byte) bool
	// Deliver decides on the alerts of a body. It stores nothing of an invalid body.
	Deliver(ctx context.Context, source, name, author string, body []byte) (tarsy.DeliveryResult, error)
	// Recognize returns the source of a body, if it has the format of a known one.
	Recognize(body []byte) (tarsy.AlertSource, bool)
	// Identifies reports whether a submitted alert has an identity.
	Identifies(alert tarsy.Alert) bool
	// Accept decides on one alert that has an identity.
	Accept(ctx context.Context, alert tarsy.Alert) (tarsy.DeliveryResult, error)
}

// ReceiverAuth is how the sender of a receiver authenticates. An API key with the scope write is always accepted.
type ReceiverAuth string

// The values of ReceiverAuth.
const (
	AuthAPIKey    ReceiverAuth = "api_key"
	AuthToken     ReceiverAuth = "token"
	AuthSignature ReceiverAuth = "signature"
)

// WebhookSource is the name of a source in URL paths.
type WebhookSource string

// Schema implements huma.SchemaProvider.
func (WebhookSource) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.WebhookSources()) }

// Receiver is a webhook.
type Receiver struct {
	Source    WebhookSource `doc:"The source of its deliveries." json:"source"`
	Name      string        `doc:"Its name in the configuration." json:"name"`
	Path      string        `doc:"The path that deliveries are posted to." json:"path"`
	URL       string        `doc:"The full URL of the path; absent unless system.dashboard_url is set." json:"url,omitempty"`
	Auth      ReceiverAuth  `doc:"What the sender needs: an API key with the scope write, the receiver's token as a bearer token, or a signature." enum:"api_key,token,signature" json:"auth"`
	TokenEnv  string        `doc:"The server's environment variable with the token; absent if the receiver has none." json:"token_env,omitempty"`
	SecretEnv string        `doc:"The server's environment variable with the secret of the signature; absent if the receiver has none." json:"secret_env,omitempty"`
}

type webhookInput struct {
	Source WebhookSource `doc:"The source of the delivery." path:"source"`
	Name   string        `doc:"The name of the receiver." path:"name"`
}

type deliveryOutput struct{ Body tarsy.DeliveryResult }

type receiversOutput struct{ Body receiverList }

type receiverList struct {
	Receivers []Receiver `json:"receivers"`
}

// admitSender admits the sender of a receiver by the receiver's own token or signature. A receiver that has one requires it, even where
// the server requires no API keys. refused is the error for a request without it.
func (h *alerts) admitSender(w http.ResponseWriter, r *http.Request, who *caller, limit int64, refused error) error {
	source, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, webhookPrefix), "/")

	receiver, ok := h.receiver(source, name)
	if !ok || receiver.Auth == AuthAPIKey || tarsy.CodeOf(refused) == tarsy.CodeUnavailable {
		return refused
	}

	if receiver.Auth == AuthSignature {
		err := h.bodies.read(w, r, who, limit, false)
		if err != nil {
			return err
		}
	}

	if !h.inbox.Trusts(r.Context(), source, name, r.Header, who.body) {
		return tarsy.Errorf(tarsy.CodeUnauthenticated,
			"the request has neither the token or signature of the receiver %s/%s nor an API key with the scope write", source, name)
	}

	who.author, who.isSender = webhookAuthor+name, true
	h.bodies.trust(who)

	return nil
}

func (h *alerts) receiver(source, name string) (Receiver, bool) {
	for _, r := range h.inbox.Receivers() {
		if string(r.Source) == source && r.Name == name {
			return r, true
		}
	}

	return Receiver{}, false
}

func (h *alerts) listWebhooks(context.Context, *struct{}) (*receiversOutput, error) {
	receivers := append([]Receiver{}, h.inbox.Receivers()...)

	if public := h.public.url; public != nil {
		for i := range receivers {
			receivers[i].URL = public.JoinPath(receivers[i].Path).String()
		}
	}

	return &receiversOutput{Body: receiverList{Receivers: receivers}}, nil
}

func (h *alerts) deliver(ctx context.Context, in *webhookInput) (*deliveryOutput, error) {
	if _, ok := h.receiver(string(in.Source), in.Name); !ok {
		return nil, tarsy.Errorf(tarsy.CodeNotFound, "there is no receiver %s/%s; add it to alerts.receivers, or see /api/v1/webhooks for those that exist",
			shown(string(in.Source)), shown(in.Name))
	}

	who := callerOf(ctx)

	author := who.author
	if author == tarsy.DefaultAuthor {
		author = webhookAuthor + in.Name
	}

	result, err := h.inbox.Deliver(ctx, string(in.Source), in.Name, author, who.body)
	if err != nil {
		return nil, fmt.Errorf("deliver alerts: %w", err)
	}

	return &deliveryOutput{Body: result}, nil
}

// acceptedDelivery answers POST /api/v1/alerts for alerts that have an identity.
func (h *alerts) acceptedDelivery(ctx context.Context, result tarsy.DeliveryResult) (*acceptedOutput, error) {
	if err := h.hideSessions(ctx, result.Alerts); err != nil {
		return nil, err
	}

	out := &acceptedOutput{Body: alertAccepted{Message: summarize(result), Alerts: result.Alerts}}

	for _, a := range result.Alerts {
		if a.SessionID == nil {
			continue
		}

		progress, err := h.store.SessionProgress(ctx, *a.SessionID)
		if err != nil {
			return nil, fmt.Errorf("read the session of an alert: %w", err)
		}

		out.Location = "/api/v1/sessions/" + progress.ID
		out.Body.SessionID, out.Body.Status = progress.ID, progress.Status
		out.Body.SessionURL = tarsy.SessionURL(h.public.url, progress.ID)

		break
	}

	return out, nil
}

// hideSessions removes the ids of sessions that the caller cannot see: an alert may be counted on a session of another team.
func (h *alerts) hideSessions(ctx context.Context, alerts []tarsy.DeliveredAlert) error {
	var ids []string

	for _, a := range alerts {
		if a.SessionID != nil {
			ids = append(ids, *a.SessionID)
		}
	}

	_, hidden, err := h.teams.splitHidden(ctx, callerOf(ctx), ids)
	if err != nil {
		return fmt.Errorf("read the teams of sessions: %w", err)
	}

	for i, a := range alerts {
		if a.SessionID != nil && slices.Contains(hidden, *a.SessionID) {
			alerts[i].SessionID, alerts[i].SuppressedID = nil, nil
		}
	}

	return nil
}

// summarize describes the result of a delivery: the reason for a single alert, and counts for several.
func summarize(result tarsy.DeliveryResult) string {
	prefix := ""
	if result.Repeated {
		prefix = "The same delivery was received before. "
	}

	if len(result.Alerts) == 1 {
		return prefix + result.Alerts[0].Reason
	}

	counts := map[tarsy.DeliveryAction]int{}
	for _, a := range result.Alerts {
		counts[a.Action]++
	}

	var parts []string

	for _, action := range tarsy.DeliveryActions() {
		if counts[action] > 0 {
			parts = append(parts, strconv.Itoa(counts[action])+" "+actionWords()[action])
		}
	}

	return prefix + "Alerts: " + strings.Join(parts, ", ") + "."
}

func actionWords() map[tarsy.DeliveryAction]string {
	return map[tarsy.DeliveryAction]string{
		tarsy.ActionInvestigate: "investigated", tarsy.ActionCount: "counted", tarsy.ActionStorm: "part of a storm",
		tarsy.ActionSilence: "silenced", tarsy.ActionResolve: "resolved", tarsy.ActionIgnore: "ignored",
	}
}
