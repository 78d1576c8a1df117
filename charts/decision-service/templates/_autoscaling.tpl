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
  sasl: {{ get (dict "plain" "plaintext" "scram-sha-256" "scram_sha256" "scram-sha-512" "scram_sha512" "aws-iam" "aws_msk_iam" "oauthbearer" "oauthbearer") $logging.mqSasl.mechanism | default "none" }}
  {{- if eq $logging.mqSasl.mechanism "aws-iam" }}
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

{{- define "umbrella.triggerAuthentication" -}}
{{- $logging := .Values.app.logging -}}
{{- $references := include "umbrella.secretReferences" (dict "root" . "variables" (list "MQ_SASL_USERNAME" "MQ_SASL_PASSWORD")) | fromYaml -}}
{{- if and (include "umbrella.triggerAuthenticationName" .) (not .Values.hps.workers.autoscaling.triggerAuthentication) }}
---
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata:
  {{- include "decision.metadata" (dict "root" . "name" "solve-worker") | nindent 2 }}
spec:
  {{- if eq $logging.mqSasl.mechanism "aws-iam" }}
  podIdentity:
    provider: aws
    {{- with $logging.awsRoleArn }}
    roleArn: {{ . }}
    {{- end }}
  {{- end }}
  secretTargetRef:
    {{- if ne $logging.mqSasl.mechanism "aws-iam" }}
    {{- range $variable, $reference := $references }}
    - parameter: {{ trimPrefix "MQ_SASL_" $variable | lower }}
      name: {{ $reference.name }}
      key: {{ $reference.key }}
    {{- end }}
    {{- end }}
    {{- with $logging.mqTls }}
    {{- if .existingSecret }}
    {{- range $parameter, $key := dict "ca" .caKey "cert" .certKey "key" .keyKey }}
    {{- if $key }}
    - parameter: {{ $parameter }}
      name: {{ $.Values.app.logging.mqTls.existingSecret }}
      key: {{ $key }}
    {{- end }}
    {{- end }}
    {{- end }}
    {{- end }}
{{- end }}
{{- end -}}
