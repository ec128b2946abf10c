package corpus

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// rounds is how many samples are generated from each harmless form, each with different values.
const rounds = 4

// benign returns harmless samples that are easily mistaken for secrets.
func benign(r *random) []Sample {
	var samples []Sample

	for name, forms := range ordered(identifiers(), words(), objects(), programs()) {
		for range rounds {
			for _, form := range forms {
				samples = append(samples, Sample{Kind: "benign " + name, Context: "harmless", Text: form(r)})
			}
		}
	}

	return samples
}

type family struct {
	name  string
	forms []func(*random) string
}

// ordered iterates over the families in source order: the corpus must not depend on the order of a map.
func ordered(groups ...[]family) func(yield func(string, []func(*random) string) bool) {
	return func(yield func(string, []func(*random) string) bool) {
		for _, group := range groups {
			for _, f := range group {
				if !yield(f.name, f.forms) {
					return
				}
			}
		}
	}
}

// fixed returns a form for each text, without random parts.
func fixed(texts ...string) []func(*random) string {
	forms := make([]func(*random) string, len(texts))
	for i, text := range texts {
		forms[i] = func(*random) string { return text }
	}

	return forms
}

// once returns forms that go through the texts, a different one each round.
func once(texts ...string) []func(*random) string {
	var forms []func(*random) string

	for i := 0; i < len(texts); i += rounds {
		some := texts[i:min(i+rounds, len(texts))]
		next := 0

		forms = append(forms, func(*random) string {
			text := some[next%len(some)]
			next++

			return text
		})
	}

	return forms
}

