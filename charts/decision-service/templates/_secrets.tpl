{{/*
Secrets come from existing ones, or from plain values, which the umbrella writes into a secret of its own. None is drawn: rendering twice would give two.
*/}}

{{- define "umbrella.secretName" -}}
{{- printf "%s-values" (include "umbrella.name" (dict "root" . "name" "decision-service")) -}}
{{- end -}}

{{/* Plain values that are secrets, by variable, as YAML: the content of the umbrella's own secret. */}}
{{- define "umbrella.plainSecrets" -}}
{{- $values := .Values -}}
{{- $backend := $values.global.backend -}}
{{- if not $backend.existingSecret }}
{{- range $variable, $key := dict "JWT_SECRET" "jwtSecret" "JWT_SECRET_PREVIOUS" "jwtSecretPrevious" "BACKEND_ANON_KEY" "anonKey" "BACKEND_SERVICE_KEY" "serviceKey" }}
{{- with get $backend $key }}
{{ $variable }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- with $values.global.proxySecret }}
{{- if and .value (not .existingSecret) }}
PROXY_SECRET: {{ .value | quote }}
{{- end }}
{{- end }}
{{- with $values.app.logging.mqSasl }}
{{- if and .mechanism (not .existingSecret) }}
{{- with .username }}
MQ_SASL_USERNAME: {{ . | quote }}
{{- end }}
{{- with .password }}
MQ_SASL_PASSWORD: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- with $values.database.owner }}
{{- if and .password (not .existingSecret) }}
DATABASE_OWNER_PASSWORD: {{ .password | urlquery | replace "+" "%20" | quote }}
{{- end }}
{{- end }}
{{- with $values.database.service }}
{{- if and .password (not .existingSecret) }}
DATABASE_PASSWORD: {{ .password | urlquery | replace "+" "%20" | quote }}
{{- end }}
{{- end }}
{{- $cache := ternary $values.cache $values.cache.external $values.cache.enabled }}
{{- if and $cache.password (not $cache.existingSecret) }}
CACHE_PASSWORD: {{ $cache.password | urlquery | replace "+" "%20" | quote }}
{{- end }}
{{- end -}}

{{/* Where each secret variable comes from, as YAML: variable -> name and key. Takes root and variables (a list of names). */}}
{{- define "umbrella.secretReferences" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $plain := include "umbrella.plainSecrets" $root | fromYaml -}}
{{- $all := dict -}}
{{- range $variable, $_ := $plain }}
{{- $_ := set $all $variable (dict "name" (include "umbrella.secretName" $root) "key" $variable) }}
{{- end }}
{{- with $values.global.backend }}
{{- if .existingSecret }}
{{- $secret := .existingSecret }}
{{- range $variable, $key := dict "JWT_SECRET" .existingSecretKeys.jwtSecret "JWT_SECRET_PREVIOUS" .existingSecretKeys.jwtSecretPrevious "BACKEND_ANON_KEY" .existingSecretKeys.anonKey "BACKEND_SERVICE_KEY" .existingSecretKeys.serviceKey }}
{{- /* The service names what it misses better than Kubernetes does. */}}
{{- if $key }}{{ $_ := set $all $variable (dict "name" $secret "key" $key "optional" (ne $variable "JWT_SECRET")) }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- with $values.global.proxySecret }}
{{- if .existingSecret }}{{ $_ := set $all "PROXY_SECRET" (dict "name" .existingSecret "key" .existingSecretKey) }}{{ end }}
{{- end }}
{{- with $values.app.logging.mqSasl }}
{{- if and .mechanism .existingSecret }}
{{- $_ := set $all "MQ_SASL_USERNAME" (dict "name" .existingSecret "key" .existingSecretUsernameKey) }}
{{- $_ := set $all "MQ_SASL_PASSWORD" (dict "name" .existingSecret "key" .existingSecretPasswordKey) }}
{{- end }}
{{- end }}
{{- with $values.database.owner }}
{{- if .existingSecret }}{{ $_ := set $all "DATABASE_OWNER_PASSWORD" (dict "name" .existingSecret "key" .existingSecretKey) }}{{ end }}
{{- end }}
{{- with $values.database.service }}
{{- if .existingSecret }}{{ $_ := set $all "DATABASE_PASSWORD" (dict "name" .existingSecret "key" .existingSecretKey) }}{{ end }}
{{- end }}
{{- with ternary $values.cache $values.cache.external $values.cache.enabled }}
{{- if .existingSecret }}{{ $_ := set $all "CACHE_PASSWORD" (dict "name" .existingSecret "key" .existingSecretKey) }}{{ end }}
{{- end }}
{{- with $values.traces }}
{{- if and .endpoint .headers.existingSecret }}{{ $_ := set $all "OTEL_EXPORTER_OTLP_HEADERS" (dict "name" .headers.existingSecret "key" .headers.existingSecretKey) }}{{ end }}
{{- end }}
{{- $chosen := dict -}}
{{- range .variables }}{{ if hasKey $all . }}{{ $_ := set $chosen . (get $all .) }}{{ end }}{{ end }}
{{- toYaml $chosen -}}
{{- end -}}

