{{/* Variables of a component as YAML: what the caller computes (env), then `config` of its values, which wins. Empty values are left out. */}}
{{- define "decision.variables" -}}
{{- $values := .root.Values -}}
{{- $ports := dict "PORT" (toString $values.port) "METRICS_PORT" (toString $values.metricsPort) "API_METRICS" ($values.apiMetrics | default false | toString) -}}
{{- $variables := mergeOverwrite $ports (deepCopy (.env | default dict)) ($values.config | default dict) -}}
{{- range $name := keys $variables | sortAlpha }}
{{- $value := get $variables $name }}
{{- if not (kindIs "invalid" $value) }}
{{ $name }}: {{ include "decision.text" $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A value as the text of a variable: whole numbers never as 1.28e+08. */}}
{{- define "decision.text" -}}
{{- if kindIs "float64" . -}}{{ if eq (floor .) . }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{/* The list `env`: secrets by reference, then variables that are built from them, then `extraEnv`. Kubernetes puts $(NAME) in only of earlier ones. */}}
{{- define "decision.env" -}}
{{- $references := mergeOverwrite (deepCopy (.secretEnv | default dict)) (.root.Values.secretEnv | default dict) }}
- name: NODE_ENV
  value: production
- name: NODE_OPTIONS
  value: {{ .nodeOptions | default (include "decision.nodeOptions" .) | quote }}
{{- range $name := keys $references | sortAlpha }}
{{- $reference := get $references $name }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $reference.name }}
      key: {{ $reference.key }}
      {{- if $reference.optional }}
      optional: true
      {{- end }}
{{- end }}
{{- range $name := keys (.builtEnv | default dict) | sortAlpha }}
{{- if not (hasKey $references $name) }}
- name: {{ $name }}
  value: {{ get $.builtEnv $name | quote }}
{{- end }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Options of Node: source maps in stacks, room for young objects, and the ceiling of the heap, with which the memory limit must agree. */}}
{{- define "decision.nodeOptions" -}}
{{- $heap := .root.Values.heap -}}
--max-semi-space-size={{ $heap.semiSpaceMiB }} --max-old-space-size={{ $heap.maxMiB }}
{{- end -}}

{{/* Refuses a memory limit that a full heap would exceed. */}}
{{- define "decision.checkMemory" -}}
{{- $values := .root.Values -}}
{{- $limit := dig "limits" "memory" "" ($values.resources | default dict) -}}
{{- if $limit -}}
{{- $needed := add $values.heap.maxMiB (mul 3 $values.heap.semiSpaceMiB) $values.heap.besideMiB | int -}}
{{- if lt (include "decision.mebibytes" $limit | int) $needed -}}
{{- fail (printf "%s: resources.limits.memory is %s, but heap.maxMiB, 3 x heap.semiSpaceMiB and heap.besideMiB together need %dMi: raise the limit or lower them." .name (toString $limit) $needed) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Hash of what a pod reads at its start, so that it is rolled when that changes. Existing secrets cannot be seen here: global.secretsRevision stands for them. */}}
{{- define "decision.checksums" -}}
checksum/config: {{ include "decision.variables" . | sha256sum }}
{{- with .renderedSecrets }}
checksum/secret: {{ toJson . | sha256sum }}
{{- end }}
{{- $global := .root.Values.global | default dict }}
{{- with $global.secretsRevision }}
decision-service/secrets-revision: {{ toString . | quote }}
{{- end }}
{{- end -}}
