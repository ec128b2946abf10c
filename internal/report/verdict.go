package report

import (
	"strconv"

	"tarsy.dev/tarsy"
)

// verdict writes the conclusion of a session, if it has one. It comes first because readers of a ticket look for it first.
func (r *writer) verdict() {
	v := r.export.Session.Verdict
	if v == nil {
		return
	}

	r.section("Verdict")
	r.printf("**%s**", inline(v.Outcome.Words(), maxCell))
	r.claim(": ", v.Cause, "")
	r.printf("\n\n- Confidence: %s", words(string(v.Confidence)))
	r.claim(". ", v.ConfidenceReason, "")
	r.printf("\n")
	r.claim("- Impact: ", v.Impact, "\n")
	r.steps(v.NextSteps)

	if len(v.NotChecked) > 0 {
		r.printf("\n### Not checked\n\n")
	}

	for _, c := range v.NotChecked {
		r.claim("- ", c, "\n")
	}
}

// feedback writes people's feedback on the conclusion, one line each.
func (r *writer) feedback() {
	if len(r.export.Session.Feedback) > 0 {
		r.section("Feedback")
	}

	for _, f := range r.export.Session.Feedback {
		r.printf("- %s (%s, %s)", words(string(f.Rating)), inline(f.Author, maxCell), moment(&f.UpdatedAt))
		r.claim(": ", tarsy.Claim{Text: f.Why}, "")
		r.printf("\n")
		r.claim("  - Real cause: ", tarsy.Claim{Text: f.RealCause}, "\n")
	}
}

func (r *writer) steps(steps []tarsy.NextStep) {
	if len(steps) > 0 {
		r.printf("\n### Next steps\n\n")
	}

	for i, s := range steps {
		r.printf("%s. %s (%s)\n", strconv.Itoa(i+1), inline(s.Title, tarsy.MaxVerdictLine), inline(s.Caution(), maxCell))
		r.claim("   - Why: ", s.Why, "\n")
		r.claim("   - Link: ", tarsy.Claim{Text: s.URL}, "\n")

		if s.Command != "" {
			r.printf("\n")
			r.fenced("command", "sh", s.Command, maxEvidence)
			r.printf("\n")
		}
	}
}

// claim writes a text of the verdict on one line, between before and after, unless it is empty: a dash alone would make a
// heading of the line above. Citation marks are kept: the evidence shows their calls.
func (r *writer) claim(before string, c tarsy.Claim, after string) {
	if text := inline(c.Text, tarsy.MaxVerdictText); text != "" {
		r.printf("%s%s%s", before, text, after)
	}
}

// claims returns the texts of the verdict that can cite calls, in the order of the report.
func (r *writer) claims() []string {
	v := r.export.Session.Verdict
	if v == nil {
		return nil
	}

	texts := []string{v.Cause.Text, v.ConfidenceReason.Text, v.Impact.Text}

	for _, s := range v.NextSteps {
		texts = append(texts, s.Why.Text)
	}

	for _, c := range v.NotChecked {
		texts = append(texts, c.Text)
	}

	return texts
}
