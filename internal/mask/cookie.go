package mask

import "strings"

// cookies finds sessions and tokens in Cookie and Set-Cookie headers; other cookies stay readable.
func cookies() finder {
	return finder{words: []string{"cookie:", `cookie":`, "cookie=", "cookie "}, at: (*scan).cookies}
}

func (s *scan) cookies(_, end int) {
	if end <= s.cookie || !s.wanted[token] {
		return
	}

	for at := end; at < len(s.text); {
		stop := at
		for stop < len(s.text) && strings.IndexByte(";\n\r\"'", s.text[stop]) < 0 && !strings.HasPrefix(s.text[stop:], `\n`) {
			stop++
		}

		s.cookieAt(at, stop)
		s.cookie = stop

		if stop >= len(s.text) || s.text[stop] != ';' && strings.TrimSpace(s.text[at:stop]) != "" {
			return
		}

		at = stop + 1
	}
}

func (s *scan) cookieAt(start, end int) {
	name, value, ok := strings.Cut(s.text[start:end], "=")
	if !ok || len(value) < 8 {
		return
	}

	name = strings.ToLower(strings.TrimSpace(name))
	for _, part := range []string{"sess", "sid", "token", "auth", "jwt", "remember", "csrf", "xsrf"} {
		if strings.Contains(name, part) && !strings.ContainsAny(value, " $<{") {
			s.hide(end-len(value), end, token)

			return
		}
	}
}
