"""What is kept: columns, tables in files, directories that are whole, and sums over them."""
