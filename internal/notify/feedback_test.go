package notify

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFeedbackIsReadFromMessages(t *testing.T) {
	t.Parallel()

	for content, want := range map[string][3]string{
		"!feedback right":                                                  {"right", "", ""},
		"  !Feedback   WRONG because of the disk":                          {"wrong", "because of the disk", ""},
		"!feedback wrong, the pod was fine. Cause: an expired certificate": {"wrong", "the pod was fine.", "an expired certificate"},
		"!feedback partly:\nit was slower\nreal cause: the network\nof eu": {"partly", "it was slower", "the network\nof eu"},
		"!feedback wrong cause: DNS":                                       {"wrong", "", "DNS"},
		"!feedback wrong root-cause: stays a part of why":                  {"wrong", "root-cause: stays a part of why", ""},
		"!feedback withdraw":                                               {"withdraw", "", ""},
		"!feedback":                                                        {"", "", ""},
		"!feedbac\u212a right":                                             {"right", "", ""},
		"!feedback\n":                                                      {"", "", ""},
		"!feedback @everyone":                                              {"@everyone", "", ""},
	} {
		require.True(t, isFeedback(content), content)

		word, why, cause := parseFeedback(content)
		require.Equal(t, want, [3]string{word, why, cause}, content)
	}

	for _, content := range []string{"", "Why?", "feedback wrong", "!feedbacks", "!feed", "Is this !feedback wrong?", "! feedback"} {
		require.False(t, isFeedback(content), content)
	}
}
