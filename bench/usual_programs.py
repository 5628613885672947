# ruff: noqa: E501
"""Usual programs: what people and models write to compute something, as they write it. The default fuel is chosen by them."""

PROGRAMS = {
    "collatz to a million, cached": """
best = where = 0
known = [0, 1] + [0] * 999_999
for start in range(2, 1_000_001):
    n, steps = start, 0
    while n >= start:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    known[start] = steps + known[n]
    if known[start] > best:
        best, where = known[start], start
print(where)
""",
    "collatz to a million, in a dictionary": """
best = where = 0
known = {1: 1}
for start in range(1, 1_000_000):
    n, steps = start, 0
    while n not in known:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    known[start] = steps + known[n]
    if known[start] > best:
        best, where = known[start], start
print(where)
""",
    "collatz to 100,000, plain": """
def length(n):
    steps = 1
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(range(1, 100_000), key=length))
""",
    "sieve to ten million": """
n = 10_000_000
sieve = bytearray([1]) * (n + 1)
sieve[:2] = b'\\0\\0'
for p in range(2, int(n ** 0.5) + 1):
    if sieve[p]:
        sieve[p * p::p] = bytes(len(range(p * p, n + 1, p)))
print(sum(sieve))
""",
    "primes to two million, list sieve": """
n = 2_000_000
sieve = [True] * n
for p in range(2, n):
    if p * p >= n: break
    if sieve[p]:
        for k in range(p * p, n, p):
            sieve[k] = False
print(sum(p for p in range(2, n) if sieve[p]))
""",
    "primes to 300,000, trial division": """
def prime(n):
    if n < 2: return False
    d = 2
    while d * d <= n:
        if n % d == 0: return False
        d += 1
    return True
print(sum(map(prime, range(300_000))))
""",
    "nine queens": """
def place(row, columns, left, right, n):
    if row == n: return 1
    return sum(place(row + 1, columns | {c}, left | {row + c}, right | {row - c}, n)
               for c in range(n) if c not in columns and row + c not in left and row - c not in right)
print(place(0, frozenset(), frozenset(), frozenset(), 9))
""",
    "permutations of ten": """
from itertools import permutations
print(sum(1 for p in permutations(range(10)) if all(p[i] != i for i in range(10))))
""",
    "longest common subsequence, 2,000 by 2,000": """
import random
r = random.Random(1)
a, b = ([r.randrange(4) for _ in range(2000)] for _ in range(2))
row = [0] * (len(b) + 1)
for x in a:
    last = row
    row = [0]
    for j, y in enumerate(b):
        row.append(last[j] + 1 if x == y else max(last[j + 1], row[j]))
print(row[-1])
""",
    "shortest paths between 150 towns": """
import random
r = random.Random(1)
n = 150
d = [[0 if i == j else r.randrange(1, 1000) for j in range(n)] for i in range(n)]
for k in range(n):
    for i in range(n):
        for j in range(n):
            if d[i][k] + d[k][j] < d[i][j]:
                d[i][j] = d[i][k] + d[k][j]
print(sum(map(sum, d)))
""",
    "Dijkstra on a grid of 400 by 400": """
import heapq, random
r = random.Random(1)
n = 400
cost = [[r.randrange(1, 10) for _ in range(n)] for _ in range(n)]
best = {(0, 0): 0}
heap = [(0, 0, 0)]
while heap:
    d, x, y = heapq.heappop(heap)
    if d > best[x, y]: continue
    for a, b in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
        if 0 <= a < n and 0 <= b < n and d + cost[a][b] < best.get((a, b), 10 ** 9):
            best[a, b] = d + cost[a][b]
            heapq.heappush(heap, (best[a, b], a, b))
print(best[n - 1, n - 1])
""",
    "knapsack of 200 things, 10,000 units": """
import random
r = random.Random(1)
things = [(r.randrange(1, 100), r.randrange(1, 1000)) for _ in range(200)]
best = [0] * 10_001
for weight, value in things:
    for room in range(10_000, weight - 1, -1):
        best[room] = max(best[room], best[room - weight] + value)
print(best[-1])
""",
    "matrices of 150 by 150": """
n = 150
a = [[i * j % 7 for j in range(n)] for i in range(n)]
b = [[(i + j) % 5 for j in range(n)] for i in range(n)]
c = [[sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
print(sum(map(sum, c)))
""",
    "a game of life, 100 by 100, 100 turns": """
import random
r = random.Random(1)
n = 100
live = {(x, y) for x in range(n) for y in range(n) if r.random() < 0.3}
for _ in range(100):
    near = {}
    for x, y in live:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    cell = (x + dx) % n, (y + dy) % n
                    near[cell] = near.get(cell, 0) + 1
    live = {c for c, k in near.items() if k == 3 or (k == 2 and c in live)}
print(len(live))
""",
    "a hard sudoku": """
grid = list("4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......")
def options(at):
    r, c = divmod(at, 9)
    seen = {grid[r * 9 + k] for k in range(9)} | {grid[k * 9 + c] for k in range(9)}
    seen |= {grid[(r // 3 * 3 + k // 3) * 9 + c // 3 * 3 + k % 3] for k in range(9)}
    return set("123456789") - seen
def solve():
    empty = [(len(options(k)), k) for k in range(81) if grid[k] == "."]
    if not empty: return True
    _, at = min(empty)
    for digit in sorted(options(at)):
        grid[at] = digit
        if solve(): return True
    grid[at] = "."
    return False
print(solve(), "".join(grid))
""",
    "Mandelbrot, 200 by 200": """
inside = 0
for y in range(200):
    for x in range(200):
        z, c = 0j, complex(x / 80 - 2, y / 80 - 1.25)
        for _ in range(100):
            z = z * z + c
            if abs(z) > 2: break
        else:
            inside += 1
print(inside)
""",
    "Fibonacci of 30, plain": """
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
print(f(30))
""",
    "partitions of 3,000": """
ways = [1] + [0] * 3000
for part in range(1, 3001):
    for total in range(part, 3001):
        ways[total] += ways[total - part]
print(ways[-1])
""",
    "digits of 2 to the 200,000": """
import sys
sys.set_int_max_str_digits(0)
print(sum(map(int, str(2 ** 200_000))))
""",
    "sums of two abundant numbers": """
n = 28124
d = [0] * n
for k in range(1, n):
    for m in range(2 * k, n, k): d[m] += k
abundant = [k for k in range(n) if d[k] > k]
sums = {a + b for a in abundant for b in abundant if a + b < n}
print(sum(k for k in range(n) if k not in sums))
""",
    "a million random draws": """
import random
r = random.Random(1)
print(sum(r.random() ** 2 + r.random() ** 2 < 1 for _ in range(1_000_000)))
""",
    "sorting a million numbers": """
import random
r = random.Random(1)
numbers = sorted(r.randrange(10 ** 9) for _ in range(1_000_000))
print(numbers[500_000])
""",
    "counting words in 3 MB": """
import re
from collections import Counter
text = "the quick brown fox jumps over the lazy dog and the cat " * 55_000
print(Counter(re.findall(r"\\w+", text)).most_common(3))
""",
    "the travelling salesman, 13 towns": """
import random
r = random.Random(1)
n = 13
d = [[r.randrange(1, 100) for _ in range(n)] for _ in range(n)]
best = {(1, 0): 0}
for size in range(1, n):
    step = {}
    for (mask, last), cost in best.items():
        for town in range(1, n):
            if not mask >> town & 1:
                key = mask | 1 << town, town
                if cost + d[last][town] < step.get(key, 10 ** 9):
                    step[key] = cost + d[last][town]
    best = step
print(min(cost + d[last][0] for (_, last), cost in best.items()))
""",
    "a loop of ten million": """
total = 0
for i in range(10_000_000):
    total += i * i % 7
print(total)
""",
}
