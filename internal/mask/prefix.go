package mask

import "strings"

// prefix is the beginning of a vendor's tokens.
type prefix struct {
	text  string
	name  string
	least int // minimum number of characters after the prefix
}

// tokenPrefixes are the beginnings of tokens with a recognizable prefix. Gitleaks has most of them too, but requires a space or a quote
// after the token.
var tokenPrefixes = []prefix{
	{"AKIA", awsAccessKey, 16},
	{"ASIA", awsAccessKey, 16},
	{"ABIA", awsAccessKey, 16},
	{"ACCA", awsAccessKey, 16},
	{"ghp_", githubToken, 30},
	{"gho_", githubToken, 30},
	{"ghu_", githubToken, 30},
	{"ghs_", githubToken, 30},
	{"ghr_", githubToken, 30},
	{"github_pat_", githubToken, 40},
	{"xoxb-", slackToken, 20},
	{"xoxp-", slackToken, 20},
	{"xoxa-", slackToken, 20},
	{"xoxr-", slackToken, 20},
	{"xoxs-", slackToken, 20},
	{"xoxe-", slackToken, 20},
	{"xoxe.", slackToken, 20},
	{"xapp-", slackToken, 20},
	{"glpat-", token, 20},
	{"glrt-", token, 20},
	{"gldt-", token, 20},
	{"glptt-", token, 20},
	{"glcbt-", token, 20},
	{"gloas-", token, 20},
	{"glagent-", token, 20},
	{"npm_", token, 36},
	{"pypi-", token, 50},
	{"dckr_pat_", token, 20},
	{"dckr_oat_", token, 20},
	{"hvs.", token, 24},
	{"hvb.", token, 24},
	{"ya29.", token, 30},
	{"1//0", token, 40},
	{"ATATT3", token, 60},
	{"ATCTT3", token, 60},
	{"hf_", token, 30},
	{"dop_v1_", token, 60},
	{"doo_v1_", token, 60},
	{"dor_v1_", token, 60},
	{"shpat_", token, 32},
	{"shpss_", token, 32},
	{"sntrys_", token, 40},
	{"sntryu_", token, 40},
	{"dapi", token, 32},
	{"sqp_", token, 40},
	{"squ_", token, 40},
	{"sqa_", token, 40},
	{"pul-", token, 40},
	{"dp.pt.", token, 40},
	{"dp.st.", token, 40},
	{"fo1_", token, 40},
	{"rubygems_", token, 40},
	{"sha256~", token, 40},
	{"ntn_", token, 40},
	{"secret_", token, 43},
	{"K10", token, 64},
	{"sk-ant-", apiKey, 40},
	{"sk-proj-", apiKey, 40},
	{"sk-svcacct-", apiKey, 40},
	{"sk-admin-", apiKey, 40},
	{"sk-or-v1-", apiKey, 40},
	{"sk-", apiKey, 40},
	{"sk_live_", apiKey, 16},
	{"sk_test_", apiKey, 16},
	{"rk_live_", apiKey, 16},
	{"rk_test_", apiKey, 16},
	{"whsec_", secretKey, 24},
	{"GOCSPX-", secretKey, 24},
	{"AIza", apiKey, 35},
	{"SG.", apiKey, 50},
	{"key-", apiKey, 32},
	{"NRAK-", apiKey, 27},
	{"gsk_", apiKey, 40},
	{"xai-", apiKey, 60},
	{"glsa_", apiKey, 36},
	{"glc_eyJ", apiKey, 30},
	{"glc_", apiKey, 60},
	{"lin_api_", apiKey, 32},
	{"PMAK-", apiKey, 50},
	{"dt0c01.", apiKey, 60},
	{"dt0s01.", apiKey, 60},
	{"HRKU-AA", apiKey, 50},
	{"EZAK", apiKey, 54},
	{"EZTK", apiKey, 54},
	{"sq0atp-", apiKey, 22},
	{"sq0csp-", apiKey, 22},
	{"EAAA", apiKey, 50},
	{"pscale_pw_", password, 32},
	{"pscale_tkn_", token, 32},
	{"LTAI", apiKey, 20},
	{"AGE-SECRET-KEY-1", privateKey, 50},
	{"xoxc-", slackToken, 20},
	{"xoxd-", slackToken, 20},
	{"tskey-", token, 20},
	{"sbp_", token, 40},
	{"sb_secret_", secretKey, 20},
	{"CCIPAT_", token, 40},
	{"CCIPRJ_", token, 40},
	{"bkua_", token, 36},
	{"bkaj_", token, 36},
	{"figd_", token, 30},
	{"figu_", token, 30},
	{"r8_", token, 36},
	{"ops_eyJ", token, 40},
	{"A3-", secretKey, 30},
	{"s.", token, 24},
	{"nfp_", token, 36},
	{"re_", apiKey, 30},
	{"phx_", apiKey, 36},
	{"nvapi-", apiKey, 50},
	{"pcsk_", apiKey, 50},
	{"lsv2_pt_", apiKey, 32},
	{"lsv2_sk_", apiKey, 32},
	{"xkeysib-", apiKey, 64},
	{"xsmtpsib-", apiKey, 64},
	{"sgp_", token, 40},
	{"slk_", token, 40},
	{"CFPAT-", token, 40},
	{"ATBB", password, 28},
	{"pat-na1-", token, 32},
	{"pat-eu1-", token, 32},
	{"pnu_", apiKey, 32},
	{"pnb_", apiKey, 32},
	{"apify_api_", token, 30},
	{"pplx-", apiKey, 40},
	{"rnd_", apiKey, 24},
	{"fm1r_", token, 40},
	{"fm2_", token, 40},
	{"xaat-", token, 32},
	{"xapt-", token, 32},
	{"shpca_", token, 32},
	{"shppa_", token, 32},
	{"hvr.", token, 24},
	{"lin_oauth_", apiKey, 32},
	{"vcp_", token, 40},
	{"e2b_", apiKey, 36},
	{"tgp_v1_", apiKey, 36},
	{"jina_", apiKey, 40},
	{"sk-lf-", apiKey, 32},
	{"dp.ct.", token, 40},
	{"dp.sa.", token, 40},
	{"tarsy_", apiKey, 40},     // TARSy's own keys
	{"tarsyshare_", token, 40}, // and shares
	{"eyJ", token, 0},          // a JWT, see jwtEnd
}

