package alert

import (
	_ "embed"

	"tarsy.dev/tarsy"
)

//go:embed sample/datadog.json
var datadogSample string

func datadog() Source {
	return Source{
		Name: tarsy.SourceDatadog, Sample: datadogSample, Connect: connectGeneric,
		read: readGeneric, signing: signedByProxies(),
	}
}
