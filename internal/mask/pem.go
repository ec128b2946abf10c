package mask

import (
	"encoding/base64"
	"slices"
	"strings"
)

const (
	dashes = "-----"
	// longestBlock exceeds the length of any key or certificate.
	longestBlock = 64 << 10
)

// pemBlocks finds keys and certificates in PEM and PGP armour. A block that was cut off ends with its last base64 character. The text
// up to the next dashes is read once, so many beginnings without an end add no cost.
func pemBlocks() finder {
	return finder{words: []string{"-----begin "}, at: (*scan).pemBlock}
}

func (s *scan) pemBlock(start, end int) {
	header := strings.Index(s.text[end:min(len(s.text), end+longestMarker)], dashes)
	if header < 0 {
		return
	}

	name := s.blockName(s.text[end : end+header])
	from := end + header + len(dashes)
	to := min(len(s.text), from+longestBlock)
	body := s.text[from:to]

	stop := strings.Index(body, dashes)
	if stop >= 0 {
		s.block = from + stop + len(dashes)
	}

	if name == "" {
		return
	}

	if stop >= 0 && strings.HasPrefix(body[stop:], dashes+"END ") {
		body = body[:stop]
		stop = from + stop + len(dashes)
		to = stop + max(0, strings.Index(s.text[stop:min(len(s.text), stop+longestMarker)], dashes)+len(dashes))
	} else {
		if stop >= 0 {
			body = body[:stop]
		}

		body = body[:encodedLength(body)]
		to = from + len(body)
	}

	// A block without content is an example.
	if countEncoded(body) >= 32 {
		s.hide(start, to, name)
	}
}

// pemEnds finds keys whose beginning is missing: lines of base64, up to the line that ends the block.
func pemEnds() finder {
	return finder{words: []string{"-----end "}, at: (*scan).pemEnd}
}

func (s *scan) pemEnd(start, end int) {
	label := strings.Index(s.text[end:min(len(s.text), end+longestMarker)], dashes)
	if label < 0 {
		return
	}

	name := s.blockName(s.text[end : end+label])
	if name == "" || start < s.block {
		return
	}

	stop := end + label + len(dashes)
	from, limit := start, max(s.block, start-longestBlock)
	s.block = stop

	for from > limit {
		row := max(limit, rowStart(s.text, from-1, longestRow))
		line := trimBreak(s.text[row:from])

		body := line[strings.LastIndexFunc(line, func(r rune) bool { return r > 127 || !isEncoded(byte(r)) })+1:]
		if whole := strings.TrimLeft(line, " \t") == body; !whole {
			if len(body) >= 32 {
				from = row + len(line) - len(body)
			}

			break
		}

		from = row
	}

	if countEncoded(s.text[from:start]) >= 32 {
		s.hide(from, stop, name)
	}
}

// trimBreak removes the line break from the end of a line, even if it is escaped.
func trimBreak(line string) string {
	line = strings.TrimRight(line, " \t\r\n")

	for _, letter := range []string{`\n`, `\r`} {
		line = strings.TrimRight(strings.TrimSuffix(line, letter), `\`)
	}

	return line
}

// longestRow exceeds the length of any line of base64.
const longestRow = 128

// pemBodies finds private keys without the lines around them, by the base64 forms of their first bytes.
func pemBodies() finder {
	// The last one is for OpenSSH keys; the others are DER.
	heads := []string{"MII", "MHcCAQEE", "MHQCAQEE", "MIGHAgEA", "MC4CAQAw", "b3BlbnNzaC1rZXktdjEA"}

	f := finder{}
	for _, head := range heads {
		f.words = append(f.words, strings.ToLower(head))
	}

	f.at = func(s *scan, start, end int) {
		if start >= s.block && slices.Contains(heads, s.text[start:end]) && s.wanted[privateKey] && (start == 0 || !isEncoded(s.text[start-1]) || s.afterEscape(start)) {
			s.pemBody(start)
		}
	}

	return f
}

func (s *scan) pemBody(start int) {
	if !isPrivateKey(s.text[start:min(len(s.text), start+32)]) {
		return
	}

	end, width := start, 0

	for at := start; at < len(s.text) && at-start < longestBlock; {
		stop := at
		for stop < len(s.text) && stop-start < longestBlock && isEncoded(s.text[stop]) {
			stop++
		}

		// The last line is shorter. The next line may be a word, but then its length is invalid for base64, or it has only letters.
		row := s.text[at:stop]
		if width == 0 {
			width = len(row)
		}

		if row == "" || len(row) > width || len(row) < width && (len(row)%4 != 0 || isLetters(row)) {
			break
		}

		end = stop

		next := breakAt(s.text, stop)
		if next == 0 || len(row) < width {
			break
		}

		at = stop + next
		for at < len(s.text) && s.text[at] == ' ' {
			at++
		}
	}

	s.block = end

	if end-start >= 64 {
		s.hide(start, end, privateKey)
	}
}

// isPrivateKey decodes the beginning of a structure in base64: a private key starts with a version, a certificate does not.
func isPrivateKey(head string) bool {
	raw, err := base64.StdEncoding.DecodeString(head[:len(head)-len(head)%4])
	if err != nil || len(raw) < 12 {
		return false
	}

	if strings.HasPrefix(string(raw), "openssh-key-v1") {
		return true
	}

	// The length of the structure has one, two or three bytes.
	content := raw[2:]
	if raw[1] > 0x80 {
		content = raw[2+int(raw[1]&3):]
	}

	version := content[0] == 2 && content[1] == 1 && content[2] <= 1
	encrypted := content[0] == 0x30 && content[2] == 6 && content[3] == 9 && strings.HasPrefix(string(content[4:]), "\x2a\x86\x48\x86\xf7\x0d\x01\x05")

	return raw[0] == 0x30 && (version || encrypted)
}

// blockName returns the wanted pattern for the label of a block.
func (s *scan) blockName(label string) string {
	switch {
	case strings.Contains(label, "PRIVATE KEY") && strings.Contains(label, "OPENSSH") && s.wanted[sshKey]:
		return sshKey
	case strings.Contains(label, "PRIVATE KEY") && (s.wanted[privateKey] || s.wanted[gitleaksGroup]):
		return privateKey
	case strings.Contains(label, "CERTIFICATE") && !strings.Contains(label, "REQUEST") && s.wanted[certificate]:
		return certificate
	}

	return ""
}

// encodedLength returns the length of base64 in lines, which may be escaped or indented.
func encodedLength(body string) int {
	end := strings.IndexFunc(body, func(r rune) bool {
		return r > 127 || !isEncoded(byte(r)) && !isSpace(byte(r)) && r != '\\'
	})
	if end < 0 {
		end = len(body)
	}

	return len(strings.TrimRight(body[:end], " \t\r\n\\"))
}

func countEncoded(body string) int {
	count := 0

	for _, c := range []byte(body) {
		if isEncoded(c) {
			count++
		}
	}

	return count
}

// isEncoded reports whether c is a character of base64.
func isEncoded(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
