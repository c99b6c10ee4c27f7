package admin

// grammar is the operator's part of the command line.
type grammar struct {
	Customers CustomersCommand `cmd:""`
	Orders    OrdersCommand    `cmd:""`
	Notices   NoticesCommand   `cmd:""`
	Registry  RegistryCommand  `cmd:""`
	Backup    BackupCommand    `cmd:""`
	Restore   RestoreCommand   `cmd:""`
}
