{{/* Objects that the internal servers (broker, cache, database) share: each is a StatefulSet with a volume, reached by the pods of the release alone. */}}

{{- define "decision.serverServices" -}}
{{- range $headless := list false true }}
---
apiVersion: v1
kind: Service
metadata:
  {{- include "decision.metadata" (merge (dict "suffix" (ternary "-pods" "" $headless)) $) | nindent 2 }}
spec:
  {{- if $headless }}
  clusterIP: None
  publishNotReadyAddresses: true
  {{- end }}
  {{- with ($.root.Values.global | default dict).ipFamilyPolicy }}
  ipFamilyPolicy: {{ . }}
  {{- end }}
  selector:
    {{- include "decision.selectorLabels" $ | nindent 4 }}
  ports:
    {{- range $name, $port := $.ports }}
    - name: {{ $name }}
      port: {{ $port }}
      targetPort: {{ $name }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* Ingress from clients of the release (and its own pods), egress to its own pods and DNS. Takes clients (names of components) and strangers (peers outside). */}}
{{- define "decision.serverNetworkPolicy" -}}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "decision.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - podSelector:
            matchExpressions:
              - key: app.kubernetes.io/name
                operator: In
                values: {{ .clients | sortAlpha | toJson }}
            matchLabels:
              app.kubernetes.io/instance: {{ .root.Release.Name }}
        {{- with .strangers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - protocol: TCP
          port: {{ .root.Values.port }}
    - from:
        - podSelector:
            matchLabels:
              {{- include "decision.selectorLabels" . | nindent 14 }}
    {{- with .root.Values.networkPolicy.extraIngress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  egress:
    - ports:
        - { protocol: UDP, port: 53 }
        - { protocol: TCP, port: 53 }
    - to:
        - podSelector:
            matchLabels:
              {{- include "decision.selectorLabels" . | nindent 14 }}
{{- end }}
{{- end -}}

{{/* The fields of a StatefulSet up to its pod's containers. Takes user (its numeric id) and seconds (to stop). */}}
{{- define "decision.serverPod" -}}
serviceAccountName: {{ include "decision.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- include "decision.imagePullSecrets" . }}
securityContext:
  {{- include "decision.podSecurity" (dict "user" .user) | nindent 2 }}
terminationGracePeriodSeconds: {{ .seconds }}
{{- include "decision.placement" . }}
{{- end -}}

{{/* The claim of its volume; without persistence the data lives as long as the pod. */}}
{{- define "decision.serverClaim" -}}
{{- $persistence := .root.Values.persistence -}}
{{- if $persistence.enabled }}
persistentVolumeClaimRetentionPolicy:
  whenDeleted: Retain
  whenScaled: Retain
volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata:
      name: data
      labels:
        {{- include "decision.selectorLabels" . | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with $persistence.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests:
          storage: {{ $persistence.size }}
{{- end }}
{{- end -}}

{{/* Volumes of the pod: temporary files, and the data where nothing is kept. */}}
{{- define "decision.serverVolumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 256Mi
{{- if not .root.Values.persistence.enabled }}
- name: data
  emptyDir:
    sizeLimit: {{ .root.Values.persistence.size }}
{{- end }}
{{- end -}}
