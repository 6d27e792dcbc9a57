{{- define "nvshare.selector" -}}
app.kubernetes.io/name: nvshare
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nvshare.labels" -}}
{{ include "nvshare.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "nvshare.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The folder of the emulated node, which has the name of the node of the cluster. */}}
{{- define "nvshare.emulated" -}}
/run/nvshare-emulator/$(NVSHARE_NODE_NAME)
{{- end }}

{{/* Root without capabilities: only root can learn from the kernel which program a process is. */}}
{{- define "nvshare.securityContext" -}}
runAsUser: 0
runAsNonRoot: false
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Environment with which NVML finds GPUs: the driver of the node, or the emulated driver. */}}
{{- define "nvshare.gpuEnvironment" -}}
- name: NVSHARE_NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
{{- if .Values.emulated.enabled }}
- name: NVSHARE_EMULATOR_NODE
  value: {{ include "nvshare.emulated" . }}
- name: LD_LIBRARY_PATH
  value: {{ .Values.hostFolder }}/{{ .Chart.AppVersion }}/emulator
{{- else }}
- name: NVIDIA_VISIBLE_DEVICES
  value: all
- name: NVIDIA_DRIVER_CAPABILITIES
  value: utility
{{- end }}
{{- end }}

{{/* The memory limit of the daemon: it also allocates, and is charged for, the host memory that programs move to. */}}
{{- define "nvshare.daemonResources" -}}
{{- $resources := deepCopy .Values.resources.daemon }}
{{- with .Values.hostMemory }}
{{- $mebibytes := hasSuffix "Gi" . | ternary 1024 1 | mul (regexFind "[0-9]+" . | atoi) }}
{{- $memory := dict "memory" (printf "%dMi" (add $mebibytes 512)) }}
{{- $resources = mustMergeOverwrite $resources (dict "requests" $memory "limits" $memory) }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{/* Labels of nodes with a GPU: of the GPU operator, node feature discovery, and three clouds. */}}
{{- define "nvshare.affinity" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - {key: nvidia.com/gpu.present, operator: In, values: ["true"]}
      - matchExpressions:
          - {key: feature.node.kubernetes.io/pci-10de.present, operator: In, values: ["true"]}
      - matchExpressions:
          - {key: feature.node.kubernetes.io/pci-0302_10de.present, operator: In, values: ["true"]}
      - matchExpressions:
          - {key: cloud.google.com/gke-accelerator, operator: Exists}
      - matchExpressions:
          - {key: k8s.amazonaws.com/accelerator, operator: Exists}
      - matchExpressions:
          - {key: kubernetes.azure.com/accelerator, operator: In, values: [nvidia]}
{{- end }}

{{/* How both kinds of monitors scrape. Labels that name a program must not be replaced by those of the daemon's pod. */}}
{{- define "nvshare.scrape" -}}
port: metrics
{{- with .interval }}
interval: {{ . }}
{{- end }}
honorLabels: true
relabelings:
  - sourceLabels: [__meta_kubernetes_pod_node_name]
    targetLabel: node
{{- end }}

{{/* Without `changes`, the page runs as the user nobody. It can use the socket for looking, but not the one for changes. The group reads the token. */}}
{{- define "nvshare.webSecurityContext" -}}
{{- if .Values.web.changes }}
{{- include "nvshare.securityContext" . }}
{{- else -}}
runAsUser: 65534
runAsGroup: 0
runAsNonRoot: true
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}
{{- end }}
