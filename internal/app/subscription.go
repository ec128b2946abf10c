package app

import (
	"context"
	"fmt"
	"net/url"

	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/runbook"
)

// confirmSubscription returns a function that requests the confirmation address of an Amazon SNS subscription, under the rules for runbooks
// and only from its host: at public addresses, without a proxy, and without redirects to another host.
func (a *App) confirmSubscription(fetch runbook.Config) func(context.Context, alert.Subscription) error {
	return func(ctx context.Context, subscription alert.Subscription) error {
		at, err := url.Parse(subscription.URL)
		if err != nil {
			return fmt.Errorf("read the address: %w", err)
		}

		own := fetch
		own.AllowedDomains, own.CacheTTL, own.GitHubToken = []string{at.Hostname()}, -1, ""

		fetcher := runbook.New(own)
		defer fetcher.Close()

		if _, err = fetcher.Fetch(ctx, subscription.URL); err != nil {
			// Logging the address is safe: it only confirms this subscription.
			a.logger.WarnContext(ctx, "could not confirm a subscription of Amazon SNS; request its address yourself",
				"topic", subscription.Topic, "subscribe_url", subscription.URL, "error", err)

			return err
		}

		a.logger.InfoContext(ctx, "confirmed a subscription of Amazon SNS", "topic", subscription.Topic)

		return nil
	}
}
