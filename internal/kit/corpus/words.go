package corpus

import "fmt"

// words returns harmless uses of the words that secrets go by.
func words() []family {
	f := fmt.Sprintf

	return []family{
		{"token words", append(once(
			"token_count: 1500", "max_tokens=4096 tokens_used=812", "tokenizer: cl100k_base", `{"prompt_tokens": 912, "completion_tokens": 88}`,
			"The token bucket refills 100 tokens per second.", "tokenExpirationSeconds: 3600", "automountServiceAccountToken: false", "token-ttl: 24h",
			"error: token expired", "invalid token: unexpected end of JSON input", "unexpected token '<' at position 0", "token_type=bearer expires_in=3600",
			"csrf token missing or incorrect", "token: \"\"", "token: null", "tokenEndpoint: https://login.example.com/oauth2/v2.0/token",
			"size_threshold_tokens: 5000", "token_url=https://sso.example.com/token", "refresh token rotation is enabled", "TokenReview API returned 403",
			"serviceAccountToken:\n  path: token\n  expirationSeconds: 3607", "token lifetime is 3600 seconds", "SyntaxError: Unexpected token } in JSON", "parse error near token \"FROM\"",
		), func(r *random) string { return f("tokens_per_second=%d token_budget=%d", r.number(99), r.number(9999)) })},
		{"password words", append(once(
			"password_policy: strict", "passwordPolicy:\n  minLength: 12\n  requireDigits: true", "passwordFile: /run/secrets/db-password", "--password-file=/etc/db/password",
			"password: ${DB_PASSWORD}", "password: $(DB_PASSWORD)", "password: \"\"", "\"password\": null",
			"password: <redacted>", "password=********", "password: {{ .Values.db.password }}", "PASSWORD_FILE=/var/run/secrets/password",
			"password authentication failed for user \"app\"", "Enter password:", "password expired for user app", "The password must be rotated every 90 days.",
			"passwordSecretRef:\n  name: db-credentials\n  key: password", "password_hash_algorithm=argon2id", "pwd: /home/app", "PWD=/workspace/src",
			"OLDPWD=/root", "password: xxxxxxxx", "no password supplied", "password reset link sent to user",
			"Failed password for root from 10.0.0.9 port 52144 ssh2", "password = os.environ[\"DB_PASSWORD\"]", "password: !vault-ref database/creds", "password = var.db_password",
		), func(r *random) string { return f("password_attempts=%d lockout=%dm", r.number(9), r.number(60)) })},
		{"secret words", append(once(
			"secretName: my-tls", "imagePullSecrets:\n- name: regcred", "secretKeyRef:\n  name: db\n  key: password", "envFrom:\n- secretRef:\n    name: app-env",
			"MountVolume.SetUp failed for volume \"certs\" : secret \"app-tls\" not found", "secrets is forbidden: User \"ada\" cannot list resource \"secrets\"", "kind: ExternalSecret", "secretStoreRef:\n  kind: ClusterSecretStore\n  name: vault",
			"secret/db-credentials configured", "--tls-secret=app-tls --namespace=prod", "secretProviderClass: azure-kv", "volumes:\n- name: creds\n  secret:\n    secretName: db\n    defaultMode: 420",
			"secret_version: 7", "secretsmanager.eu-west-1.amazonaws.com", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:prod/db-a1B2c3", "The secret of good soup is time.",
			"SecretSynced=True", "kubectl get secrets -n prod", "external-secrets-operator is healthy", "secret: false",
		), func(r *random) string { return f("secret_rotation_days=%d", 30+r.number(60)) })},
		{"key words", append(once(
			"key: value", "primary_key: id", "foreign key constraint \"orders_user_id_fkey\" violated", "duplicate key value violates unique constraint \"users_pkey\"",
			"partition_key=customer_id sort_key=created_at", "api_version: v1", "apiGroup: rbac.authorization.k8s.io", "keyboard interrupt received",
			"api_key_header: X-Api-Key", "api_key_env: GEMINI_API_KEY", "key_size: 4096", "cache key orders:v2:page:1 evicted",
			"keyspace hits: 120 misses: 4", "accessKeyIDSecretRef:\n  name: aws\n  key: access-key-id", "api-key is required", "missing API key",
			"public_key_url: https://sso.example.com/jwks", "keyAlgorithm: RSA", "keySize: 2048", "ssh-keygen: generating public/private key pair",
			"key=orders/2026/11/15/part-0001.json bucket=events", "secret_key_name=db-main", "api_keys_total 17", "KeyError: 'items'",
		), func(r *random) string { return f("cache_key=%s:%s:%d", r.word(), r.word(), r.number(999)) })},
		{"keys of alerts", []func(*random) string{
			func(r *random) string {
				return f(`{"id": "PGR0VU2", "incident_key": "%s", "status": "triggered"}`, r.hex(32))
			},
			func(r *random) string { return f("incident_key: %s/%s-%s", r.word(), r.word(), r.digits(6)) },
			func(r *random) string {
				return f(`"dedup_key": "srv%s/%s", "event_action": "trigger"`, r.digits(4), r.alnum(24))
			},
			func(r *random) string { return f("alert_cycle_key=%s aggreg_key=%s", r.digits(19), r.hex(32)) },
		}},
		{"auth words", append(once(
			"auth_method=oidc", "authType: none", "authorization: enabled", "Authorization header is missing",
			"WWW-Authenticate: Bearer realm=\"api\"", "bearer token required", "basic auth is disabled", "Basic usage of the command",
			"credentials: include", "credential_source: environment", "credentials expired at 12:00", "auth_url: https://sso.example.com/auth",
			"session_timeout=30m", "session affinity: ClientIP", "cookie_domain=.example.com; Path=/", "Set-Cookie: theme=dark; Path=/; Max-Age=31536000",
			"client_id: orders-frontend", "oauth2_proxy: upstream timed out", "authenticator=GSSAPI", "login succeeded for user ada from 10.2.3.4",
		), func(r *random) string { return f("auth_failures=%d auth_latency_ms=%d", r.number(9), r.number(900)) })},
		{"paging and schemas", append(once(
			"\"nextPageToken\": \"CAUQAA1B2c3D4e5F6\"", "NextToken=AAMA7f3b1c9d2e5a8b6c", "continueToken: djE6MTIzNDU2Nzg5MA", "pageToken=CiAKGjBpNDd2Nmp2Zml2cXRpb3",
			"password: string", "\"apiKey\": {\"type\": \"string\"}", "token: {type: string, format: jwt}", "secret: my-app-secret-v2",
			"secretKey: db-password", "remoteRef:\n  key: prod/db\n  property: password", "tokenSecretRef:\n  name: gh-token-2", "existingSecret: orders-db-credentials-v3",
			"accessKey: us-east-1", "SHARD_KEY=customer-0042", "shard_key: user_id_hash_16", "idempotency_key=order-2026-11-15-0001",
			"cancellationToken.ThrowIfCancellationRequested()", "getPassword(\"main\")", "SecretManager.load(\"prod/db\")", "validateToken(req.headers.token)",
			"password strength: 80%", "secret scanning found 0 results", "tokens: [a, b, c]", "Token refresh took 1200ms",
			"passwordless login enabled", "password_reset_token_expires_in: 3600", "api_token_last_used: 2026-11-15T00:00:00Z", "token_id=42 token_name=ci-deploy-2026",
			"public_key: ssh-agent", "apikey_id: 17", "key_id=projects/p/locations/global", "kms_key: alias/orders-prod-2024",
		), func(r *random) string { return f("session_id=%s session_key=%s/2026/11", r.uuid(), r.word()) })},
		{"mail and people", once(
			"Contact: oncall@example.com", "Signed-off-by: Ada Lovelace <ada@example.com>", "owner=platform-team@example.com", "user ada logged in",
			"cc: @platform-oncall", "MAINTAINER ops@example.com", "From: alerts@example.com", "jira OPS-1234 assigned to grace",
		)},
	}
}
