package corpus

import "fmt"

// forms returns passwords in forms that no context covers: command lines, encodings, tables and disguised names.
func forms(r *random) []Sample {
	var samples []Sample

	for _, f := range []struct{ context, format string }{
		{"curl short flags", "curl -sSu ada:%s https://api.example.com/v1/orders"},
		{"curl user equals", "curl --user='ada:%s' https://api.example.com"},
		{"curl argument list", `["curl", "-u", "ada:%s", "https://api.example.com"]`},
		{"authorization without a scheme", "Authorization: %s"},
		{"authorization of another scheme", "Authorization: SSWS %s"},
		{"telegram", "POST https://api.telegram.org/bot123456789:%s/sendMessage"},
		{"mysql quoted", "mysqldump -h db -p'%s' shop"},
		{"percent-encoded", "next=https%%3A%%2F%%2Fa.example%%2F%%3Fpassword%%3D%s%%26page%%3D2"},
		{"xml attributes", `<add key="DbPassword" value="%s" />`},
		{"aligned columns", "NAME      PASSWORD                  AGE\nada       %s      3d\n"},
		{"markdown table", "| user | password |\n|------|----------|\n| ada | %s |\n"},
		{"zero-width name", "pass\u200bword=%s"},
	} {
		for range 3 {
			secret := r.alnum(9) + r.digits(2) + r.alnum(11)
			samples = append(samples, Sample{Kind: "unusual form", Context: f.context, Text: fmt.Sprintf(f.format, secret), Secrets: []string{secret}})
		}
	}

	return samples
}