{{/* Variables that a service reads and that are secrets. Takes name. */}}
{{- define "umbrella.secretVariables" -}}
{{- $names := list "DATABASE_PASSWORD" "PROXY_SECRET" "OTEL_EXPORTER_OTLP_HEADERS" -}}
{{- if ne .name "log-collector" }}{{ $names = append $names "CACHE_PASSWORD" }}{{ end }}
{{- if ne .name "solve-worker" }}{{ $names = concat $names (list "JWT_SECRET" "JWT_SECRET_PREVIOUS") }}{{ end }}
{{- if has .name (list "contexts-api" "hps-gateway" "solve-worker" "log-collector") }}
{{- if not (and .bridge (eq .name "log-collector")) }}{{ $names = concat $names (list "MQ_SASL_USERNAME" "MQ_SASL_PASSWORD") }}{{ end }}
{{- end }}
{{- if eq .name "auth-proxy-adapter" }}{{ $names = concat $names (list "BACKEND_ANON_KEY" "BACKEND_SERVICE_KEY") }}{{ end }}
{{- toJson $names -}}
{{- end -}}

{{/* A host as URLs write it: addresses of IPv6 stand in brackets. */}}
{{- define "umbrella.urlHost" -}}
{{- if contains ":" . -}}[{{ trimAll "[]" . }}]{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{- define "umbrella.databaseHost" -}}
{{- $database := .Values.database -}}
{{- if $database.enabled -}}
{{ include "umbrella.name" (dict "root" . "name" "database") }}:{{ $database.port | int }}
{{- else -}}
{{ include "umbrella.urlHost" $database.external.host }}:{{ $database.external.port | int }}
{{- end -}}
{{- end -}}

{{/* URL of the database with the login `user`, whose password Kubernetes puts in from the variable `password`. */}}
{{- define "umbrella.databaseUrl" -}}
{{- $database := .root.Values.database -}}
postgresql://{{ .user | urlquery }}:$({{ .password }})@{{ include "umbrella.databaseHost" .root }}/{{ $database.name | urlquery }}{{ if not $database.enabled }}?sslmode={{ $database.external.sslMode }}{{ include "umbrella.databaseFiles" $database.external.tls }}{{ end }}
{{- end -}}

{{/* Parameters of the URL that name the files of certificates. */}}
{{- define "umbrella.databaseFiles" -}}
{{- if .existingSecret -}}
{{- range $parameter, $key := dict "sslrootcert" .caKey "sslcert" .certKey "sslkey" .keyKey }}{{ if $key }}&{{ $parameter }}=/etc/decision/database-tls/{{ $key }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* URL of the cache; empty: there is none. */}}
{{- define "umbrella.cacheUrl" -}}
{{- $cache := .Values.cache -}}
{{- if $cache.enabled -}}
redis://{{ if or $cache.password $cache.existingSecret }}:$(CACHE_PASSWORD)@{{ end }}{{ include "umbrella.name" (dict "root" . "name" "cache") }}:{{ $cache.port | int }}
{{- else if $cache.external.host -}}
{{ ternary "rediss" "redis" $cache.external.tls.enabled }}://{{ if or $cache.external.password $cache.external.existingSecret }}{{ $cache.external.username | urlquery }}:$(CACHE_PASSWORD)@{{ end }}{{ include "umbrella.urlHost" $cache.external.host }}:{{ $cache.external.port | int }}
{{- end -}}
{{- end -}}

{{/* Variables that are put together from secrets, as YAML. Takes root and name. */}}
{{- define "umbrella.builtVariables" -}}
{{- $database := .root.Values.database -}}
DATABASE_URL: {{ include "umbrella.databaseUrl" (dict "root" .root "user" $database.service.user "password" "DATABASE_PASSWORD") | quote }}
{{- if ne .name "log-collector" }}
{{- with include "umbrella.cacheUrl" .root }}
CACHE_URL: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
