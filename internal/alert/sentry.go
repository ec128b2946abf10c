package alert

import (
	_ "embed"

	"tarsy.dev/tarsy"
)

//go:embed sample/sentry.json
var sentrySample string

func sentry() Source {
	return Source{
		Name: tarsy.SourceSentry, Sample: sentrySample, Connect: connectGeneric,
		read: readGeneric, signing: signedByProxies(),
	}
}
