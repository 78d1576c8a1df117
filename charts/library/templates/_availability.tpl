{{/* One pod at a time may be evicted, whatever the number of replicas, so that a node can always be drained. */}}
{{- define "decision.disruptionBudget" -}}
{{- if .root.Values.disruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .root.Values.disruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "decision.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end -}}

{{/* By processor time. The umbrella scales workers by other measures: then `autoscaled` is true. */}}
{{- define "decision.autoscaler" -}}
{{- $autoscaling := .root.Values.autoscaling -}}
{{- if and $autoscaling.enabled (not .autoscaled) }}
{{- if lt ($autoscaling.maxReplicas | int) ($autoscaling.minReplicas | int) }}
{{- fail (printf "%s: autoscaling.maxReplicas (%d) is below autoscaling.minReplicas (%d)." .name ($autoscaling.maxReplicas | int) ($autoscaling.minReplicas | int)) }}
{{- end }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "decision.fullname" . }}
  minReplicas: {{ $autoscaling.minReplicas }}
  maxReplicas: {{ $autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ $autoscaling.cpuPercent }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 300
{{- end }}
{{- end -}}

{{- define "decision.serviceMonitor" -}}
{{- $monitor := .root.Values.serviceMonitor -}}
{{- if $monitor.enabled }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  {{- $metadata := include "decision.metadata" . | fromYaml }}
  {{- $_ := set $metadata "labels" (merge (deepCopy ($monitor.labels | default dict)) $metadata.labels) }}
  {{- toYaml $metadata | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "decision.selectorLabels" . | nindent 6 }}
  namespaceSelector:
    matchNames: [{{ .root.Release.Namespace }}]
  endpoints:
    - port: metrics
      path: /metrics
      interval: {{ $monitor.interval }}
      scrapeTimeout: 10s
      # Metrics have a label `service` of their own, which the name of the Service must not replace.
      honorLabels: true
{{- end }}
{{- end -}}
