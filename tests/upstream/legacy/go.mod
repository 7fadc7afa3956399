module berth.dev/legacy

go 1.22
