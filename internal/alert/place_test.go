package alert_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func TestTitleIsFoundWhereSendersWriteIt(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"title": "T", "message": "M", "name": "N"}`:                                                          "T",
		`{"summary": "S", "description": "D"}`:                                                                 "S",
		`{"message": "M\nmore", "description": "D", "name": "N"}`:                                              "M",
		`{"subject": "S", "description": "D", "name": "N"}`:                                                    "S",
		`{"name": "CPU of web-1", "description": "Above 90 %"}`:                                                "CPU of web-1: Above 90 %",
		`{"name": "CPU of web-1", "id": 7}`:                                                                    "CPU of web-1",
		`{"labels": {"name": "kube-system"}, "description": "D"}`:                                              "D",
		`{"action": "Create", "alert": {"message": "M", "description": "D"}, "source": {"name": "web"}}`:       "M",
		`{"incident": {"title": "T", "id": "1"}, "version": "1.2"}`:                                            "T",
		`{"event": {"title": "T"}, "id": 1}`:                                                                   "T",
		`{"event": {"incident": {"title": "T"}}, "id": 1}`:                                                     "T",
		`{"commonAnnotations": {"summary": "S"}, "message": "M"}`:                                              "S",
		`{"payload": {"summary": "S", "severity": "critical"}, "event_action": "trigger"}`:                     "S",
		`{"alert_title": "A", "text_only_msg": "long", "alert_id": "7"}`:                                       "A",
		`{"schemaId": "azureMonitorCommonAlertSchema", "data": {"essentials": {"alertRule": "R"}}}`:            "R",
		`{"AlarmName": "CPU", "NewStateReason": "Threshold crossed", "AlarmDescription": null}`:                "CPU",
		`{"ProblemTitle": "Response time degradation", "State": "OPEN", "ImpactedEntity": "web"}`:              "Response time degradation",
		`{"monitorID": "1", "monitorFriendlyName": "Shop", "alertDetails": "timeout"}`:                         "Shop",
		`{"detail": {"alarmName": "CPU", "state": {"value": "ALARM"}}, "source": "aws.cloudwatch"}`:            "CPU",
		`{"incident": {"condition_name": "CPU", "incident_id": "0.x", "state": "open"}, "version": "test"}`:    "CPU",
		`{"msg": "[Shop] [Down] timeout", "monitor": {"id": 1, "name": "Shop"}, "heartbeat": {"status": "0"}}`: "Shop: [Shop] [Down] timeout",
	} {
		require.Equal(t, want, readMapped(t, config.Mapping{}, body)[0].Facts.Title, body)
	}
}

func TestEveryWordForResolvedEndsItsAlert(t *testing.T) {
	t.Parallel()

	for word := range strings.SplitSeq("resolved, resolve, auto resolved, autoresolved, ok, closed, close, auto closed, recovered, recovery, recover, warn recovered, "+
		"no data recovered, normal, back to normal, returned to normal, up, healthy, cleared, clear, inactive, deactivated, ended, fixed", ", ") {
		require.True(t, readMapped(t, config.Mapping{}, `{"title": "A", "status": "`+word+`"}`)[0].Resolved, word)
	}
}

func TestWordsForResolvedOfSendersAreKnown(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]bool{
		`{"alert_title": "A", "alert_transition": "Recovered"}`:                                                    true,
		`{"alert_title": "A", "alert_transition": "Triggered"}`:                                                    false,
		`{"alert_title": "A", "alert_transition": "Re-Triggered"}`:                                                 false,
		`{"alert_title": "A", "alert_transition": "No Data"}`:                                                      false,
		`{"alert_title": "A", "alert_transition": "No data recovered"}`:                                            true,
		`{"alert_title": "A", "alert_transition": "Warn Recovered"}`:                                               true,
		`{"alert_title": "A", "alert_status": "cpu was > 90 during the last 5m", "alert_transition": "Recovered"}`: true,
		`{"title": "A", "status": "OK"}`:                                                                           true,
		`{"title": "A", "status": "Resolved"}`:                                                                     true,
		`{"title": "A", "status": "AUTO_RESOLVED"}`:                                                                true,
		`{"title": "A", "state": "Closed"}`:                                                                        true,
		`{"title": "A", "state": "Normal"}`:                                                                        true,
		`{"title": "A", "state": " Back to normal. "}`:                                                             true,
		`{"title": "A", "status": "success", "state": "cleared"}`:                                                  true,
		`{"title": "A", "status": "firing", "state": "ok"}`:                                                        false,
		`{"title": "A", "status": "anything"}`:                                                                     false,
		`{"title": "A"}`:                                                                                           false,
		`{"check_name": "Shop", "current_state": "UP", "previous_state": "DOWN"}`:                                  true,
		`{"check_name": "Shop", "current_state": "DOWN", "previous_state": "UP"}`:                                  false,
		`{"monitorFriendlyName": "Shop", "alertTypeFriendlyName": "Up"}`:                                           true,
		`{"AlarmName": "CPU", "NewStateValue": "OK", "OldStateValue": "ALARM"}`:                                    true,
		`{"AlarmName": "CPU", "NewStateValue": "ALARM", "OldStateValue": "OK"}`:                                    false,
		`{"AlarmName": "CPU", "NewStateValue": "INSUFFICIENT_DATA", "OldStateValue": "OK"}`:                        false,
		`{"data": {"essentials": {"alertRule": "R", "monitorCondition": "Resolved"}}}`:                             true,
		`{"data": {"essentials": {"alertRule": "R", "monitorCondition": "Fired"}}}`:                                false,
		`{"ProblemTitle": "P", "State": "RESOLVED"}`:                                                               true,
		`{"incident": {"summary": "S", "state": "closed"}}`:                                                        true,
		`{"payload": {"summary": "S"}, "event_action": "resolve"}`:                                                 true,
		`{"alert": {"alertId": "1", "message": "A without an action"}, "status": "closed"}`:                        true,
		`{"title": "A", "status": "ok` + strings.Repeat(".", 100) + `"}`:                                           false,
	} {
		require.Equal(t, want, readMapped(t, config.Mapping{}, body)[0].Resolved, body)
	}

	mapped := config.Mapping{Status: "s"}
	require.True(t, readMapped(t, mapped, `{"s": "Recovered", "status": "firing"}`)[0].Resolved, "the words hold for the field of a mapping too")
	require.False(t, readMapped(t, mapped, `{"s": "Triggered", "status": "ok"}`)[0].Resolved, "only the field of the mapping counts")
	require.True(t, readMapped(t, config.Mapping{Resolved: []string{"gone"}}, `{"title": "A", "state": "Gone"}`)[0].Resolved)
	require.False(t, readMapped(t, config.Mapping{Resolved: []string{"gone"}}, `{"title": "A", "state": "ok"}`)[0].Resolved)
}

// opsgenie returns an Opsgenie webhook body for an action on an alert, with the fields listed in its documentation.
func opsgenie(action, updatedAt string) string {
	return strings.NewReplacer("ACTION", action, "UPDATED", updatedAt).Replace(`{
		"source": {"name": "web", "type": "API"},
		"alert": {"updatedAt": UPDATED, "tags": ["tag1"], "teams": ["team1"], "message": "Disk full on web-1", "username": "ada@example.com",
			"alertId": "052652ac-5d1c-464a-812a-7dd18bbfba8c", "source": "ada@example.com", "alias": "disk-web-1", "tinyId": "23",
			"createdAt": 1794823191104, "userId": "daed1180-0ce8-438b-8f8e-57e1a5920a2d", "entity": "", "priority": "P1"},
		"action": "ACTION", "integrationId": "37c8f316-17c6-49d7-899b-9c7e540c048d", "integrationName": "TARSy"}`)
}

func TestNestedAlertOfOpsgenieIsIdentifiedByItsAlias(t *testing.T) {
	t.Parallel()

	created := readMapped(t, config.Mapping{}, opsgenie("Create", "1794823193166002000"))[0]
	require.Equal(t, "generic/g:disk-web-1", created.Facts.Fingerprint)
	require.Equal(t, "Disk full on web-1", created.Facts.Title)
	require.Equal(t, tarsy.SeverityCritical, created.Facts.Severity)
	require.False(t, created.Resolved)

	for _, action := range []string{"Close", "Delete"} {
		closed := readMapped(t, config.Mapping{}, opsgenie(action, "1794823293166002000"))[0]
		require.True(t, closed.Resolved, action)
		require.Equal(t, created.Facts, closed.Facts, action)
	}

	r := config.Receiver{Name: "g", Source: "generic"}

	for _, action := range []string{"Acknowledge", "UnAcknowledge", "AddNote", "AssignOwnership", "Restart the pod"} {
		body := opsgenie(action, "1794823203166002000")
		require.Empty(t, readMapped(t, config.Mapping{}, body), action)
		require.Equal(t, "The sender reports "+action+", which neither starts nor ends an alert.", alert.Describe(r, []byte(body)))
	}

	withoutAlias := strings.Replace(opsgenie("Create", "1"), `"alias": "disk-web-1", `, "", 1)
	require.Equal(t, "generic/g:052652ac-5d1c-464a-812a-7dd18bbfba8c", readMapped(t, config.Mapping{}, withoutAlias)[0].Facts.Fingerprint)
	require.Equal(t, "The delivery contains no alerts.", alert.Describe(config.Receiver{Source: "generic", Mapping: config.Mapping{Alerts: "a"}}, []byte(`{"a": [], "b": 1}`)))
}

func TestAlertIsIdentifiedBySendersID(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]string{
		`{"title": "A", "fingerprint": "f-1"}`:                                                                      "f-1",
		`{"title": "A", "fingerprint": " f-1\n"}`:                                                                   "f-1",
		`{"title": "A", "fingerprint": "  ", "dedup_key": "d-1"}`:                                                   "d-1",
		`{"payload": {"summary": "S"}, "event_action": "trigger", "dedup_key": "d-1"}`:                              "d-1",
		`{"alert": {"id": 17, "title": "A", "status": "firing"}}`:                                                   "17",
		`{"alert_title": "[Triggered] CPU", "alert_id": "7", "alert_scope": "host:a", "alert_cycle_key": "99"}`:     "7 host:a",
		`{"alert_title": "[Triggered] CPU", "alert_id": "7", "alert_scope": "", "alert_cycle_key": "99"}`:           "99",
		`{"data": {"essentials": {"alertId": "/subscriptions/1/alerts/2", "alertRule": "R", "severity": "Sev1"}}}`:  "/subscriptions/1/alerts/2",
		`{"incident": {"incident_id": "0.abc", "summary": "CPU is at 93 %", "state": "open"}, "version": "1.2"}`:    "0.abc",
		`{"AlarmName": "CPU", "AlarmArn": "arn:aws:cloudwatch:eu-central-1:1:alarm:CPU", "NewStateValue": "ALARM"}`: "arn:aws:cloudwatch:eu-central-1:1:alarm:CPU",
		`{"ProblemID": "P-1", "ProblemTitle": "T", "State": "OPEN"}`:                                                "P-1",
		`{"msg": "Down", "monitor": {"id": 3, "name": "Shop"}, "heartbeat": {"status": 0}}`:                         "3",
	} {
		require.Equal(t, "generic/g:"+want, readMapped(t, config.Mapping{}, body)[0].Facts.Fingerprint, body)
	}

	of := func(m config.Mapping, body string) string { return readMapped(t, m, body)[0].Facts.Fingerprint }

	require.Equal(t, of(config.Mapping{}, `{"id": "event-1", "title": "Disk full"}`), of(config.Mapping{}, `{"id": "event-2", "title": "Disk full"}`),
		"the id of a body may be that of the event")
	require.Equal(t, "generic/g:7", of(config.Mapping{Fingerprint: "id"}, `{"id": 7, "fingerprint": "f", "title": "Disk full"}`), "a mapping decides")
	require.Contains(t, of(config.Mapping{}, `{"alert": {"id": {"a": 1}, "title": "A"}}`), ":labels:", "an object identifies nothing")
}
