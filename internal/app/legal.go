package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/legal"
)

// Limits of declarations per network address and per confirmed email address: enough
// for an office, too few to flood a mailbox.
const (
	noticesPerHour    = 5
	noticesPer10Hours = 15
)

// addLegalPages adds the legally required pages and the declaration forms.
func (p *App) addLegalPages(ctx context.Context, webConfig *web.Config) error {
	tries, err := p.newLimiter(
		ratelimit.Window{Limit: noticesPerHour, Per: time.Hour}, ratelimit.Window{Limit: noticesPer10Hours, Per: 10 * time.Hour})
	if err != nil {
		return err
	}
	notices, err := withdrawal.New(withdrawal.Config{
		Store: p.services.DB, OperatorEmail: p.cfg.Company.Email, RateLimit: tries.AllowText, MailQueued: p.services.mail.wake,
	})
	if err != nil {
		return err
	}
	if p.cfg.Company.Name == "" {
		p.logger.WarnContext(ctx, "the legal notice is incomplete: no company is configured (company.name)")
	}
	webConfig.Legal = legal.Config{Notices: notices, Operator: particularsOf(p.cfg.Company)}
	if folder := p.cfg.Company.Texts; folder != "" {
		if _, err := os.Stat(folder); err != nil {
			return fmt.Errorf("company.texts: %w", err)
		}
		webConfig.Legal.Texts = os.DirFS(folder)
	}
	return nil
}

func particularsOf(c config.Company) legal.OperatorInfo {
	return legal.OperatorInfo{
		Company: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City, Email: c.Email, Phone: c.Phone,
		Representative: c.Representative, Responsible: c.Responsible, Register: c.Register, VATID: c.VATID,
	}
}
