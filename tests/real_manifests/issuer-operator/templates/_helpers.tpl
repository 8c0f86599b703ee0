{{- define "issuer.pod" -}}
runtimeClassName: {{ .Values.global.runtimeClassName }}
serviceAccountName: {{ .Release.Name }}
enableServiceLinks: false
securityContext:
  {{- toYaml .Values.global.podSecurityContext | nindent 2 }}
nodeSelector:
  kubernetes.io/os: linux
{{- end }}
