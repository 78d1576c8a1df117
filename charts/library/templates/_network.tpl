{{/* What may reach a component, and what it may reach. `policy.ingress` and `policy.egress` are lists of rules; rules of the values are added. */}}
{{- define "decision.networkPolicy" -}}
{{- $values := .root.Values.networkPolicy -}}
{{- $policy := .policy | default dict -}}
{{- if $values.enabled }}
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
    {{- toYaml (concat ($policy.ingress | default (list (dict "ports" (list (dict "protocol" "TCP" "port" .root.Values.port) (dict "protocol" "TCP" "port" .root.Values.metricsPort))))) ($values.extraIngress | default list)) | nindent 4 }}
  egress:
    - ports:
        - { protocol: UDP, port: 53 }
        - { protocol: TCP, port: 53 }
    {{- with concat ($policy.egress | default list) ($values.extraEgress | default list) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* A rule to or from the pods of one component of the release. Takes root, component, port and direction (to or from). */}}
{{- define "decision.componentRule" -}}
{{ .direction }}:
  - podSelector:
      matchLabels:
        app.kubernetes.io/name: {{ .component }}
        app.kubernetes.io/instance: {{ .root.Release.Name }}
ports:
  - protocol: TCP
    port: {{ .port }}
{{- end -}}

{{/* Addresses outside private networks, for nodes of flows and for clouds, at ports 80 and 443. */}}
{{- define "decision.publicEgress" -}}
to:
  - ipBlock:
      cidr: 0.0.0.0/0
      except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
  - ipBlock:
      cidr: ::/0
      except: ['::1/128', 'fc00::/7', 'fe80::/10']
ports:
  - protocol: TCP
    port: 443
  - protocol: TCP
    port: 80
{{- end -}}
