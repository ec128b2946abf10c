package issuer

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const algorithm = "RS256"

// signingKey is a key and its ID in the key set.
type signingKey struct {
	id  string
	key *rsa.PrivateKey
}

func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	keys := make([]map[string]string, 0, len(s.keys))
	for _, k := range s.keys {
		keys = append(keys, map[string]string{
			"kty": "RSA", "use": "sig", "alg": algorithm, "kid": k.id,
			"n": encode(k.key.N.Bytes()), "e": encode(big.NewInt(int64(k.key.E)).Bytes()),
		})
	}

	send(w, http.StatusOK, map[string]any{"keys": keys})
}

// token exchanges a code for an ID token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	const maxForm = 64 << 10

	r.Body = http.MaxBytesReader(w, r.Body, maxForm)

	if err := r.ParseForm(); err != nil {
		send(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})

		return
	}

	if !s.isClient(r) {
		send(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})

		return
	}

	granted, ok := s.redeem(r.PostForm)
	if !ok || r.PostForm.Get("grant_type") != "authorization_code" {
		send(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})

		return
	}

	send(w, http.StatusOK, map[string]any{
		"access_token": s.access(granted.person), "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()), "id_token": s.sign(s.claims(r, granted)),
	})
}

// access returns a new access token for the userinfo endpoint.
func (s *Server) access(person Person) string {
	token := rand.Text()

	s.mu.Lock()
	defer s.mu.Unlock()

	s.tokens[token] = person

	return token
}

// userinfo returns the claims of the user of an access token.
func (s *Server) userinfo(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	person, ok := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.mu.Unlock()

	if !ok {
		send(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token"})

		return
	}

	claims := map[string]any{"sub": person.Subject}
	maps.Copy(claims, person.UserInfo)

	if s.currentFault() == OtherUser {
		claims["sub"] = "another user"
	}

	send(w, http.StatusOK, claims)
}

// isClient authenticates the client that exchanges a code: a public client by its ID, any other by its secret, in the
// header or in the form.
func (s *Server) isClient(r *http.Request) bool {
	if s.cfg.ClientSecret == "" {
		return r.PostForm.Get("client_id") == s.cfg.ClientID
	}

	name, plain := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")

	if id, secret, inHeader := r.BasicAuth(); inHeader {
		name, _ = url.QueryUnescape(id)
		plain, _ = url.QueryUnescape(secret)
	}

	return name == s.cfg.ClientID && subtle.ConstantTimeCompare([]byte(plain), []byte(s.cfg.ClientSecret)) == 1
}

// redeem removes a code, and checks that the client that exchanges it also requested it.
func (s *Server) redeem(form url.Values) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.exchanges++

	g, ok := s.codes[form.Get("code")]
	delete(s.codes, form.Get("code"))

	sum := sha256.Sum256([]byte(form.Get("code_verifier")))

	return g, ok && g.redirectURI == form.Get("redirect_uri") && g.challenge == encode(sum[:]) && s.cfg.Clock.Since(g.at) < codeLife
}

func (s *Server) claims(r *http.Request, g grant) map[string]any {
	now := s.cfg.Clock.Now()
	claims := map[string]any{
		"iss": s.url(r), "sub": g.person.Subject, "aud": s.cfg.ClientID, "nonce": g.nonce, "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
	}
	maps.Copy(claims, g.person.Claims)

	switch s.currentFault() {
	case WrongNonce:
		claims["nonce"] = "of another login"
	case WrongAudience:
		claims["aud"] = "another client"
	case OtherParty:
		claims["aud"], claims["azp"] = []string{s.cfg.ClientID, "another client"}, "another client"
	case WrongIssuer:
		claims["iss"] = "http://issuer.invalid"
	case Expired:
		claims["exp"] = now.Add(-time.Second).Unix()
	case NoSubject:
		delete(claims, "sub")
	default: // the other faults do not change claims
	}

	return claims
}

// sign returns a JWT with the claims.
func (s *Server) sign(claims map[string]any) string {
	fault := s.currentFault()

	s.mu.Lock()
	k := s.keys[len(s.keys)-1]
	s.mu.Unlock()

	if fault == OtherKey {
		// The foreign key has the ID of the published key.
		foreign, err := rsa.GenerateKey(rand.Reader, keyBits)
		if err != nil {
			panic(err)
		}

		k.key = foreign
	}

	header := map[string]string{"alg": algorithm, "typ": "JWT", "kid": k.id}
	if fault == Unsigned {
		header = map[string]string{"alg": "none", "typ": "JWT"}
	}

	text := encode(toJSON(header)) + "." + encode(toJSON(claims))
	if fault == Unsigned {
		return text + "."
	}

	sum := sha256.Sum256([]byte(text))

	signature, err := rsa.SignPKCS1v15(rand.Reader, k.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}

	return text + "." + encode(signature)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func toJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // the claims of a person are not valid JSON
	}

	return raw
}
