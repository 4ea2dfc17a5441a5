"""Storage: columns, tables in files, directories that are always whole, and checksums."""
