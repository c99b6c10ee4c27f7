package app

import (
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/rdap"
)

// addRDAP adds the registration data service.
func (p *App) addRDAP(webConfig *web.Config) error {
	records, err := publicrecord.New(p.services.DB, p.services.keys.Seal())
	if err != nil {
		return err
	}
	webConfig.RDAP = rdap.Config{Records: records, Budget: p.limits.rdap, Registrar: registrarOf(&p.cfg)}
	return nil
}

// registrarOf returns the registrar as RDAP publishes it.
func registrarOf(cfg *config.Config) rdap.Registrar {
	seller := sellerOf(cfg.Company)
	published := rdap.Registrar{
		Name: seller.Name, IANAID: cfg.RDAP.IANAID, Street: seller.Street, PostalCode: seller.PostalCode, City: seller.City,
		Email: seller.Email, AbuseEmail: cfg.AbuseEmail(), Phone: config.InternationalPhone(seller.Phone), AbusePhone: cfg.AbusePhone(),
	}
	if seller.Name != "" {
		published.Country = seller.Country
	}
	return published
}
