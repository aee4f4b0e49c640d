{{- define "stand-in.daemon-set" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    app.kubernetes.io/name: {{ .app }}
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .app }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .app }}
    spec:
      affinity:
        {{- toYaml .affinity | nindent 8 }}
      tolerations:
        - operator: Exists
      containers:
        - name: {{ .app }}
          image: {{ .image }}
{{- end -}}

{{- define "stand-in.types" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - key: node.kubernetes.io/instance-type
            operator: In
            values:
              {{- toYaml . | nindent 14 }}
{{- end -}}
