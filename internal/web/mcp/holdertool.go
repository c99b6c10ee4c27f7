package mcp

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// holderEntry is what those who act for a customer may know about a holder.
type holderEntry struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Organisation string `json:"organisation,omitempty"`
	Default      bool   `json:"default"`
}

// listHolders lists ids and names only: an agent chooses a holder, and never needs its address.
func (s *Server) listHolders(ctx context.Context, state *requestState, _ arguments) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	entries := []holderEntry{}
	if s.cfg.Holders != nil {
		all, err := s.cfg.Holders.List(ctx, *state.caller)
		if err != nil {
			return nil, registrar.DatabaseError(err)
		}
		for _, one := range all {
			entries = append(entries, holderEntry{ID: one.ID, Name: one.Name, Organisation: one.Organisation, Default: one.ID == holder.Own})
		}
	}
	return struct {
		Holders   []holderEntry `json:"holders"`
		ManageURL string        `json:"manageUrl"`
	}{entries, s.cfg.BaseURL + ui.HoldersPath}, nil
}
