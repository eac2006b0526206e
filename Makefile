export CGO_ENABLED ?= 0

.PHONY: build test

build: ## build bin/fsmtx
	go build -trimpath -o bin/fsmtx ./cmd/fsmtx

test: ## run every test
	go test ./...
