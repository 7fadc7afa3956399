# SPDX-License-Identifier: Apache-2.0
# Writes the code blocks of a page that have a file name (```cpp main.cc) into the folder `dir`. Of a file that is shown
# twice the later one counts; the earlier one goes to earlier/, so that it can be compiled, too.
/^```[a-z]+ [A-Za-z_.-]+$/ && !file {
  split($0, word, " ")
  file = dir "/" word[2]
  if (file in seen) system("mkdir -p " dir "/earlier && mv " file " " dir "/earlier/" word[2])
  seen[file] = 1
  printf "" > file
  next
}
/^```$/ && file {
  close(file)
  file = ""
  next
}
file { print > file }
