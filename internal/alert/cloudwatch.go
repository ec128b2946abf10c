package alert

import (
	_ "embed"

	"tarsy.dev/tarsy"
)

//go:embed sample/cloudwatch.json
var cloudWatchSample string

func cloudWatch() Source {
	return Source{
		Name: tarsy.SourceCloudWatch, Sample: cloudWatchSample, Connect: connectGeneric,
		read: readGeneric, signing: signedByProxies(),
	}
}
