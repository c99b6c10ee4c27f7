package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

// loadPriceList loads the stored price list and follows later editions.
func (p *App) loadPriceList(ctx context.Context) error {
	edition, err := p.services.DB.PriceList(ctx)
	if err != nil {
		return err
	}
	// Version 0.x kept the price list in a file. Failing is better than silently quoting
	// the shipped prices.
	old := filepath.Join(p.cfg.Data, "extensions.csv")
	if _, err := os.Stat(old); err == nil && edition.Number == 0 {
		return fmt.Errorf("%s is no longer read: import it with 'dotkontor catalog import --yes --config FILE %q', then remove it", old, old)
	}
	p.live.Replace(edition.List)
	p.inBackground(func(ctx context.Context) {
		p.services.DB.WatchPriceList(ctx, priceListPollInterval, edition.Number, p.live, p.logger)
	})
	return nil
}

// maxNamedExtensions bounds the extensions that an audit event names.
const maxNamedExtensions = 20

// PriceListEvent is what the audit log says about a new price list.
func PriceListEvent(by registrar.Actor, next *catalog.Catalog, changes int, at time.Time) registrar.AuditEvent {
	object := fmt.Sprintf("%d extensions, %d changes", next.Len(), changes)
	var allowed []string
	for _, ext := range next.All() {
		if ext.BelowCost {
			allowed = append(allowed, ext.TLD)
		}
	}
	if len(allowed) > 0 {
		object += fmt.Sprintf(", below cost allowed for %d: %s", len(allowed), strings.Join(allowed[:min(len(allowed), maxNamedExtensions)], " "))
	}
	return registrar.AuditEvent{Actor: by, Action: admin.PriceListReplaced, Object: object, At: at}
}
