package cluster

import (
	"fmt"
	"strings"
)

type metricQuery struct {
	Namespace string `json:"namespace" jsonschema:"the namespace of the workload"`
	Workload  string `json:"workload"  jsonschema:"the name of the deployment, statefulset or cron job"`
	Metric    string `json:"metric"    jsonschema:"cpu or memory"`
}

// series is a metric over time.
type series struct {
	unit    string
	limit   float64
	samples []sample
	remark  string
}

type sample struct {
	at    string
	value float64
	note  string
}

const (
	memory = "memory"
	cpu    = "cpu"
)

// measured returns the series that belong to a story; every other workload is quiet.
func measured(workload, metric string) (series, bool) {
	switch workload + " " + metric {
	case "shop/checkout memory":
		return series{unit: "MiB", limit: 512, remark: "Before 18:06 (v2.30.4) the use was flat between 205 and 214 MiB for 13 days.",
			samples: []sample{
				{"03-16 12:00", 208, ""}, {"03-16 14:00", 211, ""}, {"03-16 16:00", 209, ""},
				{"03-16 18:00", 212, "rollout of v2.31.0 at 18:06"}, {"03-16 20:00", 263, ""}, {"03-16 22:00", 318, ""},
				{"03-17 00:00", 371, ""}, {"03-17 02:00", 429, ""}, {"03-17 04:00", 502, "OOM kill at 04:31"},
				{"03-17 05:00", 241, "restarted"}, {"03-17 06:00", 348, ""}, {"03-17 07:30", 509, "OOM kill at 07:50"},
				{"03-17 08:00", 233, "restarted"}, {"03-17 09:00", 437, "morning traffic"},
				{"03-17 09:30", 511, "OOM kills at 09:34 and 09:41"}, {"03-17 09:41", 246, "restarted"},
			}}, true
	case "shop/checkout cpu":
		return series{unit: "cores", limit: 1, remark: "Peaks follow garbage collection shortly before each kill.",
			samples: []sample{
				{"03-16 16:00", 0.21, ""}, {"03-16 18:00", 0.22, "rollout of v2.31.0"}, {"03-16 22:00", 0.24, ""},
				{"03-17 02:00", 0.31, ""}, {"03-17 04:00", 0.83, "before the kill at 04:31"}, {"03-17 05:00", 0.24, ""},
				{"03-17 07:30", 0.88, "before the kill at 07:50"}, {"03-17 09:30", 0.94, "before the kill at 09:34"},
				{"03-17 09:41", 0.33, ""},
			}}, true
	case "shop/catalog-search cpu":
		return series{unit: "cores", limit: 1, remark: "The pods mostly wait: they use less than a third of their limit.",
			samples: []sample{
				{"03-17 06:00", 0.11, ""}, {"03-17 07:00", 0.14, ""}, {"03-17 08:00", 0.19, ""}, {"03-17 08:45", 0.21, ""},
				{"03-17 08:52", 0.29, "a reindex began at 08:51"}, {"03-17 09:00", 0.28, ""}, {"03-17 09:15", 0.28, ""},
				{"03-17 09:30", 0.29, ""}, {"03-17 09:41", 0.28, ""},
			}}, true
	case "shop/catalog-db cpu":
		return series{unit: "cores", limit: 4, remark: "Busier since 08:52, far from its limit.",
			samples: []sample{
				{"03-17 06:00", 0.5, ""}, {"03-17 08:00", 0.7, ""}, {"03-17 08:45", 0.7, ""}, {"03-17 08:52", 1.9, ""},
				{"03-17 09:15", 1.8, ""}, {"03-17 09:30", 1.9, ""}, {"03-17 09:41", 1.8, ""},
			}}, true
	case "payments/payments-api memory":
		return series{unit: "MiB", limit: 384, remark: "Of the two pods that still run. The new pod ends before it is measured.",
			samples: flat("MiB", 171)}, true
	case "payments/payments-api cpu":
		return series{unit: "cores", limit: 0.5, remark: "Two pods carry what three did until 09:12.",
			samples: []sample{
				{"03-17 06:00", 0.12, ""}, {"03-17 07:00", 0.15, ""}, {"03-17 08:00", 0.19, ""}, {"03-17 09:00", 0.22, ""},
				{"03-17 09:15", 0.31, "one pod fewer since 09:12"}, {"03-17 09:30", 0.33, ""}, {"03-17 09:41", 0.34, ""},
			}}, true
	case "reporting/batch-reports cpu":
		return series{unit: "cores", limit: 4, remark: "The same shape every night: 3.8 to 3.9 cores at the peak on each of the last 14 nights.",
			samples: []sample{
				{"03-16 02:30", 3.8, "nightly window"}, {"03-16 03:30", 3.4, "nightly window"}, {"03-16 04:00", 0, "job complete"},
				{"03-16 12:00", 0, ""}, {"03-17 01:59", 0, ""}, {"03-17 02:00", 1.1, "window opens"}, {"03-17 02:15", 3.8, ""},
				{"03-17 02:30", 3.9, ""}, {"03-17 03:00", 3.9, ""}, {"03-17 03:30", 3.3, ""}, {"03-17 03:45", 0, "job complete at 03:43"},
				{"03-17 09:41", 0, ""},
			}}, true
	case "reporting/batch-reports memory":
		return series{unit: "MiB", limit: 4096, remark: "As on the nights before.",
			samples: []sample{
				{"03-17 01:59", 0, ""}, {"03-17 02:15", 2210, "nightly window"}, {"03-17 02:30", 2734, ""},
				{"03-17 03:00", 2790, ""}, {"03-17 03:30", 2102, ""}, {"03-17 03:45", 0, "job complete"}, {"03-17 09:41", 0, ""},
			}}, true
	default:
		return series{}, false
	}
}