// prefixes finds tokens by their prefix.
func prefixes() finder {
	f := finder{}
	starts := map[string][]prefix{}

	for _, p := range tokenPrefixes {
		word := strings.ToLower(p.text)
		if starts[word] == nil {
			f.words = append(f.words, word)
		}

		starts[word] = append(starts[word], p)
	}

	f.at = func(s *scan, start, end int) {
		if start < s.token || start > 0 && isWord(s.text[start-1]) && !s.afterEscape(start) {
			return
		}

		for _, p := range starts[strings.ToLower(s.text[start:end])] {
			if s.text[start:end] == p.text && s.wanted[p.name] {
				s.prefixed(p, start, end)
			}
		}
	}

	return f
}

// afterEscape reports whether the letter before a position belongs to an escape such as \n or %3D.
func (s *scan) afterEscape(at int) bool {
	if at >= 2 && s.text[at-2] == '\\' && strings.IndexByte("nrt", s.text[at-1]) >= 0 {
		return true
	}

	return at >= 3 && s.text[at-3] == '%'
}

func (s *scan) prefixed(p prefix, start, end int) {
	if p.text == "eyJ" {
		if end = s.jwtEnd(end); end > 0 {
			s.hide(start, end, p.name)
			s.token = end
		}

		return
	}

	run := s.runAt(start)
	stop := end

	for stop < run.end && isToken(s.text[stop]) {
		stop++
	}

	// A dot or dash at the end belongs to the sentence.
	for stop > end && strings.IndexByte(".-", s.text[stop-1]) >= 0 {
		stop--
	}

	if tail := s.text[end:stop]; len(tail) >= p.least && (len(tail) > longestDoubt || p.random(tail)) {
		s.hide(start, stop, p.name)
		s.token = stop
	}
}

// random distinguishes a token from a name that happens to have the same prefix.
func (p prefix) random(tail string) bool {
	switch {
	case p.name == awsAccessKey:
		return len(tail) == p.least && isCode(tail)
	case p.text == "A3-":
		return isCode(strings.ReplaceAll(tail, "-", "")) && hasDigit(tail) && strings.Count(tail, "-") >= 4
	case p.text == "s.":
		// The fields of a variable s look the same, but are words.
		return len(tail) == p.least && !strings.ContainsAny(tail, "-_./+=~") && hasDigit(tail) && jumps(tail)*10 >= len(tail)*3
	}

	return entropy(tail) > 2.8 && (hasDigit(tail) || mixedCase(tail)) && !isKebab(tail)
}

// isCode reports whether a text has only capitals and digits.
func isCode(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !isUpper(byte(r)) && !isDigit(byte(r)) })
}

// isToken reports whether c is a character of a token without its prefix.
func isToken(c byte) bool {
	return isWord(c) || c == '-' || c == '.' || c == '=' || c == '+' || c == '/' || c == '~'
}

// jwtEnd returns the end of a JSON Web Token whose first part has begun, or 0 if it is not one. A token without a signature counts if
// its second part is an object too.
func (s *scan) jwtEnd(at int) int {
	run := s.runAt(at - 1)
	dots, length, least := 0, 0, 2

	for ; at < run.end; at++ {
		switch c := s.text[at]; {
		case c == '.':
			if dots++; length < 8 || dots > 4 {
				return 0
			}

			length = 0

			if dots == 1 && strings.HasPrefix(s.text[at+1:run.end], "eyJ") {
				least = 1
			}
		case isWord(c) || c == '-' || c == '=':
			length++
		default:
			if dots < least {
				return 0
			}

			return at
		}
	}

	if dots < least {
		return 0
	}

	return at
}
