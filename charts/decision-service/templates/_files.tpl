{{/* Files of a service: certificates of brokers, cache, database and private authorities, and a token for the brokers. Answers YAML with volumes and mounts. */}}
{{- define "umbrella.files" -}}
{{- $values := .root.Values -}}
{{- $tls := $values.app.logging.mqTls -}}
{{- $broker := and $tls.existingSecret (has .name (list "contexts-api" "hps-gateway" "solve-worker" "log-collector" "topics")) (not .bridge) (ne (include "umbrella.usesInternalBroker" .root) "true") -}}
{{- $sasl := $values.app.logging.mqSasl -}}
{{- $token := and $sasl.tokenAudience (eq (include "umbrella.tokenSource" .root) "file") (has .name (list "contexts-api" "hps-gateway" "solve-worker" "log-collector" "topics")) (not .bridge) (ne (include "umbrella.usesInternalBroker" .root) "true") -}}
{{- $authorities := $values.global.trustedAuthorities -}}
{{- $database := $values.database -}}
{{- $databaseTls := and (not $database.enabled) $database.external.tls.existingSecret (ne .name "topics") -}}
{{- $cache := $values.cache -}}
{{- $cacheTls := and (not $cache.enabled) $cache.external.tls.enabled $cache.external.tls.existingSecret (not (has .name (list "topics" "migrations" "log-collector"))) -}}
volumes:
  {{- if $databaseTls }}
  - name: database-tls
    secret:
      secretName: {{ $database.external.tls.existingSecret }}
      defaultMode: 0440
  {{- end }}
  {{- if $cacheTls }}
  - name: cache-tls
    secret:
      secretName: {{ $cache.external.tls.existingSecret }}
      defaultMode: 0440
  {{- end }}
  {{- if $broker }}
  - name: broker-tls
    secret:
      secretName: {{ $tls.existingSecret }}
      defaultMode: 0440
  {{- end }}
  {{- if $token }}
  - name: broker-token
    projected:
      defaultMode: 0440
      sources:
        - serviceAccountToken:
            path: token
            audience: {{ $sasl.tokenAudience | quote }}
            expirationSeconds: 3600
  {{- end }}
  {{- if $authorities.configMap }}
  - name: authorities
    configMap:
      name: {{ $authorities.configMap }}
  {{- end }}
mounts:
  {{- if $databaseTls }}
  - name: database-tls
    mountPath: /etc/decision/database-tls
    readOnly: true
  {{- end }}
  {{- if $cacheTls }}
  - name: cache-tls
    mountPath: /etc/decision/cache-tls
    readOnly: true
  {{- end }}
  {{- if $broker }}
  - name: broker-tls
    mountPath: /etc/decision/broker-tls
    readOnly: true
  {{- end }}
  {{- if $token }}
  - name: broker-token
    mountPath: /etc/decision/broker-token
    readOnly: true
  {{- end }}
  {{- if $authorities.configMap }}
  - name: authorities
    mountPath: /etc/decision/authorities
    readOnly: true
  {{- end }}
{{- end -}}
