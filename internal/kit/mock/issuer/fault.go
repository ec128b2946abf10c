package issuer

import (
	"net/http"
	"strings"
)

// Fault is a way in which an issuer, or something between it and its client, misbehaves.
type Fault string

// The faults. Each except None must make a login fail.
const (
	None Fault = ""
	// WrongNonce, WrongAudience, OtherParty, WrongIssuer, Expired and NoSubject are wrong claims in ID tokens with valid
	// signatures.
	WrongNonce    Fault = "wrong nonce"
	WrongAudience Fault = "wrong audience"
	OtherParty    Fault = "other party"
	WrongIssuer   Fault = "wrong issuer"
	Expired       Fault = "expired"
	NoSubject     Fault = "no subject"
	// Unsigned and OtherKey are wrong signatures.
	Unsigned Fault = "unsigned"
	OtherKey Fault = "other key"
	// NoToken answers the exchange without an ID token.
	NoToken Fault = "no token"
	// Huge answers the exchange with an endless body, TokenMoved redirects it to another host.
	Huge       Fault = "huge answer"
	TokenMoved Fault = "token endpoint moved"
	// TokenDown, KeysDown and DiscoveryDown fail with 503.
	TokenDown     Fault = "token endpoint down"
	KeysDown      Fault = "keys down"
	DiscoveryDown Fault = "discovery down"
	// OtherUser and UserInfoDown affect the userinfo endpoint, which clients query for claims that the ID token lacks.
	OtherUser    Fault = "userinfo of another user"
	UserInfoDown Fault = "userinfo down"
)

// Misbehave sets the fault for all later requests.
func (s *Server) Misbehave(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.fault = fault
}

func (s *Server) currentFault() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.fault
}

// misbehave answers a request if the fault determines the whole response, and reports whether it did.
func (s *Server) misbehave(w http.ResponseWriter, r *http.Request) bool {
	at, fault := strings.TrimPrefix(r.URL.Path, s.cfg.Path), s.currentFault()

	switch {
	case at == "/userinfo" && fault == UserInfoDown, at == "/token" && fault == TokenDown, at == "/keys" && fault == KeysDown, strings.HasPrefix(at, "/.well-known/") && fault == DiscoveryDown:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case at == "/token" && fault == NoToken:
		send(w, http.StatusOK, map[string]string{"access_token": "a", "token_type": "Bearer"})
	case at == "/token" && fault == TokenMoved:
		// The same machine under a different name.
		http.Redirect(w, r, strings.Replace("http://"+r.Host+"/elsewhere", "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect) //nolint:gosec // that is the fault
	case at == "/token" && fault == Huge:
		w.Header().Set("Content-Type", "application/json")

		for chunk := strings.Repeat(" ", 1<<16); ; {
			if _, err := w.Write([]byte(chunk)); err != nil {
				break
			}
		}
	default:
		return false
	}

	return true
}
