{{/* Parts that several manifests have. Each takes (dict "root" $ "name" NAME "component" COMPONENT …). */}}

{{- define "berth.labels" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "berth.image" -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "berth.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "berth.port" -}}
ports:
- name: https
  containerPort: 10259
startupProbe:
  httpGet: {path: /livez, port: https, scheme: HTTPS}
  failureThreshold: 24
  periodSeconds: 5
livenessProbe:
  httpGet: {path: /livez, port: https, scheme: HTTPS}
  failureThreshold: 8
readinessProbe:
  httpGet: {path: /readyz, port: https, scheme: HTTPS}
{{- end }}

{{/* Of a Deployment's pods: everything but containers and volumes. */}}
{{- define "berth.pod" -}}
serviceAccountName: {{ .name }}
priorityClassName: system-cluster-critical
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "berth.labels" . | nindent 6 }}
{{- end }}

{{- define "berth.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      {{- include "berth.labels" . | nindent 6 }}
{{- end }}

{{/* An account with the rules of a ClusterRole: "rules". */}}
{{- define "berth.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .name }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
rules:
{{ .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .name }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .name }}
{{ include "berth.subjects" . }}
{{- end }}

{{- define "berth.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* Its lease, and asking the API server who asks on port 10259. "suffix": of names that kustomize makes longer. */}}
{{- define "berth.processRights" -}}
{{- $name := .name | trimSuffix (.suffix | default "") -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
rules:
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ .name }}]
  verbs: [get, update]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
{{ include "berth.subjects" . }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}-auth-delegator{{ .suffix }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:auth-delegator
{{ include "berth.subjects" . }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}-authentication-reader{{ .suffix }}
  namespace: kube-system
  labels:
    {{- include "berth.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: extension-apiserver-authentication-reader
{{ include "berth.subjects" . }}
{{- end }}

{{- define "berth.schedulerRules" -}}
- apiGroups: [""]
  resources: [nodes, namespaces, services, replicationcontrollers]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [persistentvolumes, persistentvolumeclaims]
  verbs: [list, watch, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, delete]
- apiGroups: [""]
  resources: [pods/binding]
  verbs: [create]
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]
- apiGroups: [apps]
  resources: [replicasets, statefulsets]
  verbs: [list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes, csidrivers, csistoragecapacities, volumeattachments]
  verbs: [list, watch]
- apiGroups: [resource.k8s.io]
  resources: [resourceclaims, resourceslices, deviceclasses]
  verbs: [list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* A scheduler, with an extender beside it if there is "extender", the values of one. "of": its values. */}}
{{- define "berth.scheduler" -}}
{{ include "berth.account" (merge (dict "rules" (include "berth.schedulerRules" .)) .) }}
---
{{ include "berth.processRights" . }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
data:
  config.yaml: |
    {{- if .of.config }}
    {{- .of.config | nindent 4 }}
    {{- else }}
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection:
      leaderElect: true
      resourceNamespace: {{ .root.Release.Namespace }}
      resourceName: {{ .name }}
    profiles:
    - schedulerName: {{ .of.schedulerName }}
    {{- if .extender }}
    extenders:
    - urlPrefix: http://127.0.0.1:8080
      {{- with .extender.verbs.filter }}
      filterVerb: {{ . }}
      {{- end }}
      {{- with .extender.verbs.prioritize }}
      prioritizeVerb: {{ . }}
      {{- end }}
      {{- with .extender.verbs.bind }}
      bindVerb: {{ . }}
      {{- end }}
      weight: 1
    {{- end }}
    {{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "berth.labels" . | nindent 4 }}
spec:
  replicas: {{ .of.replicas }}
  selector:
    matchLabels:
      {{- include "berth.labels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "berth.labels" . | nindent 8 }}
    spec:
      {{- include "berth.pod" . | nindent 6 }}
      containers:
      - name: scheduler
        {{- include "berth.image" .root | nindent 8 }}
        args:
        - scheduler
        - --config=/etc/berth/config.yaml
        - --v={{ .root.Values.verbosity }}
        {{- include "berth.port" . | nindent 8 }}
        resources:
          {{- toYaml .root.Values.resources | nindent 10 }}
        securityContext:
          {{- include "berth.locked" . | nindent 10 }}
        volumeMounts:
        - name: config
          mountPath: /etc/berth
          readOnly: true
      {{- if .extender }}
      - name: extender
        {{- include "berth.image" .root | nindent 8 }}
        args:
        - extender
        - --preset={{ .extender.preset }}
        - --address=127.0.0.1
        - --port=8080
        resources:
          {{- toYaml .root.Values.resources | nindent 10 }}
        securityContext:
          {{- include "berth.locked" . | nindent 10 }}
      {{- end }}
      volumes:
      - name: config
        configMap:
          name: {{ .name }}
---
{{ include "berth.disruptionBudget" . }}
{{- end }}
