{{- define "orthrus.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "orthrus.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "orthrus.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "orthrus.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Name of a cluster-scoped object: releases of one name live in several namespaces. */}}
{{- define "orthrus.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "orthrus.fullname" .) }}
{{- end }}

{{- define "orthrus.selectorLabels" -}}
app.kubernetes.io/name: {{ include "orthrus.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "orthrus.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "orthrus.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "orthrus.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "orthrus.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* The namespaces that the operator serves, separated by commas; empty for all. */}}
{{- define "orthrus.watchedNamespaces" -}}
{{- if not .Values.watch.allNamespaces }}
{{- default (list .Release.Namespace) .Values.watch.namespaces | join "," }}
{{- end }}
{{- end }}
