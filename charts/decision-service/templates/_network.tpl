{{/* The arrows of docs/architecture.md and no others. Answers YAML with ingress and egress. Takes root, name, port, metricsPort, monitored (whether a
ServiceMonitor reads its metrics) and bridge. */}}
{{- define "umbrella.policy" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
ingress:
  {{- if ne .name "solve-worker" }}
  - ports:
      - protocol: TCP
        port: {{ .port }}
    {{- with $values.ingress.from }}
    from:
      {{- toYaml . | nindent 6 }}
      {{- if $values.tests.enabled }}
      - podSelector:
          matchLabels:
            app.kubernetes.io/name: tests
            app.kubernetes.io/instance: {{ $root.Release.Name }}
      {{- end }}
    {{- end }}
  {{- else if $values.tests.enabled }}
  - {{ include "decision.componentRule" (dict "root" $root "component" "tests" "port" .port "direction" "from") | nindent 4 | trim }}
  {{- end }}
  {{- if and (eq .name "hps-gateway") (eq $values.hps.workers.autoscaling.kind "keda") }}
  - ports:
      - protocol: TCP
        port: {{ .metricsPort }}
    from:
      - namespaceSelector:
          matchLabels:
            kubernetes.io/metadata.name: {{ $values.hps.workers.autoscaling.kedaNamespace }}
  {{- end }}
  {{- if or $values.networkPolicies.metricsFrom .monitored }}
  - ports:
      - protocol: TCP
        port: {{ .metricsPort }}
    {{- with $values.networkPolicies.metricsFrom }}
    from:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  {{- end }}
egress:
  - {{ include "umbrella.databaseRule" $root | nindent 4 | trim }}
  {{- if ne .name "log-collector" }}
  {{- with include "umbrella.cacheRule" $root }}
  - {{ . | nindent 4 | trim }}
  {{- end }}
  {{- end }}
  {{- if ne .name "auth-proxy-adapter" }}
  {{- with include "umbrella.brokerRules" $ | fromYamlArray }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- with $values.traces.endpoint }}
  - ports:
      - protocol: TCP
        port: {{ include "umbrella.portOfUrl" . }}
  {{- end }}
  {{- if has .name (list "solve-worker" "contexts-api" "objects-api") }}
  {{- if $values.networkPolicies.flows.publicEgress }}
  - {{ include "decision.publicEgress" $root | nindent 4 | trim }}
  {{- end }}
  {{- with $values.networkPolicies.flows.extraEgress }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "umbrella.databaseRule" -}}
{{- $database := .Values.database -}}
{{- if $database.enabled -}}
{{ include "decision.componentRule" (dict "root" . "component" "database" "port" $database.port "direction" "to") }}
{{- else -}}
ports:
  - protocol: TCP
    port: {{ $database.external.port }}
{{- end -}}
{{- end -}}

{{- define "umbrella.cacheRule" -}}
{{- $cache := .Values.cache -}}
{{- if $cache.enabled -}}
{{ include "decision.componentRule" (dict "root" . "component" "cache" "port" $cache.port "direction" "to") }}
{{- else if $cache.external.host -}}
ports:
  - protocol: TCP
    port: {{ $cache.external.port }}
{{- end -}}
{{- end -}}

{{/* Rules to the brokers, as a YAML list; brokers outside have addresses that only they know, so that their ports alone are named. Takes root and bridge. */}}
{{- define "umbrella.brokerRules" -}}
{{- $values := .root.Values -}}
{{- $brokers := include "umbrella.brokers" .root -}}
{{- if .bridge }}
- to:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: mq-bridge
          app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- else if eq (include "umbrella.usesInternalBroker" .root) "true" }}
- {{ include "decision.componentRule" (dict "root" .root "component" "mq" "port" $values.mq.port "direction" "to") | nindent 2 | trim }}
{{- else if $brokers }}
- ports:
    {{- range $port := include "umbrella.portsOf" $brokers | fromJsonArray }}
    - protocol: TCP
      port: {{ $port }}
    {{- end }}
{{- $source := include "umbrella.tokenSource" .root }}
{{- if or (eq $values.app.logging.mqSasl.mechanism "aws-iam") (eq $source "client-credentials") }}
- {{ include "decision.publicEgress" .root | nindent 2 | trim }}
{{- end }}
{{- if eq $source "gcp" }}
- {{ include "umbrella.metadataServerRule" . | nindent 2 | trim }}
{{- end }}
{{- else }}
[]
{{- end }}
{{- end -}}

{{/* To where workload identity of Google Cloud is asked: the address of its metadata server, and that to which nodes send it on. */}}
{{- define "umbrella.metadataServerRule" -}}
to:
  - ipBlock: { cidr: 169.254.169.252/32 }
  - ipBlock: { cidr: 169.254.169.254/32 }
ports:
  - { protocol: TCP, port: 80 }
  - { protocol: TCP, port: 988 }
{{- end -}}

{{/* The ports in a list of host:port, each once, as JSON. */}}
{{- define "umbrella.portsOf" -}}
{{- $ports := list -}}
{{- range splitList "," . }}{{ $ports = append $ports (splitList ":" (trim .) | last | int) }}{{ end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{/* The port of a URL. */}}
{{- define "umbrella.portOfUrl" -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end -}}
