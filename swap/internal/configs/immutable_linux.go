package configs

// immutable says how to find out why the owner of a file may not change it.
const immutable = "lsattr -d shows if the file or its directory is immutable (i) or append-only (a), and chattr -i -a ends that"
