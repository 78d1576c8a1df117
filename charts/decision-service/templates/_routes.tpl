{{/*
The routes of packages/contracts/src/http/ingress-routes.ts as YAML, the first that matches counts; a test holds the two together. A prefix
matches whole segments.
*/}}
{{- define "umbrella.routes" -}}
- { prefix: /api/v1/solve, service: hps-gateway }
- { prefix: /api/v1/bulk-solve, service: hps-gateway }
- { prefix: /api/v1/parallel-solve, service: hps-gateway }
- { prefix: /api/v1/flows, service: hps-gateway }
- { prefix: /api/v1/scale, service: hps-gateway }
- { prefix: /api/v1/contexts, service: contexts-api }
- { prefix: /api/v1/admin/contexts, service: contexts-api }
- { prefix: /api/v1/decisions, service: log-collector }
- { prefix: /dashboard, service: auth-proxy-adapter }
- { prefix: /auth, service: auth-proxy-adapter }
- { prefix: /api/sso-provision, service: auth-proxy-adapter }
- { prefix: /api/passthrough-claims, service: auth-proxy-adapter }
- { prefix: /api/self-hosted-branding, service: auth-proxy-adapter }
- { prefix: /health, service: hps-gateway }
- { prefix: /ready, service: hps-gateway }
- { prefix: /api, service: objects-api }
{{- end -}}

{{/* Routes of parts that are installed, as a YAML list of prefix, service, name and port of its Service, and asks (whether people are asked about). */}}
{{- define "umbrella.installedRoutes" -}}
{{- $root := . -}}
{{- range include "umbrella.routes" . | fromYamlArray }}
{{- $chart := index $root.Subcharts .service | default dict }}
{{- if $chart }}
- prefix: {{ .prefix }}
  service: {{ .service }}
  name: {{ include "umbrella.name" (dict "root" $root "name" .service) }}
  port: {{ $chart.Values.port }}
  asks: {{ and (ne .service "auth-proxy-adapter") (not (has .prefix (list "/health" "/ready"))) (not (empty (index $root.Subcharts "auth-proxy-adapter"))) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Seconds that a proxy in front must wait at least: longer than a request may run. */}}
{{- define "umbrella.proxySeconds" -}}
{{- add (div (add .Values.app.limits.rpcTimeoutMs 999 | int64) 1000) 30 -}}
{{- end -}}
