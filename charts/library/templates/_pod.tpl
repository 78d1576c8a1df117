{{/* Security of every pod and of every container: nothing that a service does not need. */}}
{{- define "decision.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user | default 10001 }}
runAsGroup: {{ .user | default 10001 }}
fsGroup: {{ .user | default 10001 }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "decision.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Spreads the pods of a component over nodes and zones, and puts them where they are where that is impossible. */}}
{{- define "decision.spread" -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "decision.selectorLabels" $ | nindent 6 }}
{{- end }}
{{- end -}}

{{/* Fields of a pod that values place: node, priority, tolerations. */}}
{{- define "decision.placement" -}}
{{- $values := .root.Values -}}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- if $values.topologySpreadConstraints }}
  {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- include "decision.spread" . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* How long a pod may take to stop, seconds: the grace period and the longest request, and ten seconds to spare. */}}
{{- define "decision.terminationSeconds" -}}
{{- $variables := include "decision.variables" . | fromYaml -}}
{{- $grace := get $variables "SHUTDOWN_GRACE_MS" | default "5000" | int64 -}}
{{- $request := get $variables "RPC_TIMEOUT_MS" | default "60000" | int64 -}}
{{- $drain := get $variables "SHUTDOWN_DRAIN_MS" | default (add $request 2000 | toString) | int64 -}}
{{- add (div (add $grace $drain 999) 1000) 10 -}}
{{- end -}}

{{- define "decision.probes" -}}
startupProbe:
  httpGet:
    path: /health
    port: http
  periodSeconds: 2
  timeoutSeconds: 6
  failureThreshold: {{ .root.Values.probes.startupSeconds | int | div 2 | default 30 }}
livenessProbe:
  httpGet:
    path: /health
    port: http
  periodSeconds: 10
  timeoutSeconds: 6
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /ready
    port: http
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 1
{{- end -}}
