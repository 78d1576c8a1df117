{{/* Everything here takes the context of the umbrella. Services are told by `umbrella.variables` and `umbrella.secrets` what their settings are. */}}

{{- define "umbrella.name" -}}
{{- include "decision.fullname" (dict "root" .root "name" .name) -}}
{{- end -}}

{{- define "umbrella.passthrough" -}}
{{- eq (toString .Values.global.externalAuth.enabled) "true" -}}
{{- end -}}

{{/* Brokers of the services, host:port separated by commas; empty: there are none. */}}
{{- define "umbrella.brokers" -}}
{{- $logging := .Values.app.logging -}}
{{- if .Values.mq.enabled -}}
{{- $logging.mqBrokers | default (include "umbrella.internalBrokers" .) -}}
{{- else if $logging.enabled -}}
{{- $logging.mqBrokers -}}
{{- end -}}
{{- end -}}

{{- define "umbrella.internalBrokers" -}}
{{- $name := include "umbrella.name" (dict "root" . "name" "mq") -}}
{{- $port := .Values.mq.port | int -}}
{{- range $index := until (.Values.mq.replicas | int) }}{{ if $index }},{{ end }}{{ $name }}-{{ $index }}.{{ $name }}-pods.{{ $.Release.Namespace }}.svc:{{ $port }}{{ end -}}
{{- end -}}

{{/* Whether the brokers that services use are our own. */}}
{{- define "umbrella.usesInternalBroker" -}}
{{- and .Values.mq.enabled (empty .Values.app.logging.mqBrokers) -}}
{{- end -}}

{{- define "umbrella.publicUrl" -}}
{{- if .Values.global.publicUrl -}}{{ .Values.global.publicUrl }}
{{- else if .Values.ingress.host -}}{{ ternary "https" "http" (or (not (empty .Values.ingress.tlsSecret)) (eq .Values.ingress.implementation "envoy-gateway")) }}://{{ .Values.ingress.host }}
{{- end -}}
{{- end -}}

{{/* Settings of the connection to the brokers, as YAML. */}}
{{- define "umbrella.brokerVariables" -}}
{{- $logging := .Values.app.logging -}}
{{- $brokers := include "umbrella.brokers" . -}}
MQ_TOPIC_PREFIX: {{ $logging.mqTopicPrefix | quote }}
{{ include "umbrella.messageVariables" . }}
{{- if $brokers }}
MQ_BROKERS: {{ $brokers | quote }}
{{- end }}
{{- if and $brokers (ne (include "umbrella.usesInternalBroker" .) "true") }}
MQ_SSL: {{ $logging.mqSsl | quote }}
{{- with $logging.mqTls }}
{{- if .existingSecret }}
{{- if .caKey }}
MQ_SSL_CA_FILE: /etc/decision/broker-tls/{{ .caKey }}
{{- end }}
{{- if .certKey }}
MQ_SSL_CERT_FILE: /etc/decision/broker-tls/{{ .certKey }}
MQ_SSL_KEY_FILE: /etc/decision/broker-tls/{{ .keyKey }}
{{- end }}
{{- end }}
{{- with .serverName }}
MQ_SSL_SERVER_NAME: {{ . | quote }}
{{- end }}
{{- end }}
{{- with $logging.mqSasl }}
{{- if .mechanism }}
MQ_SASL_MECHANISM: {{ .mechanism }}
{{- with .region }}
MQ_SASL_REGION: {{ . | quote }}
{{- end }}
{{- with .tokenUrl }}
MQ_SASL_TOKEN_URL: {{ . | quote }}
{{- end }}
{{- with .scope }}
MQ_SASL_SCOPE: {{ . | quote }}
{{- end }}
{{- with include "umbrella.tokenSource" $ }}
MQ_SASL_TOKEN_SOURCE: {{ . }}
{{- end }}
{{- if eq (include "umbrella.tokenSource" $) "file" }}
MQ_SASL_TOKEN_FILE: {{ .tokenFile | default "/etc/decision/broker-token/token" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where the tokens of oauthbearer come from; empty: another mechanism, or nothing says. */}}
{{- define "umbrella.tokenSource" -}}
{{- $sasl := .Values.app.logging.mqSasl -}}
{{- if eq $sasl.mechanism "oauthbearer" -}}
{{- if $sasl.tokenSource -}}{{ $sasl.tokenSource }}
{{- else if $sasl.tokenUrl -}}client-credentials
{{- else if or $sasl.tokenAudience $sasl.tokenFile -}}file
{{- else if or .Values.app.logging.gcpServiceAccountEmail .Values.mqBridge.gcpServiceAccountEmail -}}gcp
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether keda can log in at the brokers: it has no tokens of files and of Google Cloud but those of a TriggerAuthentication of the operator's. */}}
{{- define "umbrella.lagIsReadable" -}}
{{- if or .Values.hps.workers.autoscaling.triggerAuthentication (not (has (include "umbrella.tokenSource" .) (list "file" "gcp"))) -}}true{{- end -}}
{{- end -}}

