# SPDX-License-Identifier: Apache-2.0
# Writes the shell blocks of a page (```sh) into the folder `dir`, one file each, numbered, named after the comment in the line
# before: 03.run, 04.serve, 05.rig … Those that are not run go nowhere. A yaml block after `<!-- file: NAME -->` becomes that file.
# Prints a finding for every shell block that has no such comment.
function tag_of(line) {
  sub(/^ *<!-- */, "", line)
  sub(/ *-->.*/, "", line)
  return line
}
/^ *```/ && out != "" {
  close(out)
  out = ""
  next
}
/^ *```/ && skipping {
  skipping = 0
  next
}
out != "" {
  sub(indent, "")
  print > out
  next
}
skipping { next }
/^ *```sh$/ {
  match($0, /^ */)
  indent = "^" substr($0, 1, RLENGTH)
  tag = before ~ /^ *<!--.*-->$/ ? tag_of(before) : ""
  if (tag == "run" || tag == "serve" || tag == "rig" || tag == "rig: serve") {
    sub(/: /, "-", tag)
    out = sprintf("%s/%02d.%s", dir, ++count, tag)
    printf "" > out
  } else {
    if (tag !~ /^not run: ./) print FILENAME ":" FNR ": a shell block without a comment that says how it is run (tests/docs/run.sh)"
    skipping = 1
  }
  before = ""
  next
}
/^ *```yaml$/ && before ~ /<!-- file: / {
  match($0, /^ */)
  indent = "^" substr($0, 1, RLENGTH)
  name = tag_of(before)
  sub(/^file: */, "", name)
  out = dir "/" name
  printf "" > out
  next
}
/^ *```./ {
  skipping = 1
  next
}
/./ { before = $0 }
