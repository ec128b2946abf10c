package telemetry

import (
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// addressOf returns the host of a URL, and its port unless it is the scheme's default. The rest of the URL may contain a
// secret.
func addressOf(address string) []attribute.KeyValue {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" {
		return nil
	}

	attributes := []attribute.KeyValue{semconv.ServerAddress(parsed.Hostname())}

	usual := map[string]int{"http": 80, "https": 443}
	if port, err := strconv.Atoi(parsed.Port()); err == nil && port != usual[parsed.Scheme] {
		attributes = append(attributes, semconv.ServerPort(port))
	}

	return attributes
}