{{/* Annotations by which the accounts of whatever speaks to the brokers get an identity of a cloud, as YAML. */}}
{{- define "umbrella.brokerIdentity" -}}
{{- $logging := .Values.app.logging -}}
{{- $bridge := .Values.mqBridge -}}
{{- $role := $logging.awsRoleArn -}}
{{- if and (eq $logging.mqSasl.mechanism "aws-iam") (not $logging.mqSasl.existingSecret) (not $logging.mqSasl.username) }}{{ $role = $role | default $bridge.awsRoleArn }}{{ end -}}
{{- $account := $logging.gcpServiceAccountEmail -}}
{{- if eq (include "umbrella.tokenSource" .) "gcp" }}{{ $account = $account | default $bridge.gcpServiceAccountEmail }}{{ end -}}
{{- with $role }}
eks.amazonaws.com/role-arn: {{ . }}
{{- end }}
{{- with $account }}
iam.gke.io/gcp-service-account: {{ . }}
{{- end }}
{{- end -}}

{{/* Largest messages, which services and topics must agree on. */}}
{{- define "umbrella.messageVariables" -}}
EXECUTION_MESSAGE_BYTES: {{ include "decision.text" .Values.app.limits.executionMessageBytes | quote }}
LOG_MESSAGE_BYTES: {{ include "decision.text" .Values.app.limits.logMessageBytes | quote }}
{{- end -}}

{{/* The bridge speaks without TLS and asks for nothing. */}}
{{- define "umbrella.bridgeVariables" -}}
{{- $name := include "umbrella.name" (dict "root" . "name" "mq-bridge") -}}
{{- $port := .Values.mqBridge.port | int -}}
MQ_TOPIC_PREFIX: {{ .Values.app.logging.mqTopicPrefix | quote }}
{{ include "umbrella.messageVariables" . }}
MQ_BROKERS: {{ range $index, $broker := splitList "," .Values.mqBridge.brokers }}{{ if $index }},{{ end }}{{ $name }}:{{ add $port $index }}{{ end }}
{{- end -}}

