package inbox_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

const (
	alarmsTopic = "arn:aws:sns:eu-central-1:123456789012:alarms"
	certificate = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem"
)

// signer returns a function that signs messages like Amazon SNS, and its certificate.
func signer(t *testing.T) (sign func(topic, message string) []byte, pemText []byte) {
	t.Helper()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)

	return func(topic, message string) []byte {
		digest := sha256.Sum256([]byte("Message\n" + message + "\nMessageId\nm-1\nTimestamp\n2026-11-16T10:00:00.000Z\nTopicArn\n" + topic + "\nType\nNotification\n"))
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		require.NoError(t, err)

		body, err := json.Marshal(map[string]string{
			"Type": "Notification", "MessageId": "m-1", "TopicArn": topic, "Message": message, "Timestamp": "2026-11-16T10:00:00.000Z",
			"SignatureVersion": "2", "Signature": base64.StdEncoding.EncodeToString(signature), "SigningCertURL": certificate,
		})
		require.NoError(t, err)

		return body
	}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

func TestTopicOfAReceiverIsTrustedByItsSignature(t *testing.T) {
	t.Parallel()

	f := newFixture(t, `alerts: {receivers: {aws: {source: cloudwatch, topics: ["`+alarmsTopic+`"]}, closed: {source: cloudwatch}, both: {source: cloudwatch, topics: ["`+alarmsTopic+`"], token_env: T}}}`)
	sign, own := signer(t)
	forge, _ := signer(t)
	f.certificates = map[string][]byte{certificate: own}

	trusts := func(name string, body []byte) bool {
		return f.Trusts(t.Context(), "cloudwatch", name, http.Header{}, body)
	}

	body := sign(alarmsTopic, "Disk full")
	require.True(t, trusts("aws", body))
	require.False(t, trusts("closed", body), "a receiver without topics")
	require.False(t, trusts("both", body), "the token is missing")
	require.False(t, trusts("aws", forge(alarmsTopic, "Disk full")), "signed by somebody else")
	require.False(t, trusts("aws", nil))

	f.asked = nil

	require.False(t, trusts("aws", sign("arn:aws:sns:eu-central-1:999999999999:theirs", "Disk full")), "anybody can have a topic")
	require.Empty(t, f.asked, "nothing is requested for the topics of others")

	f.certificates = nil

	require.False(t, trusts("aws", body), "the certificate cannot be fetched")

	session := f.deliver(t, "cloudwatch", "aws", string(body))
	require.Equal(t, "Disk full", session.Title)
	require.Equal(t, tarsy.SourceCloudWatch, session.Source)
}
