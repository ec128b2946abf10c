package alert_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/alert"
)

// certify creates a PEM certificate for a key.
func certify(t *testing.T, public, private any) []byte {
	t.Helper()

	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"sns.amazonaws.com"}, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)

	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// signSNS signs the text that Amazon SNS documents as signed, which each test writes out itself.
func signSNS(t *testing.T, key *rsa.PrivateKey, version, text string) string {
	t.Helper()

	hash, sum := crypto.SHA1, sha1.Sum([]byte(text))
	digest := sum[:]

	if version == "2" {
		better := sha256.Sum256([]byte(text))
		hash, digest = crypto.SHA256, better[:]
	}

	raw, err := rsa.SignPKCS1v15(rand.Reader, key, hash, digest)
	require.NoError(t, err)

	return base64.StdEncoding.EncodeToString(raw)
}

const (
	snsTopic       = "arn:aws:sns:eu-central-1:123456789012:alarms"
	snsCertificate = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem"
)

// withSubject is the signed text of the message that notification returns.
const withSubject = "Message\nDisk\nfull\nMessageId\nm-1\nSubject\nALARM\nTimestamp\n2026-11-16T10:00:00.000Z\nTopicArn\n" + snsTopic + "\nType\nNotification\n"

func notification(version, signature string) map[string]string {
	return map[string]string{
		"Type": "Notification", "MessageId": "m-1", "TopicArn": snsTopic, "Subject": "ALARM", "Message": "Disk\nfull", "Timestamp": "2026-11-16T10:00:00.000Z",
		"SignatureVersion": version, "Signature": signature, "SigningCertURL": snsCertificate, "UnsubscribeURL": "https://sns.eu-central-1.amazonaws.com/",
	}
}

func verifySNS(t *testing.T, message map[string]string, certificate []byte) error {
	t.Helper()

	raw, err := json.Marshal(message)
	require.NoError(t, err)

	signature, err := alert.ReadSNSSignature(raw)
	if err != nil {
		return err
	}

	require.Equal(t, message["TopicArn"], signature.Topic)
	require.Equal(t, message["SigningCertURL"], signature.CertificateURL)

	return signature.Verify(certificate)
}

func TestSignatureOfAmazonSNSCoversEveryFieldThatIsRead(t *testing.T) {
	t.Parallel()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	certificate := certify(t, key.Public(), key)

	for _, version := range []string{"1", "2"} {
		signature := signSNS(t, key, version, withSubject)
		require.NoError(t, verifySNS(t, notification(version, signature), certificate))

		for _, field := range []string{"Type", "MessageId", "TopicArn", "Subject", "Message", "Timestamp", "Signature"} {
			changed := notification(version, signature)
			changed[field] = map[string]string{
				"Type": "UnsubscribeConfirmation", "Signature": base64.StdEncoding.EncodeToString([]byte("other")), "TopicArn": snsTopic + "2",
			}[field] + "x"

			if field == "Type" || field == "Signature" {
				changed[field] = changed[field][:len(changed[field])-1]
			}

			require.Error(t, verifySNS(t, changed, certificate), "%s is changed", field)
		}
	}

	plain := notification("1", signSNS(t, key, "1", "Message\nDisk\nfull\nMessageId\nm-1\nTimestamp\n2026-11-16T10:00:00.000Z\nTopicArn\n"+snsTopic+"\nType\nNotification\n"))
	delete(plain, "Subject")
	require.NoError(t, verifySNS(t, plain, certificate))

	confirm := notification("2", signSNS(t, key, "2", "Message\nDisk\nfull\nMessageId\nm-1\nSubscribeURL\nhttps://s\nTimestamp\n2026-11-16T10:00:00.000Z\nToken\nt\nTopicArn\n"+
		snsTopic+"\nType\nSubscriptionConfirmation\n"))
	confirm["Type"], confirm["SubscribeURL"], confirm["Token"] = "SubscriptionConfirmation", "https://s", "t"
	require.NoError(t, verifySNS(t, confirm, certificate))

	confirm["SubscribeURL"] = "https://other"
	require.Error(t, verifySNS(t, confirm, certificate))
}

func TestSignatureOfAmazonSNSNeedsItsOwnCertificate(t *testing.T) {
	t.Parallel()

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)

	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)

	signed := notification("1", signSNS(t, key, "1", withSubject))

	for name, certificate := range map[string][]byte{
		"other": certify(t, other.Public(), other), "not RSA": certify(t, curve.Public(), curve), "not PEM": []byte("<html>"), "empty": nil,
		"not a certificate": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}),
	} {
		require.Error(t, verifySNS(t, signed, certificate), name)
	}

	for _, address := range []string{
		"", "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem", "http://sns.eu-central-1.amazonaws.com/a.pem", "https://evil.example/a.pem",
		"https://sns.eu-central-1.amazonaws.com.evil.example/a.pem", "https://sns.eu-central-1.amazonaws.com@evil.example/a.pem",
		"https://bucket.s3.eu-central-1.amazonaws.com/a.pem", "https://sns.eu-central-1.amazonaws.com/?Action=a.pem", "https://sns.eu-central-1.amazonaws.com/a.pem?b",
		"https://sns.eu-central-1.amazonaws.com:8443/a.pem", "https://u:p@sns.eu-central-1.amazonaws.com/a.pem",
	} {
		signed["SigningCertURL"] = address
		require.ErrorContains(t, verifySNS(t, signed, certify(t, key.Public(), key)), "SigningCertURL", address)
	}

	signed["SigningCertURL"], signed["SignatureVersion"] = snsCertificate, "3"
	require.ErrorContains(t, verifySNS(t, signed, nil), "version")

	for _, body := range []string{"", "null", "[]", `{"Type": 1}`, `"text"`, `{"Signature": "%%", "SignatureVersion": "1"}`} {
		_, err := alert.ReadSNSSignature([]byte(body))
		require.Error(t, err, body)
	}
}
