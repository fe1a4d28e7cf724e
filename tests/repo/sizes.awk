# SPDX-License-Identifier: BSD-3-Clause
# sizes.awk - long files and long functions. A function's body begins and ends
# with a brace in the first column, as clang-format leaves it.

function end_of_file()
{
    if (name != "" && lines > 650) {
        printf "%s: %d lines, at most 650\n", name, lines
        found = 1
    }
}

FNR == 1 {
    end_of_file()
    name = FILENAME
    start = 0
}

{
    lines = FNR
}

/^\{/ {
    start = FNR
}

/^\}/ {
    if (start && FNR - start + 1 > 100) {
        printf "%s:%d: a function of %d lines, at most 100\n", FILENAME,
            start, FNR - start + 1
        found = 1
    }
    start = 0
}

END {
    end_of_file()
    exit found
}
