"""The papers that can be reproduced, one directory each."""