func flat(unit string, around float64) []sample {
	var samples []sample
	for i, hour := range []string{"04:00", "05:00", "06:00", "07:00", "08:00", "09:00", "09:41"} {
		step := around / 50 * float64(i%3)
		if unit == "MiB" {
			step = float64(int(step))
		}
		samples = append(samples, sample{at: "03-17 " + hour, value: around + step})
	}

	return samples
}

func getMetrics(in metricQuery) (string, error) {
	if in.Metric != cpu && in.Metric != memory {
		return "", fmt.Errorf("error: metric %q is not one of: cpu, memory", in.Metric)
	}
	if err := checkNamespace(in.Namespace); err != nil {
		return "", err
	}
	found, ok := measured(in.Namespace+"/"+in.Workload, in.Metric)
	if !ok {
		if !runs(in.Namespace, in.Workload) {
			return "", notFound("workloads", in.Workload)
		}
		found = series{unit: "MiB", limit: 256, remark: "No remarkable change.", samples: flat("MiB", 96)}
		if in.Metric == cpu {
			found.unit, found.limit, found.samples = "cores", 0.5, flat("cores", 0.04)
		}
	}

	return chart(in, found), nil
}

func runs(namespace, workload string) bool {
	for _, p := range pods() {
		if p.namespace == namespace && (p.owner == workload || p.family() == workload) {
			return true
		}
	}

	return false
}

const barWidth = 30

func chart(in metricQuery, s series) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	var line strings.Builder
	for _, point := range s.samples {
		line.WriteRune(levels[min(int(point.value/s.limit*float64(len(levels))), len(levels)-1)])
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s/%s, per pod at the peak, limit %v %s, until %s\n", in.Metric, in.Namespace, in.Workload, s.limit, s.unit, Now)
	fmt.Fprintf(&text, "trend: %s\n\n", line.String())
	for _, point := range s.samples {
		filled := min(int(point.value/s.limit*barWidth), barWidth)
		bar := strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
		row := fmt.Sprintf("%s  %7.4g %s  |%s|  %s", point.at, point.value, s.unit, bar, point.note)
		text.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	fmt.Fprintf(&text, "\n%s\n", s.remark)

	return text.String()
}
