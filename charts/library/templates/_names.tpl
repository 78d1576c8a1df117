{{/* Functions of this chart take a dictionary: root (the context of the calling chart), name (of the component), and what each names. */}}

{{/* Name of the objects of a component. The longest names that Kubernetes takes here have 63 characters; 10 are left for endings. */}}
{{- define "decision.fullname" -}}
{{- printf "%s-%s" .root.Release.Name .name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that never change in the life of a component: selectors cannot be changed. */}}
{{- define "decision.selectorLabels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{/* Labels of pods: without versions, so that a new chart alone rolls nothing. */}}
{{- define "decision.podLabels" -}}
{{ include "decision.selectorLabels" . }}
app.kubernetes.io/part-of: decision-service
{{- end -}}

{{- define "decision.labels" -}}
{{ include "decision.selectorLabels" . }}
app.kubernetes.io/part-of: decision-service
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* Name, namespace and labels of an object; `suffix` is put behind its name. */}}
{{- define "decision.metadata" -}}
name: {{ include "decision.fullname" . }}{{ .suffix | default "" }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "decision.labels" . | nindent 2 }}
{{- end -}}

{{- define "decision.serviceAccountName" -}}
{{- $account := .root.Values.serviceAccount -}}
{{- if $account.name -}}{{ $account.name }}{{- else if $account.create -}}{{ include "decision.fullname" . }}{{- else -}}default{{- end -}}
{{- end -}}

{{/* Address of an image: registry/repository:tag, or @digest where one is given. Takes image (the values) and root. */}}
{{- define "decision.image" -}}
{{- $global := .root.Values.global | default dict -}}
{{- $registry := .image.registry | default $global.imageRegistry -}}
{{- $tag := .image.tag | default $global.imageTag | default .root.Chart.AppVersion -}}
{{- $path := ternary (printf "%s/%s" $registry .image.repository) .image.repository (not (empty $registry)) -}}
{{- if .image.digest -}}{{ printf "%s@%s" $path .image.digest }}{{- else -}}{{ printf "%s:%s" $path $tag }}{{- end -}}
{{- end -}}

{{- define "decision.imagePullSecrets" -}}
{{- $global := .root.Values.global | default dict -}}
{{- with $global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* A quantity of memory in MiB, cut to a whole number. Takes a text such as 512Mi, 2Gi or 1G. */}}
{{- define "decision.mebibytes" -}}
{{- $text := toString . -}}
{{- if hasSuffix "Gi" $text -}}{{ mulf (trimSuffix "Gi" $text | float64) 1024 | int }}
{{- else if hasSuffix "Mi" $text -}}{{ trimSuffix "Mi" $text | float64 | int }}
{{- else if hasSuffix "Ki" $text -}}{{ divf (trimSuffix "Ki" $text | float64) 1024 | int }}
{{- else if hasSuffix "G" $text -}}{{ divf (mulf (trimSuffix "G" $text | float64) 1000000000) 1048576 | int }}
{{- else if hasSuffix "M" $text -}}{{ divf (mulf (trimSuffix "M" $text | float64) 1000000) 1048576 | int }}
{{- else -}}{{ divf ($text | float64) 1048576 | int }}
{{- end -}}
{{- end -}}
