# SPDX-License-Identifier: BSD-3-Clause
# hostcost.awk - from lines "CASE ROUND a|b|c NANOSECONDS": for each case the
# medians over the rounds of the time alone (a), of what Coax (b) adds to the
# mean of a and c of its round, and of what c differs from a.

function median(values, n,    i, k, x)
{
    for (i = 2; i <= n; i++) {
        x = values[i]
        for (k = i - 1; k >= 1 && values[k] > x; k--)
            values[k + 1] = values[k]
        values[k + 1] = x
    }
    return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

{
    if (!($1 in seen))
        order[++cases] = $1
    seen[$1] = 1
    time[$1, $2, $3] = $4
    if ($2 > rounds)
        rounds = $2
}
END {
    printf "%-30s %8s %8s %7s %8s\n", "ns a call", "alone", "added", "ratio", "A/A"
    for (i = 1; i <= cases; i++) {
        name = order[i]
        for (r = 1; r <= rounds; r++) {
            a = time[name, r, "a"]
            c = time[name, r, "c"]
            alone[r] = (a + c) / 2
            added[r] = time[name, r, "b"] - (a + c) / 2
            control[r] = c - a
        }
        base = median(alone, rounds)
        plus = median(added, rounds)
        noise = median(control, rounds)
        limit = base * 0.05 > 150 ? base * 0.05 : 150
        verdict = ""
        if (plus > limit)
            verdict = " ABOVE"
        else if (noise > limit || noise < -limit)
            verdict = " NOISY"
        printf "%-30s %8.1f %8.1f %7.3f %8.1f%s\n", name, base, plus, \
            (base + plus) / base, noise, verdict
    }
}
