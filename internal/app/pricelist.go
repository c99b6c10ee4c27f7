package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

// loadPriceList puts the stored price list in force and follows its later editions.
func (p *App) loadPriceList(ctx context.Context, live *catalog.Live) error {
	edition, err := p.services.DB.PriceList(ctx)
	if err != nil {
		return err
	}
	// A price list of the version before this one. Quoting the shipped prices instead
	// would be worse than not starting.
	old := filepath.Join(p.cfg.Data, "extensions.csv")
	if _, err := os.Stat(old); err == nil && edition.Number == 0 {
		return fmt.Errorf("%s is no longer read: put it in force with 'dotkontor catalog import --yes --config FILE %q', then remove it", old, old)
	}
	live.Replace(edition.List)
	p.background = append(p.background, func(ctx context.Context) {
		p.services.DB.WatchPriceList(ctx, priceListPollInterval, edition.Number, live, p.logger)
	})
	return nil
}

// PriceListEvent is what the audit log says about a new price list.
func PriceListEvent(by registrar.Actor, next *catalog.Catalog, changes int) registrar.AuditEvent {
	return registrar.AuditEvent{
		Actor: by, Action: admin.PriceListReplaced, Object: fmt.Sprintf("%d extensions, %d changes", next.Len(), changes), At: time.Now(),
	}
}
