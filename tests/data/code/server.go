// Package server answers requests.
package server

import (
	"context"
	"net/http"
)

const (
	small = iota
	large
)

// Server holds what requests share.
type Server struct {
	addr string
	mux  *http.ServeMux
}

type Handler interface {
	Handle(ctx context.Context) error
}

// Start listens until ctx ends.
func (s *Server) Start(ctx context.Context) error {
	if s.addr == "" {
		return errNoAddress
	}
	return s.listen(ctx)
}

func New(addr string) *Server {
	return &Server{
		addr: addr,
	}
}
