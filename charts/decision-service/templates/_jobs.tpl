{{/* The version of the application as part of a name. */}}
{{- define "umbrella.versionLabel" -}}
{{- .Values.global.imageTag | default .Chart.AppVersion | lower | replace "." "-" | replace "_" "-" | replace "+" "-" | trunc 20 | trimAll "-" -}}
{{- end -}}

{{- define "umbrella.migrationContainer" -}}
{{- $values := .root.Values -}}
- name: migrations
  image: {{ include "decision.image" (dict "root" .root "image" .image) }}
  imagePullPolicy: {{ .image.pullPolicy | default "IfNotPresent" }}
  command: [node, node_modules/@decision/infrastructure/dist/cli/prepare-database.js]
  workingDir: /app
  env:
    - name: NODE_ENV
      value: production
    {{- range $name, $reference := .references }}
    {{- if or (ne $name "DATABASE_PASSWORD") $values.migrations.makesServiceLogin }}
    - name: {{ $name }}
      valueFrom:
        secretKeyRef:
          name: {{ $reference.name }}
          key: {{ $reference.key }}
    {{- end }}
    {{- end }}
    - name: DATABASE_URL
      value: {{ include "umbrella.databaseUrl" (dict "root" .root "user" $values.database.owner.user "password" "DATABASE_OWNER_PASSWORD") | quote }}
    {{- if $values.migrations.makesServiceLogin }}
    - name: SERVICE_LOGIN_URL
      value: {{ include "umbrella.databaseUrl" (dict "root" .root "user" $values.database.service.user "password" "DATABASE_PASSWORD") | quote }}
    {{- end }}
    {{- with $values.migrations.workspace }}
    {{- if .slug }}
    - name: WORKSPACE_SLUG
      value: {{ .slug | quote }}
    - name: WORKSPACE_NAME
      value: {{ .name | quote }}
    {{- end }}
    {{- end }}
    {{- with $values.migrations.admin }}
    {{- if .existingSecret }}
    - name: ADMIN_EMAIL
      value: {{ $values.global.email | quote }}
    - name: ADMIN_PASSWORD
      valueFrom:
        secretKeyRef:
          name: {{ .existingSecret }}
          key: {{ .existingSecretKey }}
    {{- end }}
    {{- end }}
    {{- with $values.global.trustedAuthorities }}
    {{- if .configMap }}
    - name: NODE_EXTRA_CA_CERTS
      value: /etc/decision/authorities/{{ .key }}
    {{- end }}
    {{- end }}
  securityContext:
    {{- include "decision.containerSecurity" . | nindent 4 }}
  resources:
    requests: { cpu: 100m, memory: 128Mi, ephemeral-storage: 16Mi }
    limits: { memory: 512Mi, ephemeral-storage: 64Mi }
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- with .files.mounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "umbrella.topicContainer" -}}
{{- $topics := .root.Values.topics -}}
- name: topics
  image: {{ include "decision.image" (dict "root" .root "image" .image) }}
  imagePullPolicy: {{ .image.pullPolicy | default "IfNotPresent" }}
  command: [node, node_modules/@decision/infrastructure/dist/cli/prepare-topics.js]
  {{- if $topics.dryRun }}
  args: [--dry-run]
  {{- end }}
  workingDir: /app
  env:
    - name: NODE_ENV
      value: production
    {{- range $name, $reference := .references }}
    - name: {{ $name }}
      valueFrom:
        secretKeyRef:
          name: {{ $reference.name }}
          key: {{ $reference.key }}
    {{- end }}
    {{- $variables := mergeOverwrite (include "umbrella.brokerVariables" .root | fromYaml) (include "umbrella.topicVariables" .root | fromYaml) }}
    {{- range $name, $value := $variables }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
    {{- with .root.Values.global.trustedAuthorities }}
    {{- if .configMap }}
    - name: NODE_EXTRA_CA_CERTS
      value: /etc/decision/authorities/{{ .key }}
    {{- end }}
    {{- end }}
  securityContext:
    {{- include "decision.containerSecurity" . | nindent 4 }}
  resources:
    requests: { cpu: 50m, memory: 96Mi, ephemeral-storage: 16Mi }
    limits: { memory: 256Mi, ephemeral-storage: 64Mi }
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- with .files.mounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "umbrella.topicVariables" -}}
{{- $topics := .Values.topics -}}
TOPIC_SOLUTION_PARTITIONS: {{ $topics.solution.partitions | int | quote }}
TOPIC_SOLUTION_REPLICATION: {{ $topics.solution.replication | int | quote }}
TOPIC_SOLUTION_RESPONSE_PARTITIONS: {{ .Values.hps.workers.solutionPartitions | int | quote }}
TOPIC_SOLUTION_RESPONSE_REPLICATION: {{ $topics.solutionResponse.replication | int | quote }}
TOPIC_LOGS_PARTITIONS: {{ $topics.logs.partitions | int | quote }}
TOPIC_LOGS_REPLICATION: {{ $topics.logs.replication | int | quote }}
TOPIC_LOGS_RETENTION_MS: {{ $topics.logs.retentionMs | int64 | quote }}
{{- end -}}

{{/* A job named by the version and by what it does: a job cannot be changed, so that other contents are another job. Takes root, name, container and files. */}}
{{- define "umbrella.job" -}}
{{- $template := include "umbrella.jobTemplate" . -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "decision.metadata" (merge (dict "suffix" (printf "-%s-%s" (include "umbrella.versionLabel" .root) (sha256sum $template | trunc 6))) .) | nindent 2 }}
spec:
  backoffLimit: 20
  activeDeadlineSeconds: 3600
  template:
    {{- $template | nindent 4 }}
{{- end -}}

{{- define "umbrella.jobTemplate" -}}
metadata:
  labels:
    {{- include "decision.podLabels" . | nindent 4 }}
spec:
  restartPolicy: OnFailure
  serviceAccountName: {{ include "umbrella.name" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- include "decision.imagePullSecrets" . | nindent 2 }}
  securityContext:
    {{- include "decision.podSecurity" dict | nindent 4 }}
  containers:
    {{- .container | nindent 4 }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: 16Mi
    {{- with .files.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* A job is reached by nobody and reaches what it needs. Takes root, name and egress (a list of rules). */}}
{{- define "umbrella.jobPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "decision.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "decision.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress: []
  egress:
    - ports:
        - { protocol: UDP, port: 53 }
        - { protocol: TCP, port: 53 }
    {{- with .egress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