func identifiers() []family {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	f := fmt.Sprintf

	return []family{
		{"uuid", []func(*random) string{
			func(r *random) string { return f("key=%s bucket=events", r.uuid()) },
			func(r *random) string { return f("request_id=%s status=200 path=/healthz", r.uuid()) },
			func(r *random) string { return f(`{"id":"%s","tenant":"%s","ok":true}`, r.uuid(), r.uuid()) },
			func(r *random) string { return f("uid: %s\nresourceVersion: \"%s\"", r.uuid(), r.digits(9)) },
		}},
		{"git hash", []func(*random) string{
			func(r *random) string {
				return f("commit %s\nAuthor: Ada <ada@example.com>\n\n    Fix the %s timeout", r.hex(40), r.word())
			},
			func(r *random) string { return f("HEAD is now at %s bump %s", r.hex(7), r.word()) },
			func(r *random) string {
				return f("https://git.example.com/platform/%s/commit/%s", r.word(), r.hex(40))
			},
			func(r *random) string { return f("GIT_COMMIT=%s\nBUILD_NUMBER=%s", r.hex(40), r.digits(4)) },
		}},
		{"image digest", []func(*random) string{
			func(r *random) string {
				return f("image: registry.example.com/%s@sha256:%s", r.word(), r.hex(64))
			},
			func(r *random) string {
				return f("Successfully pulled image \"%s:1.2.3\" in 2.1s, digest: sha256:%s", r.word(), r.hex(64))
			},
			func(r *random) string {
				return f(`{"imageID":"docker-pullable://nginx@sha256:%s","restartCount":0}`, r.hex(64))
			},
		}},
		{"container id", []func(*random) string{
			func(r *random) string { return f("containerID: containerd://%s", r.hex(64)) },
			func(r *random) string { return f("%s   nginx   \"/docker-entrypoint\"   2 hours ago", r.hex(12)) },
			func(r *random) string {
				return f("/kubepods/burstable/pod%s/cri-containerd-%s.scope", r.uuid(), r.hex(64))
			},
		}},
		{"checksum", []func(*random) string{
			func(r *random) string { return f("%s  release-1.4.2.tar.gz", r.hex(64)) },
			func(r *random) string { return f("md5sum: %s", r.hex(32)) },
			func(r *random) string {
				return f("github.com/google/uuid v1.6.0 h1:%s", r.base64(32))
			},
			func(r *random) string { return f(`"integrity": "sha512-%s"`, r.base64(64)) },
			func(r *random) string { return f("Content-MD5: %s", r.base64(16)) },
			func(r *random) string {
				return f("checksum/config: %s\npod-template-hash: %s", r.hex(64), r.from("bcdfghjklmnpqrstvwxz2456789", 10))
			},
		}},
		{"etag", []func(*random) string{
			func(r *random) string { return f(`ETag: "%s"`, r.hex(32)) },
			func(r *random) string { return f(`If-None-Match: W/"%s-%s"`, r.hex(4), r.base64(20)) },
		}},
		{"trace id", []func(*random) string{
			func(r *random) string { return f("traceparent: 00-%s-%s-01", r.hex(32), r.hex(16)) },
			func(r *random) string { return f(`{"trace_id":"%s","span_id":"%s"}`, r.hex(32), r.hex(16)) },
			func(r *random) string { return f("X-Request-Id: %s X-B3-TraceId: %s", r.alnum(22), r.hex(32)) },
			func(r *random) string { return f("X-Amzn-Trace-Id: Root=1-%s-%s", r.hex(8), r.hex(24)) },
		}},
		{"base64 of text", []func(*random) string{
			func(r *random) string {
				return f("payload: %s", encode("The "+r.word()+" service was restarted by the operator at noon."))
			},
			func(r *random) string {
				return f(`{"event":"%s"}`, encode(`{"service":"`+r.word()+`","replicas":3,"region":"eu-west-1"}`))
			},
			func(r *random) string {
				return f("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA%s", r.from(alnum+"+/", 60))
			},
			func(r *random) string { return f("continue=%s", encode(f("page=%d;limit=500", r.number(100)))) },
		}},
		{"not a jwt", []func(*random) string{
			func(r *random) string { return f("module %s.%s.%s loaded", r.word(), r.word(), r.word()) },
			func(r *random) string { return f("eyebrow.eyelash.eyelid are the %s parts", r.word()) },
			func(r *random) string {
				return f("eyJson.%s is the parser of %s", r.from(lower, 8), r.word())
			},
			func(r *random) string { return f("key%s.keys.example.com resolves", r.from(lower, 6)) },
		}},
		{"version", []func(*random) string{
			func(r *random) string {
				return f("v1.%d.%d-rc.%d+build.%s", r.number(40), r.number(20), r.number(9), r.hex(7))
			},
			func(r *random) string { return f("kubelet v1.34.%d, kernel 6.1.0-%d-amd64", r.number(9), r.number(40)) },
			func(r *random) string {
				return f("v0.0.0-20260703014108-%s // indirect", r.hex(12))
			},
		}},
		{"names", []func(*random) string{
			func(r *random) string {
				return f("%s-%s-%s   1/1   Running   0   3d", r.word(), r.from("bcdfghjklmnpqrstvwxz2456789", 10), r.from("bcdfghjklmnpqrstvwxz2456789", 5))
			},
			func(r *random) string {
				return f("arn:aws:iam::%s:role/%s-reader", r.digits(12), r.word())
			},
			func(r *random) string {
				return f("i-%s in subnet-%s of vpc-%s", r.hex(17), r.hex(17), r.hex(17))
			},
			func(r *random) string {
				return f("projects/orders/locations/eu/keyRings/main/cryptoKeys/%s/cryptoKeyVersions/%d", r.word(), r.number(9))
			},
			func(r *random) string {
				return f("default-token-%s  kubernetes.io/service-account-token  3  40d", r.from(lower, 5))
			},
			func(r *random) string { return f("sh.helm.release.v1.%s.v%d", r.word(), r.number(9)) },
		}},
		{"addresses", []func(*random) string{
			func(r *random) string {
				return f("https://%s/dashboards/d/%s/overview?orgId=1&from=now-6h&to=now", r.host(), r.alnum(9))
			},
			func(r *random) string {
				return f("http://%s:9090/graph?g0.expr=up%%7Bjob%%3D%%22%s%%22%%7D&g0.tab=0", r.host(), r.word())
			},
			func(r *random) string {
				return f("s3://logs-%s/year=2026/month=11/part-%s-%s.snappy.parquet", r.word(), r.digits(5), r.uuid())
			},
			func(r *random) string { return f("postgres://%s:5432/orders?sslmode=require", r.host()) },
			func(r *random) string { return f("ssh://git@%s:22/platform/infra.git", r.host()) },
			func(r *random) string {
				return f("2001:db8:%s:%s::%s port %d", r.hex(4), r.hex(4), r.hex(4), r.number(65000))
			},
			func(r *random) string {
				return f("redis://%s:6379/0 amqp://%s:5672 mongodb://%s/admin", r.host(), r.host(), r.host())
			},
		}},
		{"public keys", []func(*random) string{
			func(r *random) string {
				return f("SHA256:%s ada@laptop (ED25519)", strings.TrimRight(r.base64(32), "="))
			},
			func(r *random) string {
				return f("serial number %s, fingerprint %s", r.hex(36), strings.ToUpper(r.hex(2))+":"+strings.ToUpper(r.hex(2))+":"+strings.ToUpper(r.hex(2)))
			},
		}},
	}
}
