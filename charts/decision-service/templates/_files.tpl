{{/* Files of a service: certificates of the brokers and of private authorities. Answers YAML with volumes and mounts. */}}
{{- define "umbrella.files" -}}
{{- $values := .root.Values -}}
{{- $tls := $values.app.logging.mqTls -}}
{{- $broker := and $tls.existingSecret (has .name (list "contexts-api" "hps-gateway" "solve-worker" "log-collector" "topics")) (not .bridge) (ne (include "umbrella.usesInternalBroker" .root) "true") -}}
{{- $authorities := $values.global.trustedAuthorities -}}
volumes:
  {{- if $broker }}
  - name: broker-tls
    secret:
      secretName: {{ $tls.existingSecret }}
      defaultMode: 0440
  {{- end }}
  {{- if $authorities.configMap }}
  - name: authorities
    configMap:
      name: {{ $authorities.configMap }}
  {{- end }}
mounts:
  {{- if $broker }}
  - name: broker-tls
    mountPath: /etc/decision/broker-tls
    readOnly: true
  {{- end }}
  {{- if $authorities.configMap }}
  - name: authorities
    mountPath: /etc/decision/authorities
    readOnly: true
  {{- end }}
{{- end -}}
