{{- define "database.secret" }}{{ .Values.existingSecret | default (printf "%s-credentials" .Release.Name) }}{{ end }}

{{- define "database.claims" }}
volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      storageClassName: {{ .Values.persistence.storageClass }}
      {{- if eq .Values.persistence.mode "Block" }}
      volumeMode: Block
      {{- end }}
      resources: {requests: {storage: {{ .Values.persistence.size }}}}
{{- end }}

{{- define "database.annotations" }}
{{- if eq .Values.persistence.mode "Block" }}
contrast.edgeless.systems/secure-pv: data:pgdata
{{- end }}
{{- end }}

{{- define "database.volumeName" }}{{ if eq .Values.persistence.mode "Block" }}pgdata{{ else }}data{{ end }}{{ end }}
