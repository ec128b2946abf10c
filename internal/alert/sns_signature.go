package alert

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // what Amazon SNS signs with unless a topic says otherwise
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// SNSSignature is the signature of an Amazon SNS message. It proves that the message was published to the topic it names, but
// not who owns that topic.
type SNSSignature struct {
	Topic string
	// CertificateURL is the URL of the signing certificate, on the Amazon SNS host of the topic's region.
	CertificateURL string

	signed, signature []byte
	hash              crypto.Hash
}

// ReadSNSSignature reads the signature of a message. The error says why the message has no verifiable signature.
func ReadSNSSignature(body []byte) (SNSSignature, error) {
	var m struct {
		Type             string  `json:"Type"`
		MessageID        string  `json:"MessageId"`
		Token            string  `json:"Token"`
		TopicARN         string  `json:"TopicArn"`
		Subject          *string `json:"Subject"`
		Message          string  `json:"Message"`
		SubscribeURL     string  `json:"SubscribeURL"`
		Timestamp        string  `json:"Timestamp"`
		SignatureVersion string  `json:"SignatureVersion"`
		Signature        string  `json:"Signature"`
		SigningCertURL   string  `json:"SigningCertURL"`
	}

	if depth(body) > maxDepth || json.Unmarshal(body, &m) != nil {
		return SNSSignature{}, errors.New("the body is not an Amazon SNS message")
	}

	s := SNSSignature{Topic: m.TopicARN, CertificateURL: m.SigningCertURL}

	switch m.SignatureVersion {
	case "1":
		s.hash = crypto.SHA1
	case "2":
		s.hash = crypto.SHA256
	default:
		return s, fmt.Errorf("unknown version %q of the signature", oneLine(m.SignatureVersion, maxFact))
	}

	fields := []string{"Message", m.Message, "MessageId", m.MessageID}

	if m.Type == snsNotification {
		if m.Subject != nil {
			fields = append(fields, "Subject", *m.Subject)
		}
	} else {
		fields = append(fields, "SubscribeURL", m.SubscribeURL)
	}

	fields = append(fields, "Timestamp", m.Timestamp)

	if m.Type != snsNotification {
		fields = append(fields, "Token", m.Token)
	}

	fields = append(fields, "TopicArn", m.TopicARN, "Type", m.Type)
	s.signed = []byte(strings.Join(fields, "\n") + "\n")

	var err error
	if s.signature, err = base64.StdEncoding.DecodeString(m.Signature); err != nil {
		return s, errors.New("the signature is not in base64")
	}

	return s, s.checkAddress()
}

// checkAddress rejects certificates from other hosts: anyone who can choose the certificate can forge the signature.
func (s SNSSignature) checkAddress() error {
	const region = 3

	parts := strings.Split(s.Topic, ":")
	u, err := url.Parse(s.CertificateURL)

	if err != nil || len(parts) <= region || u.Scheme != "https" || u.User != nil || u.Port() != "" && u.Port() != "443" ||
		!snsHost.MatchString(u.Hostname()) || !strings.HasPrefix(u.Hostname(), "sns."+parts[region]+".") || path.Ext(u.Path) != ".pem" || u.RawQuery != "" {
		return errors.New("SigningCertURL is not a certificate of Amazon SNS in the region of the topic")
	}

	return nil
}

// Verify checks the signature with the PEM certificate fetched from CertificateURL.
func (s SNSSignature) Verify(certificate []byte) error {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return errors.New("the certificate is not in PEM")
	}

	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}

	key, ok := parsed.PublicKey.(*rsa.PublicKey)
	if !ok {
		return errors.New("the certificate has no RSA key")
	}

	sum := sha1.Sum(s.signed) //nolint:gosec // see above
	digest := sum[:]

	if s.hash == crypto.SHA256 {
		better := sha256.Sum256(s.signed)
		digest = better[:]
	}

	if err := rsa.VerifyPKCS1v15(key, s.hash, digest, s.signature); err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}

	return nil
}
