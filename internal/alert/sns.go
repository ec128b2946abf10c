package alert

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"tarsy.dev/tarsy"
)

// SNSHeader is sent by Amazon SNS with every message. The media type of its messages is text/plain.
const SNSHeader = "X-Amz-Sns-Message-Type"

// Message types of Amazon SNS.
const (
	snsNotification = "Notification"
	snsConfirmation = "SubscriptionConfirmation"
	snsUnsubscribed = "UnsubscribeConfirmation"
)

// snsMessage is the envelope that Amazon SNS posts to HTTPS endpoints.
type snsMessage struct {
	Type         word `json:"Type"`
	MessageID    word `json:"MessageId"`
	TopicARN     word `json:"TopicArn"`
	Subject      word `json:"Subject"`
	Message      word `json:"Message"`
	SubscribeURL word `json:"SubscribeURL"`
}

// readSNS reports whether a body is an Amazon SNS message, and decodes it.
func readSNS(body []byte) (snsMessage, bool) {
	var m snsMessage
	if depth(body) > maxDepth || json.Unmarshal(body, &m) != nil || m.MessageID == "" || !strings.HasPrefix(string(m.TopicARN), "arn:aws") {
		return snsMessage{}, false
	}

	return m, m.Type == snsNotification || m.Type == snsConfirmation || m.Type == snsUnsubscribed
}

// alerts returns the body for a generic receiver: the message if it is JSON, such as a CloudWatch alarm, or else an alert with
// its text.
func (m snsMessage) alerts() []byte {
	text := strings.TrimSpace(string(m.Message))
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Valid([]byte(text)) {
			return []byte(text)
		}
	}

	// The topic alone does not make an alert.
	if text == "" && strings.TrimSpace(string(m.Subject)) == "" {
		return nil
	}

	plain := map[string]string{"title": string(m.Subject), "message": text, "topic": string(m.TopicARN)}
	if plain["title"] == "" {
		plain["title"] = firstLine(text)
	}

	raw, _ := json.Marshal(plain) //nolint:errchkjson // texts only

	return raw
}

// describe describes a message that is not a notification.
func (m snsMessage) describe() string {
	if m.Type == snsUnsubscribed {
		return "Amazon SNS has ended the subscription to " + oneLine(string(m.TopicARN), maxFact) + "."
	}

	return "Amazon SNS asks to confirm the subscription to " + oneLine(string(m.TopicARN), maxFact) + "."
}

// Subscription is a subscription that Amazon SNS wants confirmed before it delivers anything.
type Subscription struct {
	Topic string
	// URL confirms the subscription when it is requested. It is on an Amazon SNS host.
	URL string
}

// snsHost matches the hosts of Amazon SNS in every region.
var snsHost = regexp.MustCompile(`^sns\.[a-z0-9]+(?:-[a-z0-9]+)+\.amazonaws\.com(?:\.cn)?$`)

// ReadSubscription returns the subscription that a body asks to confirm; false if the body is anything else. A URL outside
// Amazon SNS is rejected: otherwise anyone who can post a body could choose what the server requests.
func ReadSubscription(body []byte) (Subscription, bool, error) {
	m, ok := readSNS(body)
	if !ok || m.Type != snsConfirmation {
		return Subscription{}, false, nil
	}

	u, err := url.Parse(string(m.SubscribeURL))
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" && u.Port() != "443" || !snsHost.MatchString(u.Hostname()) ||
		u.Query().Get("Action") != "ConfirmSubscription" {
		return Subscription{}, true, tarsy.FieldErrorf(tarsy.CodeInvalidField, "SubscribeURL",
			"SubscribeURL must be the https address on sns.<region>.amazonaws.com with which Amazon SNS confirms a subscription. Nothing was requested.")
	}

	return Subscription{Topic: oneLine(string(m.TopicARN), maxFact), URL: u.String()}, true, nil
}