{{/* Variables of one service, as YAML. Takes root and name. */}}
{{- define "umbrella.variables" -}}
{{- $values := .root.Values -}}
{{- $limits := $values.app.limits -}}
{{- $name := .name -}}
LOG_LEVEL: {{ $values.app.logLevel }}
TRUSTED_PROXIES: {{ $values.global.trustedProxies | int | quote }}
{{- with $values.traces.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
OTEL_TRACES_SAMPLER_ARG: {{ $values.traces.sampleRatio | quote }}
OTEL_RESOURCE_ATTRIBUTES: {{ printf "service.namespace=%s,service.version=%s" $.root.Release.Name $.root.Chart.AppVersion | quote }}
{{- end }}
{{- if has $name (list "objects-api" "contexts-api" "hps-gateway") }}
HTTP_BODY_LIMIT_BYTES: {{ include "decision.text" $limits.httpBodyBytes | quote }}
{{- end }}
{{- if ne $name "log-collector" }}
CACHE_KEY_PREFIX: {{ $values.cache.keyPrefix | quote }}
{{- $tls := $values.cache.external.tls }}
{{- if and (not $values.cache.enabled) $tls.enabled $tls.existingSecret }}
{{- range $variable, $key := dict "CACHE_SSL_CA_FILE" $tls.caKey "CACHE_SSL_CERT_FILE" $tls.certKey "CACHE_SSL_KEY_FILE" $tls.keyKey }}
{{- if $key }}
{{ $variable }}: /etc/decision/cache-tls/{{ $key }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if has $name (list "objects-api" "auth-proxy-adapter") }}
{{- with include "umbrella.publicUrl" .root }}
PUBLIC_URL: {{ . | quote }}
{{- end }}
{{- end }}
{{- if eq $name "objects-api" }}
{{- with include "umbrella.brokers" .root }}
MQ_BROKERS: {{ . | quote }}
{{- end }}
{{- end }}
{{- if and (eq $name "log-collector") $values.mqBridge.enabled }}
{{ include "umbrella.bridgeVariables" .root }}
{{- else if has $name (list "contexts-api" "hps-gateway" "solve-worker" "log-collector") }}
{{ include "umbrella.brokerVariables" .root }}
{{- end }}
{{- if has $name (list "contexts-api" "hps-gateway" "solve-worker") }}
DECISION_LOGS: {{ $values.app.logging.enabled | quote }}
LOG_RECORD_MAX_BYTES: {{ include "decision.text" $limits.logRecordMaxBytes | quote }}
{{- end }}
{{- if has $name (list "contexts-api" "hps-gateway") }}
RPC_TIMEOUT_MS: {{ include "decision.text" $limits.rpcTimeoutMs | quote }}
HTTP_REQUEST_TIMEOUT_MS: {{ include "decision.text" $limits.rpcTimeoutMs | quote }}
ITEM_MAX_BYTES: {{ include "decision.text" $limits.itemMaxBytes | quote }}
CHUNK_BYTES: {{ include "decision.text" $limits.chunkBytes | quote }}
LARGE_BODY_THRESHOLD_BYTES: {{ include "decision.text" $limits.largeBodyThresholdBytes | quote }}
LARGE_BODY_MAX_CONCURRENT: {{ include "decision.text" $limits.largeBodyMaxConcurrent | quote }}
MAX_WORKERS: {{ $values.hps.workers.solutionPartitions | int | quote }}
{{- end }}
{{- if and (eq $name "hps-gateway") $limits.bulkMaxItems }}
BULK_MAX_ITEMS: {{ include "decision.text" $limits.bulkMaxItems | quote }}
{{- end }}
{{- if has $name (list "contexts-api" "solve-worker") }}
CONTEXT_BATCH_DB_CHUNK: {{ include "decision.text" $limits.contextBatchDbChunk | quote }}
{{- end }}
{{- if eq $name "solve-worker" }}
SHUTDOWN_DRAIN_MS: {{ add $limits.rpcTimeoutMs 2000 | int64 | quote }}
{{- end }}
{{- if $values.global.trustedAuthorities.configMap }}
NODE_EXTRA_CA_CERTS: /etc/decision/authorities/{{ $values.global.trustedAuthorities.key }}
{{- end }}
{{- if eq $name "auth-proxy-adapter" }}
{{ include "umbrella.peopleVariables" .root }}
{{- end }}
{{- end -}}

{{/* What auth-proxy-adapter knows of people and proxies. A value that is missing stays missing: the service then names it in its answers. */}}
{{- define "umbrella.peopleVariables" -}}
{{- $global := .Values.global -}}
EXTERNAL_AUTH_TOKEN_PASSTHROUGH: {{ include "umbrella.passthrough" . | quote }}
PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH: {{ include "umbrella.passthrough" . | quote }}
EXTERNAL_AUTH_HEADER: {{ $global.externalAuth.header | quote }}
EXTERNAL_AUTH_CLAIM_ID: {{ $global.externalAuth.claims.id | quote }}
EXTERNAL_AUTH_CLAIM_EMAIL: {{ $global.externalAuth.claims.email | quote }}
EXTERNAL_AUTH_CLAIM_NAME: {{ $global.externalAuth.claims.name | quote }}
{{- with $global.externalAuth.publicPaths }}
EXTERNAL_AUTH_PUBLIC_PATHS: {{ join "," . | quote }}
{{- end }}
{{- with $global.email }}
ADMIN_EMAIL: {{ . | quote }}
{{- end }}
{{- with $global.backend.url }}
BACKEND_URL: {{ . | quote }}
{{- end }}
{{- with .Values.migrations.workspace.slug }}
SIGN_IN_WORKSPACE: {{ . | quote }}
{{- end }}
{{- end -}}
