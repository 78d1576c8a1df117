{{/* Refuses values that each are right and together cannot work, with a sentence that says what to change. */}}
{{- define "umbrella.check" -}}
{{- $values := .Values -}}
{{- $faults := list -}}
{{- $logging := $values.app.logging -}}
{{- $limits := $values.app.limits -}}
{{- if gt ($limits.logRecordMaxBytes | int64) ($limits.logMessageBytes | int64) }}
{{- $faults = append $faults (printf "app.limits.logRecordMaxBytes is above app.limits.logMessageBytes (%d), the largest message of the topic logs." ($limits.logMessageBytes | int64)) }}
{{- end }}
{{- $message := $limits.executionMessageBytes | int64 }}
{{- $room := sub $message (max 131072 (div (add $message 15) 16)) }}
{{- if gt ($limits.itemMaxBytes | int64) $room }}
{{- $faults = append $faults (printf "app.limits.itemMaxBytes is above %d, which app.limits.executionMessageBytes of %d leaves it." $room $message) }}
{{- end }}
{{- if gt (mul 16 ($limits.chunkBytes | int64)) $message }}
{{- $faults = append $faults (printf "app.limits.chunkBytes is above a sixteenth of app.limits.executionMessageBytes (%d): results may be that many times as long as inputs." $message) }}
{{- end }}
{{- if gt ($values.app.limits.itemMaxBytes | int64) ($values.app.limits.httpBodyBytes | int64) }}
{{- $faults = append $faults "app.limits.itemMaxBytes is above app.limits.httpBodyBytes: no such input could arrive." }}
{{- end }}
{{- $scaling := $values.hps.workers.autoscaling }}
{{- if gt ($scaling.minReplicas | int) ($scaling.maxReplicas | int) }}
{{- $faults = append $faults "hps.workers.autoscaling.minReplicas is above hps.workers.autoscaling.maxReplicas." }}
{{- end }}
{{- if gt ($scaling.maxReplicas | int) ($values.topics.solution.partitions | int) }}
{{- $faults = append $faults (printf "hps.workers.autoscaling.maxReplicas is %d, but topics.solution.partitions is %d: further workers would have no partition. Give the topic about twice as many partitions as there are workers." ($scaling.maxReplicas | int) ($values.topics.solution.partitions | int)) }}
{{- end }}
{{- if and $scaling.hpaMetric.name (ne $scaling.kind "hpa") }}
{{- $faults = append $faults (printf "hps.workers.autoscaling.hpaMetric is set, but hps.workers.autoscaling.kind is %s: only hpa reads it." $scaling.kind) }}
{{- end }}
{{- $worker := index .Subcharts "solve-worker" | default dict }}
{{- if and $worker (eq $scaling.kind "none") }}
{{- $field := ternary "autoscaling.maxReplicas" "replicas" $worker.Values.autoscaling.enabled }}
{{- $most := ternary $worker.Values.autoscaling.maxReplicas $worker.Values.replicas $worker.Values.autoscaling.enabled | int }}
{{- if gt $most ($values.topics.solution.partitions | int) }}
{{- $faults = append $faults (printf "solve-worker.%s is %d, but topics.solution.partitions is %d: further workers would have no partition. Give the topic about twice as many partitions as there are workers." $field $most ($values.topics.solution.partitions | int)) }}
{{- end }}
{{- end }}
{{- if and $worker (eq $scaling.kind "keda") (eq $logging.mqSasl.mechanism "aws-iam") (include "umbrella.brokers" .) (ne (include "umbrella.usesInternalBroker" .) "true") (not $scaling.triggerAuthentication) (not $logging.awsRoleArn) (ne (include "umbrella.triggerLogin" .) "true") }}
{{- $faults = append $faults "app.logging.mqSasl.mechanism is aws-iam, and nothing says as whom keda reads the lag: give app.logging.awsRoleArn, which keda must be allowed to take, or the name of a TriggerAuthentication in hps.workers.autoscaling.triggerAuthentication, or choose another hps.workers.autoscaling.kind." }}
{{- end }}
{{- if and (eq (include "umbrella.usesInternalBroker" .) "true") (index .Subcharts "mq") }}
{{- range $topic := list "solution" "solutionResponse" "logs" }}
{{- $copies := (index $values.topics $topic).replication | int }}
{{- if gt $copies ($values.mq.replicas | int) }}
{{- $faults = append $faults (printf "topics.%s.replication is %d, but mq.replicas is %d." $topic $copies ($values.mq.replicas | int)) }}
{{- end }}
{{- end }}
{{- $largest := max ($limits.logMessageBytes | int64) $message }}
{{- if lt (dig "messageMaxBytes" 67108864 $values.mq | int64) $largest }}
{{- $faults = append $faults (printf "mq.messageMaxBytes is below %d: topics take messages of that size (app.limits.logMessageBytes, app.limits.executionMessageBytes)." $largest) }}
{{- end }}
{{- if lt (dig "replicaFetchMaxBytes" 134217728 $values.mq | int64) (mul 2 $largest) }}
{{- $faults = append $faults (printf "mq.replicaFetchMaxBytes is below %d: copies of the largest messages could not be fetched." (mul 2 $largest)) }}
{{- end }}
{{- end }}
{{- with $logging.mqSasl }}
{{- if and (has .mechanism (list "plain" "scram-sha-256" "scram-sha-512")) (not .existingSecret) (not (and .username .password)) }}
{{- $faults = append $faults (printf "app.logging.mqSasl.mechanism is %s: give existingSecret, or username and password." .mechanism) }}
{{- end }}
{{- if eq .mechanism "aws-iam" }}
{{- if not .region }}{{ $faults = append $faults "app.logging.mqSasl.mechanism is aws-iam: give its region." }}{{ end }}
{{- if not $logging.mqSsl }}{{ $faults = append $faults "app.logging.mqSasl.mechanism is aws-iam, which needs app.logging.mqSsl: true." }}{{ end }}
{{- end }}
{{- $source := include "umbrella.tokenSource" $ }}
{{- if and (eq .mechanism "oauthbearer") (not $source) }}
{{- $faults = append $faults "app.logging.mqSasl.mechanism is oauthbearer: give tokenUrl, tokenAudience, tokenFile, or app.logging.gcpServiceAccountEmail." }}
{{- end }}
{{- if and (eq $source "client-credentials") (or (not .tokenUrl) (and (not .existingSecret) (not (and .username .password)))) }}
{{- $faults = append $faults "app.logging.mqSasl.tokenSource is client-credentials: give tokenUrl, and existingSecret or username and password (client id and client secret)." }}
{{- end }}
{{- if and (eq $source "file") (not .tokenAudience) (not .tokenFile) }}
{{- $faults = append $faults "app.logging.mqSasl.tokenSource is file: give tokenAudience, or tokenFile." }}
{{- end }}
{{- if and .tokenFile $values.topics.job }}
{{- $faults = append $faults "app.logging.mqSasl.tokenFile is a file that the topic job does not have: set topics.job: false and make the topics yourself, or give tokenAudience." }}
{{- end }}
{{- if and .tokenAudience .tokenFile }}
{{- $faults = append $faults "app.logging.mqSasl.tokenAudience and tokenFile are both set: a token comes from one file." }}
{{- end }}
{{- if and $source (ne $source "client-credentials") (or .tokenUrl .scope) }}
{{- $faults = append $faults (printf "app.logging.mqSasl.tokenUrl and scope are for client-credentials, but tokenSource is %s." $source) }}
{{- end }}
{{- if and $source (ne $source "file") (or .tokenAudience .tokenFile) }}
{{- $faults = append $faults (printf "app.logging.mqSasl.tokenAudience and tokenFile are for files, but tokenSource is %s." $source) }}
{{- end }}
{{- if and (eq $source "gcp") (not $logging.mqSsl) }}
{{- $faults = append $faults "app.logging.mqSasl.tokenSource is gcp, which needs app.logging.mqSsl: true." }}
{{- end }}
{{- if and .mechanism (eq (include "umbrella.usesInternalBroker" $) "true") }}
{{- $faults = append $faults "app.logging.mqSasl.mechanism is set, but the broker inside the cluster asks for no login: set mq.enabled: false and app.logging.mqBrokers." }}
{{- end }}
{{- end }}
{{- range $place, $tls := dict "app.logging.mqTls" $logging.mqTls "cache.external.tls" $values.cache.external.tls "database.external.tls" $values.database.external.tls }}
{{- if and $tls.certKey (not $tls.keyKey) }}
{{- $faults = append $faults (printf "%s.certKey is set without keyKey." $place) }}
{{- end }}
{{- end }}
{{- with $values.database }}
{{- if and (not .enabled) (not .external.host) }}{{ $faults = append $faults "database.enabled is false: give database.external.host." }}{{ end }}
{{- if not (or .service.password .service.existingSecret) }}
{{- $faults = append $faults "database.service needs password or existingSecret: the charts draw no passwords. Make one with: openssl rand -hex 24" }}
{{- end }}
{{- if and $values.migrations.job (not (or .owner.password .owner.existingSecret)) }}
{{- $faults = append $faults "database.owner needs password or existingSecret: the charts draw no passwords. Make one with: openssl rand -hex 24" }}
{{- end }}
{{- if eq .owner.user .service.user }}
{{- $faults = append $faults "database.owner.user and database.service.user are the same: services must not own the schema." }}
{{- end }}
{{- end }}
{{- if and $values.cache.enabled $values.cache.external.host }}
{{- $faults = append $faults "cache.external.host is set, but cache.enabled is true: set cache.enabled: false to use a cache of your own." }}
{{- end }}
{{- $secret := $values.global.backend.jwtSecret }}
{{- if and $secret (lt (len $secret) 32) }}
{{- $faults = append $faults "global.backend.jwtSecret has fewer than 32 characters." }}
{{- end }}
{{- with $values.ingress }}
{{- if and .enabled (not .host) }}{{ $faults = append $faults "ingress.enabled is true: give ingress.host." }}{{ end }}
{{- if and .enabled (eq .implementation "envoy-gateway") (not .gateway.name) }}{{ $faults = append $faults "ingress.implementation is envoy-gateway: give ingress.gateway.name." }}{{ end }}
{{- if and .enabled (eq .implementation "plain") (eq (include "umbrella.passthrough" $) "true") }}
{{- $faults = append $faults "ingress.implementation is plain, which asks nobody who people are: token passthrough needs traefik or envoy-gateway." }}
{{- end }}
{{- end }}
{{- with $values.mqBridge }}
{{- if .enabled }}
{{- if not .brokers }}{{ $faults = append $faults "mqBridge.enabled is true: give mqBridge.brokers." }}{{ end }}
{{- if not .provider }}{{ $faults = append $faults "mqBridge.enabled is true: give mqBridge.provider, aws or gcp." }}{{ end }}
{{- if and (eq .provider "aws") (not .region) }}{{ $faults = append $faults "mqBridge.provider is aws: give mqBridge.region." }}{{ end }}
{{- if not (or .image.tag .image.digest) }}{{ $faults = append $faults "mqBridge.enabled is true: give mqBridge.image.tag or mqBridge.image.digest." }}{{ end }}
{{- end }}
{{- end }}
{{- if $faults }}
{{- fail (printf "\n\nThese values cannot work:\n- %s\n" (join "\n- " $faults)) }}
{{- end }}
{{- end -}}
