{{- define "agent.runtimeClass" }}{{ with . }}runtimeClassName: {{ . }}{{ end }}{{ end }}
