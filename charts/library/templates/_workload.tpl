{{/*
All objects of a service that answers HTTP. Takes root, name, and of the umbrella: env (variables), secretEnv (variable -> name and key of a
secret), builtEnv (variables with $(NAME) in them), renderedSecrets, volumes, mounts, policy (rules of its network), autoscaled.
*/}}
{{- define "decision.workload" -}}
{{- include "decision.checkMemory" . -}}
{{- include "decision.serviceAccount" . }}
---
{{ include "decision.configMap" . }}
---
{{ include "decision.deployment" . }}
---
{{ include "decision.service" . }}
{{- include "decision.disruptionBudget" . }}
{{- include "decision.autoscaler" . }}
{{- include "decision.networkPolicy" . }}
{{- include "decision.serviceMonitor" . }}
{{- end -}}

{{- define "decision.serviceAccount" -}}
{{- $account := .root.Values.serviceAccount -}}
{{- if $account.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- $metadata := include "decision.metadata" . | fromYaml }}
  {{- with $account.name }}{{ $_ := set $metadata "name" . }}{{ end }}
  {{- with mergeOverwrite (deepCopy (.accountAnnotations | default dict)) ($account.annotations | default dict) }}{{ $_ := set $metadata "annotations" . }}{{ end }}
  {{- toYaml $metadata | nindent 2 }}
automountServiceAccountToken: false
{{- end }}
{{- end -}}

{{- define "decision.configMap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
data:
  {{- include "decision.variables" . | trim | nindent 2 }}
{{- end -}}

{{- define "decision.deployment" -}}
{{- $values := .root.Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
spec:
  {{- if not (or .autoscaled $values.autoscaling.enabled) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  progressDeadlineSeconds: 900
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: {{ $values.maxSurge }}
  selector:
    matchLabels:
      {{- include "decision.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "decision.podLabels" . | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- include "decision.checksums" . | nindent 8 }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "decision.serviceAccountName" . }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- include "decision.imagePullSecrets" . | nindent 6 }}
      securityContext:
        {{- include "decision.podSecurity" dict | nindent 8 }}
      terminationGracePeriodSeconds: {{ include "decision.terminationSeconds" . }}
      {{- include "decision.placement" . | nindent 6 }}
      containers:
        {{- include "decision.container" . | nindent 8 }}
      volumes:
        - name: tmp
          emptyDir:
            sizeLimit: {{ $values.temporaryStorage }}
        {{- with .volumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with $values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end -}}

{{- define "decision.container" -}}
{{- $values := .root.Values -}}
- name: {{ .name }}
  image: {{ include "decision.image" (dict "root" .root "image" $values.image) }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  command: [node, dist/main.js]
  workingDir: /app
  ports:
    - name: http
      containerPort: {{ $values.port }}
      protocol: TCP
    - name: metrics
      containerPort: {{ $values.metricsPort }}
      protocol: TCP
  envFrom:
    - configMapRef:
        name: {{ include "decision.fullname" . }}
    {{- with $values.extraEnvFrom }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  env:
    {{- include "decision.env" . | trim | nindent 4 }}
  {{- include "decision.probes" . | nindent 2 }}
  securityContext:
    {{- include "decision.containerSecurity" . | nindent 4 }}
  resources:
    {{- toYaml $values.resources | nindent 4 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- with .mounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with $values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "decision.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
spec:
  type: ClusterIP
  {{- with (.root.Values.global | default dict).ipFamilyPolicy }}
  ipFamilyPolicy: {{ . }}
  {{- end }}
  selector:
    {{- include "decision.selectorLabels" . | nindent 4 }}
  ports:
    - name: http
      port: {{ .root.Values.port }}
      targetPort: http
      protocol: TCP
    - name: metrics
      port: {{ .root.Values.metricsPort }}
      targetPort: metrics
      protocol: TCP
{{- end -}}
