module contrast-krm.dev/tools/python312

go 1.26.0

require github.com/kluctl/go-embed-python v0.0.0-3.12.3-20240415-2

require (
	github.com/rogpeppe/go-internal v1.12.0 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	golang.org/x/sync v0.7.0 // indirect
	golang.org/x/sys v0.21.0 // indirect
)
