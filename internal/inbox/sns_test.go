package inbox_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

const snsReceiver = "alerts: {receivers: {aws: {source: generic}}}"

func confirmation(address string) []byte {
	return []byte(`{"Type": "SubscriptionConfirmation", "MessageId": "m-1", "Token": "t", "TopicArn": "arn:aws:sns:eu-central-1:123456789012:alarms",
		"Message": "You have chosen to subscribe", "SubscribeURL": "` + address + `", "SignatureVersion": "1"}`)
}

func TestSubscriptionIsConfirmedOnHostsOfAmazonSNSOnly(t *testing.T) {
	t.Parallel()

	f := newFixture(t, snsReceiver)

	for _, host := range []string{"sns.eu-central-1.amazonaws.com", "sns.us-gov-west-1.amazonaws.com", "sns.cn-north-1.amazonaws.com.cn", "sns.eu-west-1.amazonaws.com:443"} {
		address := "https://" + host + "/?Action=ConfirmSubscription&TopicArn=a&Token=t"
		result, err := f.Deliver(t.Context(), "generic", "aws", "ana", confirmation(address))
		require.NoError(t, err, host)
		require.Equal(t, tarsy.ActionIgnore, result.Alerts[0].Action)
		require.Contains(t, result.Alerts[0].Reason, "arn:aws:sns:eu-central-1:123456789012:alarms is confirmed")
		require.Equal(t, []string{address}, f.confirmed)

		f.confirmed = nil
	}

	for _, address := range []string{
		"", "not an address", "http://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription", "https://evil.example/?Action=ConfirmSubscription",
		"https://sns.eu-central-1.amazonaws.com.evil.example/?Action=ConfirmSubscription", "https://sns.amazonaws.com/?Action=ConfirmSubscription",
		"https://evil.example/sns.eu-central-1.amazonaws.com?Action=ConfirmSubscription", "https://sns.eu-central-1.amazonaws.com@evil.example/?Action=ConfirmSubscription",
		"https://bucket.s3.amazonaws.com/?Action=ConfirmSubscription", "https://169.254.169.254/?Action=ConfirmSubscription",
		"https://sns.eu-central-1.amazonaws.com:8443/?Action=ConfirmSubscription", "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
		"https://u:p@sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription", "https://xsns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription",
	} {
		_, err := f.Deliver(t.Context(), "generic", "aws", "ana", confirmation(address))
		require.Equal(t, tarsy.CodeInvalidField, tarsy.CodeOf(err), address)
	}

	require.Empty(t, f.confirmed, "nothing was requested")
	require.Zero(t, f.sessions(t))
}

func TestSubscriptionThatCannotBeConfirmedIsRepeatedBySender(t *testing.T) {
	t.Parallel()

	f := newFixture(t, snsReceiver)
	f.refused = errors.New("no route")

	_, err := f.Deliver(t.Context(), "generic", "aws", "ana", confirmation("https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription"))
	require.Equal(t, tarsy.CodeUnavailable, tarsy.CodeOf(err), "Amazon SNS repeats after a 5xx")
}
