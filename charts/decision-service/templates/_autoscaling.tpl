{{/* The lag of the workers on `solution`, read from the brokers that the workers use. */}}
{{- define "umbrella.lagTrigger" -}}
{{- $logging := .Values.app.logging -}}
{{- $external := ne (include "umbrella.usesInternalBroker" .) "true" -}}
type: kafka
metadata:
  bootstrapServers: {{ include "umbrella.brokers" . | quote }}
  consumerGroup: {{ $logging.mqTopicPrefix }}generic-workers
  topic: {{ $logging.mqTopicPrefix }}solution
  lagThreshold: {{ .Values.hps.workers.autoscaling.lagThreshold | quote }}
  offsetResetPolicy: latest
  allowIdleConsumers: 'false'
  {{- if $external }}
  tls: {{ ternary "enable" "disable" $logging.mqSsl }}
  sasl: {{ get (dict "plain" "plaintext" "scram-sha-256" "scram_sha256" "scram-sha-512" "scram_sha512" "aws-iam" "oauthbearer" "oauthbearer" "oauthbearer") $logging.mqSasl.mechanism | default "none" }}
  {{- if eq $logging.mqSasl.mechanism "aws-iam" }}
  saslTokenProvider: aws_msk_iam
  awsRegion: {{ $logging.mqSasl.region }}
  {{- end }}
  {{- end }}
{{- with include "umbrella.triggerAuthenticationName" . }}
authenticationRef:
  name: {{ . }}
{{- end }}
{{- end -}}

{{/* A metric of the gateways, of which any may answer: what one refuses is like what the others refuse. Takes root, metric, metricType and target. */}}
{{- define "umbrella.gatewayTrigger" -}}
{{- $gateway := index .root.Subcharts "hps-gateway" -}}
type: metrics-api
metricType: {{ .metricType }}
metadata:
  url: http://{{ include "umbrella.name" (dict "root" .root "name" "hps-gateway") }}.{{ .root.Release.Namespace }}.svc:{{ $gateway.Values.metricsPort }}/metrics
  format: prometheus
  valueLocation: {{ .metric }}
  targetValue: {{ .target | quote }}
{{- end -}}

{{/* Mean wait of requests in workers, s; no value while there are no requests. The window holds four scrapes, so that a failed one leaves no gap. */}}
{{- define "umbrella.waitQuery" -}}
{{- $of := printf "{namespace=%q,service=\"solve-worker\"}[2m]" .Release.Namespace -}}
sum(rate(decision_responder_wait_seconds_sum{{ $of }})) / (sum(rate(decision_responder_wait_seconds_count{{ $of }})) > 0)
{{- end -}}

{{/* Empty: the brokers ask for nothing. */}}
{{- define "umbrella.triggerAuthenticationName" -}}
{{- $logging := .Values.app.logging -}}
{{- if ne (include "umbrella.usesInternalBroker" .) "true" -}}
{{- if .Values.hps.workers.autoscaling.triggerAuthentication -}}
{{ .Values.hps.workers.autoscaling.triggerAuthentication }}
{{- else if or $logging.mqSasl.mechanism $logging.mqTls.existingSecret -}}
{{ include "umbrella.name" (dict "root" . "name" "solve-worker") }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether keda is given a login from a secret: user name and password, client id and client secret, or the keys of AWS. */}}
{{- define "umbrella.triggerLogin" -}}
{{- with .Values.app.logging.mqSasl -}}
{{- and .mechanism (or .existingSecret (and .username .password)) | not | not -}}
{{- end -}}
{{- end -}}

{{/*
How keda proves itself to the brokers, by the parameters of its trigger `kafka`. The token endpoint and the scope are no secrets: keda reads them from
the config map of the workers.
*/}}
{{- define "umbrella.triggerAuthentication" -}}
{{- $logging := .Values.app.logging -}}
{{- $sasl := $logging.mqSasl -}}
{{- $login := eq (include "umbrella.triggerLogin" .) "true" -}}
{{- $parameters := ternary (dict "MQ_SASL_USERNAME" "awsAccessKeyID" "MQ_SASL_PASSWORD" "awsSecretAccessKey") (dict "MQ_SASL_USERNAME" "username" "MQ_SASL_PASSWORD" "password") (eq $sasl.mechanism "aws-iam") -}}
{{- $secrets := list -}}
{{- if $login -}}
{{- range $variable, $reference := include "umbrella.secretReferences" (dict "root" . "variables" (keys $parameters | sortAlpha)) | fromYaml -}}
{{- $secrets = append $secrets (dict "parameter" (get $parameters $variable) "name" $reference.name "key" $reference.key) -}}
{{- end -}}
{{- end -}}
{{- if $logging.mqTls.existingSecret -}}
{{- range $parameter, $key := dict "ca" $logging.mqTls.caKey "cert" $logging.mqTls.certKey "key" $logging.mqTls.keyKey -}}
{{- if $key }}{{ $secrets = append $secrets (dict "parameter" $parameter "name" $logging.mqTls.existingSecret "key" $key) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if and (include "umbrella.triggerAuthenticationName" .) (not .Values.hps.workers.autoscaling.triggerAuthentication) }}
---
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata:
  {{- include "decision.metadata" (dict "root" . "name" "solve-worker") | nindent 2 }}
spec:
  {{- if and (eq $sasl.mechanism "aws-iam") (not $login) }}
  podIdentity:
    provider: aws
    roleArn: {{ $logging.awsRoleArn }}
  {{- end }}
  {{- if eq $sasl.mechanism "oauthbearer" }}
  configMapTargetRef:
    - parameter: oauthTokenEndpointUri
      name: {{ include "umbrella.name" (dict "root" . "name" "solve-worker") }}
      key: MQ_SASL_TOKEN_URL
    {{- if $sasl.scope }}
    - parameter: scopes
      name: {{ include "umbrella.name" (dict "root" . "name" "solve-worker") }}
      key: MQ_SASL_SCOPE
    {{- end }}
  {{- end }}
  {{- with $secrets }}
  secretTargetRef:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* A metric of the services beside processor time, for the autoscaler of Kubernetes. */}}
{{- define "umbrella.hpaMetric" -}}
{{- with .Values.hps.workers.autoscaling.hpaMetric -}}
{{- $metric := dict "name" .name -}}
{{- with .selector }}{{ $_ := set $metric "selector" (dict "matchLabels" .) }}{{ end -}}
{{- $target := ternary (dict "type" "AverageValue" "averageValue" (toString .target)) (dict "type" "Value" "value" (toString .target)) (eq .type "Pods") -}}
{{- toYaml (dict "type" .type (lower .type) (dict "metric" $metric "target" $target)) -}}
{{- end -}}
{{- end -}}
