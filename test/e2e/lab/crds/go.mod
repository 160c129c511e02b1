// Modules that carry CRD files; nothing of them is compiled.
module kvup.local/lab/crds

go 1.26.0

require (
	github.com/openshift/api v0.0.0-20260325070019-86893981287e
	github.com/operator-framework/api v0.39.0
)
