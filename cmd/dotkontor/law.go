package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/law"
)

// How many declarations come from one address on the network, or are confirmed to
// one of mail: enough for an office, and too few to fill anybody's mailbox.
const (
	declarationsPerHour    = 5
	declarationsPer10Hours = 15
)

// declareLaw shows the pages that the law asks for, and takes declarations.
func (p *product) declareLaw(ctx context.Context, front *web.Config) error {
	tries, err := p.newLimiter(
		quota.Window{Limit: declarationsPerHour, Per: time.Hour}, quota.Window{Limit: declarationsPer10Hours, Per: 10 * time.Hour})
	if err != nil {
		return err
	}
	declarations, err := declaration.New(declaration.Config{
		Store: p.people.db, Operator: p.cfg.Company.Email, Tries: throttle{tries}.Count, Wake: p.people.post.wake,
	})
	if err != nil {
		return err
	}
	if p.cfg.Company.Name == "" {
		p.logger.WarnContext(ctx, "the legal notice names nobody, because the company is not set (company.name)")
	}
	front.Law = law.Config{Declarations: declarations, Operator: particularsOf(p.cfg.Company)}
	if folder := p.cfg.Company.Texts; folder != "" {
		if _, err := os.Stat(folder); err != nil {
			return fmt.Errorf("company.texts: %w", err)
		}
		front.Law.Texts = os.DirFS(folder)
	}
	return nil
}

// particularsOf is what the pages say of the operator, from the settings.
func particularsOf(c config.Company) law.Particulars {
	return law.Particulars{
		Company: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City, Email: c.Email, Phone: c.Phone,
		Representative: c.Representative, Responsible: c.Responsible, Register: c.Register, VATID: c.VATID,
	}
}
