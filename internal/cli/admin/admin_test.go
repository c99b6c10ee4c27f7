package admin

// grammar has the operator commands.
type grammar struct {
	Config    ConfigCommand    `cmd:""`
	Customers CustomersCommand `cmd:""`
	Orders    OrdersCommand    `cmd:""`
	Terms     TermsCommand     `cmd:""`
	Notices   NoticesCommand   `cmd:""`
	Registry  RegistryCommand  `cmd:""`
	Catalog   CatalogCommand   `cmd:""`
	Migrate   MigrateCommand   `cmd:""`
	Backup    BackupCommand    `cmd:""`
	Restore   RestoreCommand   `cmd:""`
}
