// Package inbox receives alerts: by webhook, through the API, from Discord. It parses what senders post, derives the facts of
// each alert, applies the configured routes, and passes alerts with an identity to triage and all others to intake.
//
// It knows nothing of HTTP routes or of the further handling of an alert.
package inbox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

// Intake turns an alert into a session. *engine.Intake implements it.
type Intake interface {
	Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error)
}

// Desk decides on alerts with an identity. *triage.Desk implements it.
type Desk interface {
	Receive(ctx context.Context, delivery tarsy.Delivery) (tarsy.DeliveryResult, error)
}

// Config configures an Inbox. Everything is required.
type Config struct {
	Reader Reader
	Intake Intake
	Desk   Desk
	// Env looks up the environment variables with the tokens and secrets of receivers.
	Env func(string) (string, bool)
	// Confirm requests the URL that confirms an Amazon SNS subscription. The URL was verified to be on an Amazon SNS host.
	Confirm func(ctx context.Context, subscription alert.Subscription) error
	// Certificate fetches the PEM certificate at a URL. The URL was verified to be on an Amazon SNS host.
	Certificate func(ctx context.Context, address string) ([]byte, error)
}

// Inbox receives alerts. It is safe for concurrent use.
type Inbox struct {
	cfg Config
}

// New returns an inbox.
func New(cfg Config) *Inbox { return &Inbox{cfg: cfg} }

// Receivers lists the receivers by address.
func (i *Inbox) Receivers() []config.Receiver { return i.cfg.Reader.Config.Receivers() }

// Trusts reports whether a request is proven to come from a receiver's sender. A receiver whose secret is not set trusts no
// request.
func (i *Inbox) Trusts(ctx context.Context, source, name string, header http.Header, body []byte) bool {
	receiver, ok := i.cfg.Reader.Config.Receiver(source, name)
	if !ok {
		return false
	}

	byTopic := len(receiver.Topics) > 0

	if !byTopic || receiver.TokenEnv != "" || receiver.SecretEnv != "" {
		// Missing secrets are reported at startup, not to the sender.
		if ok, err := alert.Verify(receiver, i.cfg.Env, header, body); !ok || err != nil {
			return false
		}
	}

	return !byTopic || i.isFromTopic(ctx, receiver.Topics, body)
}

// isFromTopic reports whether Amazon SNS signed a message of one of the topics. Anyone can create a topic, so its name is
// checked first.
func (i *Inbox) isFromTopic(ctx context.Context, topics []string, body []byte) bool {
	signature, err := alert.ReadSNSSignature(body)
	if err != nil || !slices.Contains(topics, signature.Topic) {
		return false
	}

	certificate, err := i.cfg.Certificate(ctx, signature.CertificateURL)

	return err == nil && signature.Verify(certificate) == nil
}

// Recognize returns the known sender of bodies like this one, if any.
func (i *Inbox) Recognize(body []byte) (tarsy.AlertSource, bool) { return alert.Recognize(body) }

// Deliver processes the alerts posted to a receiver.
func (i *Inbox) Deliver(ctx context.Context, source, name, author string, body []byte) (tarsy.DeliveryResult, error) {
	receiver, ok := i.cfg.Reader.Config.Receiver(source, name)
	if !ok {
		return tarsy.DeliveryResult{}, tarsy.Errorf(tarsy.CodeNotFound, "there is no receiver %s/%s", source, name)
	}

	if receiver.Source == string(tarsy.SourceGeneric) || receiver.Source == string(tarsy.SourceCloudWatch) {
		if subscription, ok, err := alert.ReadSubscription(body); ok {
			return i.confirm(ctx, subscription, err)
		}
	}

	delivery, _, err := i.cfg.Reader.Read(receiver, body)
	if err != nil {
		return tarsy.DeliveryResult{}, err
	}

	if len(delivery.Alerts) == 0 {
		return tarsy.DeliveryResult{
			Alerts: []tarsy.DeliveredAlert{{Action: tarsy.ActionIgnore, Reason: alert.Describe(receiver, body)}},
		}, nil
	}

	delivery.Author = author

	result, err := i.cfg.Desk.Receive(ctx, delivery)
	if err != nil {
		return tarsy.DeliveryResult{}, fmt.Errorf("receive from %s/%s: %w", source, name, err)
	}

	return result, nil
}

// confirm confirms a subscription, unless its URL was refused.
func (i *Inbox) confirm(ctx context.Context, subscription alert.Subscription, refused error) (tarsy.DeliveryResult, error) {
	if refused != nil {
		return tarsy.DeliveryResult{}, refused
	}

	if err := i.cfg.Confirm(ctx, subscription); err != nil {
		// Amazon SNS retries after a 5xx.
		return tarsy.DeliveryResult{}, &tarsy.Error{
			Code: tarsy.CodeUnavailable, Err: err,
			Message: "The subscription to " + subscription.Topic + " could not be confirmed: Amazon SNS was not reached. The log has the address to confirm it with.",
		}
	}

	return tarsy.DeliveryResult{
		Alerts: []tarsy.DeliveredAlert{{Action: tarsy.ActionIgnore, Reason: "The subscription to " + subscription.Topic + " is confirmed."}},
	}, nil
}

// Identifies reports whether a submitted alert has an identity: a fingerprint, or any text if the configuration deduplicates by
// text.
func (i *Inbox) Identifies(a tarsy.Alert) bool {
	return a.RerunOf == nil && (a.Facts.Fingerprint != "" || i.cfg.Reader.Config.Alerts.Deduplicate.Text)
}

// Accept processes one alert that has an identity. Repeating a request with the same idempotency key changes nothing.
func (i *Inbox) Accept(ctx context.Context, a tarsy.Alert) (tarsy.DeliveryResult, error) {
	if _, err := i.cfg.Reader.Complete(&a); err != nil {
		return tarsy.DeliveryResult{}, err
	}

	delivery := tarsy.Delivery{Source: a.Facts.Source, Author: a.Author, Alerts: []tarsy.Alert{a}}

	if key := a.Idempotency; key != nil {
		sum := sha256.Sum256(slices.Concat(key.Hash, key.Fingerprint))
		delivery.Key = sum[:]
	}

	return i.cfg.Desk.Receive(ctx, delivery)
}

// Submit turns an alert into a session, or finds the session that already counts it.
func (i *Inbox) Submit(ctx context.Context, a tarsy.Alert) (tarsy.Session, error) {
	if i.Identifies(a) {
		return i.submitIdentified(ctx, a)
	}

	if a.RerunOf != nil {
		// It was routed when it was first received, and its facts already include the changes of the routes.
		i.cfg.Reader.deriveFacts(&a)
	} else if _, err := i.cfg.Reader.Complete(&a); err != nil {
		return tarsy.Session{}, err
	}

	a.Facts.GroupKey = "" // it is not grouped

	return i.cfg.Intake.Submit(ctx, a)
}

// submitIdentified is Submit for alerts with an identity. An alert that is not counted by any session is rejected with the
// reason.
func (i *Inbox) submitIdentified(ctx context.Context, a tarsy.Alert) (tarsy.Session, error) {
	result, err := i.Accept(ctx, a)
	if err != nil {
		return tarsy.Session{}, err
	}

	delivered := result.Alerts[0]
	if delivered.SessionID == nil {
		return tarsy.Session{}, tarsy.Errorf(tarsy.CodeConflict, "%s", delivered.Reason)
	}

	return tarsy.Session{ID: *delivered.SessionID, Status: tarsy.SessionPending}, nil
}
