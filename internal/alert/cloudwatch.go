package alert

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

//go:embed sample/cloudwatch.json
var cloudWatchSample string

// cloudWatch is Amazon CloudWatch, which delivers alarms through an Amazon SNS topic.
func cloudWatch() Source {
	return Source{
		Name: tarsy.SourceCloudWatch, Sample: cloudWatchSample, Connect: connectCloudWatch,
		read: readCloudWatch, signing: signedByProxies(),
	}
}

// cloudWatchAlarm is an alarm state change.
type cloudWatchAlarm struct {
	Name        word `json:"AlarmName"`
	Description word `json:"AlarmDescription"`
	ARN         word `json:"AlarmArn"`
	Account     word `json:"AWSAccountId"`
	State       word `json:"NewStateValue"`
	Reason      word `json:"NewStateReason"`
	ChangedAt   word `json:"StateChangeTime"`
	Trigger     struct {
		Metric     word `json:"MetricName"`
		Namespace  word `json:"Namespace"`
		Dimensions []struct {
			Name  word `json:"name"`
			Value word `json:"value"`
		} `json:"Dimensions"`
	} `json:"Trigger"`
}

// readCloudWatch reads an Amazon SNS message, or only its content, as sent with raw message delivery. Anything that is not an
// alarm is read as a generic body, because topics can carry other messages too.
func readCloudWatch(r config.Receiver, body []byte) (reading, error) {
	content, id := body, ""

	if message, ok := readSNS(body); ok {
		if message.Type != snsNotification {
			return reading{other: message.describe()}, nil
		}

		content, id = message.alerts(), string(message.MessageID)
	}

	var alarm cloudWatchAlarm
	if depth(content) > maxDepth || json.Unmarshal(content, &alarm) != nil || alarm.Name == "" || alarm.State == "" {
		return readGeneric(r, body)
	}

	if alarm.State != "ALARM" && alarm.State != "OK" {
		return reading{id: id, other: "The state of the alarm " + oneLine(string(alarm.Name), maxFact) + " is " + oneLine(string(alarm.State), maxFact) + ", which neither starts nor ends an alert."}, nil
	}

	return reading{reports: []report{alarm.report(r, content)}, id: id}, nil
}

func (a cloudWatchAlarm) report(r config.Receiver, content []byte) report {
	rep := report{fingerprint: cmp.Or(string(a.ARN), string(a.Account)+"/"+string(a.Name)), resolved: a.State == "OK"}
	rep.facts.Title = string(a.Name)

	if !rep.resolved {
		rep.facts.StartsAt = parseTime(string(a.ChangedAt))
	}

	rep.annotations = map[string]string{"description": string(a.Description), "reason": string(a.Reason)}
	rep.labels = map[string]string{}

	sent := map[string]string{
		"alertname": string(a.Name), "account": string(a.Account), "region": a.region(), "metric": string(a.Trigger.Metric), "metric_namespace": string(a.Trigger.Namespace),
	}
	for _, d := range a.Trigger.Dimensions {
		sent[string(d.Name)] = string(d.Value)
	}

	for name, value := range sent {
		if name != "" && strings.TrimSpace(value) != "" {
			rep.labels[name] = value
		}
	}

	rep.links = []tarsy.AlertLink{{Kind: tarsy.LinkGenerator, URL: a.console()}}
	rep.data = readable(view{
		Source: r.Source, Receiver: r.Name, Status: statusOf(rep.resolved), Labels: rep.labels, Annotations: rep.annotations, StartsAt: rep.facts.StartsAt,
		Fingerprint: rep.fingerprint, Incident: json.RawMessage(content),
	})

	return rep
}

// region returns the region in the alarm's ARN: the Region field is display text.
func (a cloudWatchAlarm) region() string {
	const at = 3
	if parts := strings.Split(string(a.ARN), ":"); len(parts) > at {
		return parts[at]
	}

	return ""
}

// console returns the URL of the alarm in the AWS console.
func (a cloudWatchAlarm) console() string {
	if a.region() == "" || !strings.HasPrefix(string(a.ARN), "arn:aws:") {
		return ""
	}

	return "https://console.aws.amazon.com/cloudwatch/home?region=" + url.QueryEscape(a.region()) + "#alarmsV2:alarm/" + url.PathEscape(string(a.Name))
}

func connectCloudWatch(r Endpoint) string {
	address, comments := r.URL, ""

	switch {
	case r.TokenEnv != "":
		address = strings.Replace(address, "://", "://tarsy:$TARSY_TOKEN@", 1)
		comments = "# TARSY_TOKEN is the value of " + r.TokenEnv + " on the server: SNS sends it as the password of basic authentication.\n"
	case r.SecretEnv == "":
		comments = "# Set topics of the receiver to [$TOPIC_ARN]: its messages are then accepted with the signature of Amazon SNS.\n"
	}

	return fmt.Sprintf(`# The subscription is confirmed by itself. Then make the topic an action of your alarms, for ALARM and for OK.
%saws sns subscribe --topic-arn "$TOPIC_ARN" --protocol https --notification-endpoint "%s"
`, comments, address)
}
