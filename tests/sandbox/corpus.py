# ruff: noqa: E501
"""Ordinary programs, by what they use. Each must print in the sandbox what it prints in CPython."""

PROGRAMS = {
    "threads": """
import sys, threading
sys.setrecursionlimit(10 ** 6)
threading.stack_size(64 * 2 ** 20)
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
def main():
    print(depth(20000), threading.current_thread().name, threading.current_thread().is_alive())
t = threading.Thread(target=main, name='deep')
t.start(); t.join(); print(t.is_alive(), threading.current_thread().name, threading.active_count())
total, lock, own = 0, threading.Lock(), threading.local()
own.seen = True
def add(n):
    global total
    with lock: total += n
    assert not hasattr(own, 'seen')
some = [threading.Thread(target=add, args=(n,), daemon=True) for n in range(10)]
for one in some: one.start()
for one in some: one.join(timeout=5)
print(total, lock.locked(), lock.acquire(), lock.acquire(timeout=0.01), lock.acquire(blocking=False))
ready = threading.Event()
threading.Timer(0.01, ready.set).start()
print(ready.wait(5))
try: t.start()
except RuntimeError as error: print(error)
""",
    "pools of threads": """
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(max_workers=4) as pool:
    print(list(pool.map(lambda n: n * n, range(5))))
    print(sorted(one.result() for one in as_completed([pool.submit(pow, 2, n) for n in range(4)])))
    failed = pool.submit(lambda: 1 / 0)
print(repr(failed.exception()), failed.done())
try: pool.submit(print)
except RuntimeError as error: print(error)
""",
    "asyncio": """
import asyncio
async def square(n):
    await asyncio.sleep(0.01 * (5 - n))
    return n * n
async def make(queue):
    for n in range(3): await queue.put(n); await asyncio.sleep(0.001)
    await queue.put(None)
async def use(queue):
    while (found := await queue.get()) is not None: print('got', found)
async def main():
    print(await asyncio.gather(*(square(n) for n in range(5))))
    queue = asyncio.Queue()
    await asyncio.gather(make(queue), use(queue))
    print(await asyncio.to_thread(lambda: 7))
    try:
        async with asyncio.timeout(0.05): await asyncio.sleep(10)
    except TimeoutError: print('late')
    async with asyncio.TaskGroup() as group: group.create_task(square(2))
asyncio.run(main())
loop = asyncio.new_event_loop(); print(loop.run_until_complete(square(3))); loop.close()
""",
    "itertools": """
import itertools as it
print(list(it.permutations('abc', 2)), list(it.combinations(range(4), 3))[:3])
print(list(it.accumulate([1, 2, 3, 4], lambda a, b: a * b)), list(it.chain([1], (2, 3), {4})))
print([(k, list(g)) for k, g in it.groupby('aabbbc')], list(it.islice(it.cycle([1, 2]), 5)))
print(list(it.zip_longest('ab', 'xyz', fillvalue='-')), list(it.product([0, 1], repeat=2)))
""",
    "re": r"""
import re
print(re.findall(r'(\w+)@(\w+)\.com', 'a@b.com, cc@dd.com'), re.sub(r'\d+', lambda m: str(int(m[0]) * 2), 'a1b22'))
print(re.split(r'[,;]\s*', 'a, b;c'), re.fullmatch(r'(?P<y>\d{4})-(?P<m>\d\d)', '2024-05').groupdict())
print([m.span() for m in re.finditer(r'(?<=x)y+', 'xyyxzxy')], bool(re.match(r'(?i)HeLLo', 'hello')))
""",
    "collections": """
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
print(Counter('mississippi').most_common(2), Counter('aab') - Counter('ab'))
d = defaultdict(list)
for key, value in [('a', 1), ('b', 2), ('a', 3)]: d[key].append(value)
print(dict(d), deque([1, 2, 3], maxlen=2), list(reversed(OrderedDict(a=1, b=2))))
P = namedtuple('P', 'x y', defaults=[0]); print(P(1)._replace(y=5), ChainMap({'a': 1}, {'a': 2, 'b': 3})['b'])
""",
    "functools": """
from functools import cache, cached_property, cmp_to_key, lru_cache, partial, reduce, singledispatch, total_ordering, wraps
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(300), fib.cache_info())
@cache
def ways(n, k): return 1 if n == 0 else sum(ways(n - i, k) for i in range(1, k + 1) if i <= n)
print(ways(60, 3), reduce(lambda a, b: a ^ b, range(10)), partial(int, base=2)('101'))
print(sorted('bca', key=cmp_to_key(lambda a, b: (a < b) - (a > b))))
@singledispatch
def kind(x): return 'other'
@kind.register
def _(x: int): return 'int'
print(kind(1), kind('a'))
@lru_cache(maxsize=2)
def square(x): return x * x
print([square(n) for n in (1, 2, 1, 3, 2)], square.cache_info().misses)
""",
    "classes": """
from abc import ABC, abstractmethod
class Shape(ABC):
    count = 0
    def __init__(self): type(self).count += 1
    @abstractmethod
    def area(self): ...
    def __lt__(self, other): return self.area() < other.area()
class Square(Shape):
    __slots__ = ('side',)
    def __init__(self, side): super().__init__(); self.side = side
    def area(self): return self.side ** 2
    @property
    def double(self): return self.side * 2
    @classmethod
    def unit(cls): return cls(1)
    @staticmethod
    def name(): return 'square'
    def __repr__(self): return f'Square({self.side})'
print(sorted([Square(3), Square.unit(), Square(2)]), Square.name(), Square(4).double, Square.count)
try: Shape()
except TypeError as error: print('abstract')
class Meta(type):
    def __call__(cls, *a): return super().__call__(*a) if a else None
class M(metaclass=Meta): pass
print(M(), type(M).__name__, [c.__name__ for c in Square.__mro__])
""",
    "recursion": """
import sys
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
print(depth(900))
def hanoi(n, a='A', b='B', c='C'): return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)
print(hanoi(10))
def ackermann(m, n): return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))
print(ackermann(2, 3))
sys.setrecursionlimit(20000); print(depth(15000))
def forever(): forever()
try: forever()
except RecursionError as error: print(error)
""",
    "big integers": """
import math
print(2 ** 521 - 1, math.factorial(50), pow(3, 10 ** 6, 10 ** 9 + 7), math.isqrt(10 ** 40), math.gcd(2 ** 60, 6 ** 30))
print((10 ** 50) // 7, -(10 ** 30) % 97, (1 << 200) >> 190, hex(255 ** 20), int('zz', 36), (2 ** 70).bit_length())
print(math.comb(100, 50), divmod(-7, 2), 2 ** -2, int.from_bytes(b'\\xff' * 10, 'big'), ~5, 5 & -2)
""",
    "stdin": """
import sys
n = int(input())
rows = [list(map(int, input().split())) for _ in range(n)]
print(n, [sum(row) for row in rows]); print(sys.stdin.readline().rstrip(), sys.stdin.read().split())
""",
    "match": """
def f(x):
    match x:
        case {'kind': 'point', 'at': [x, y]}: return ('point', x, y)
        case [first, *rest] if len(rest) > 1: return ('list', first, rest)
        case int() | float(): return 'number'
        case str(s): return s.upper()
        case None: return 'none'
        case _: return 'other'
print([f(v) for v in ({'kind': 'point', 'at': [1, 2]}, [1, 2, 3], [1], 2.5, 'a', None, object)])
""",
    "generators": """
def count(n):
    got = []
    for i in range(n):
        got.append((yield i))
    return got
def outer():
    result = yield from count(3)
    yield result
g = outer(); print(next(g), g.send('a'), g.send('b'), g.send('c'))
def safe():
    try: yield 1
    finally: print('closed')
s = safe(); next(s); s.close()
print(sum(x * x for x in range(100) if x % 3 == 0), [*zip(*[iter(range(6))] * 2)], any(x > 5 for x in range(10)))
""",
    "dataclasses": """
from dataclasses import asdict, astuple, dataclass, field, replace
@dataclass(order=True, frozen=True)
class P:
    x: int
    y: float = 0.5
    tags: tuple = field(default=(), compare=False)
@dataclass(slots=True)
class Q:
    items: list = field(default_factory=list)
    def __post_init__(self): self.items.append(1)
print(P(1) < P(2), P(1, tags=('a',)) == P(1), replace(P(3), y=2.0), asdict(P(1)), astuple(P(2)), Q(), {P(1): 1}[P(1)])
try: P(1).x = 2
except Exception as error: print(type(error).__name__, error)
""",
    "heapq and bisect": """
import bisect, heapq
graph = {'a': {'b': 7, 'c': 3}, 'b': {'d': 2}, 'c': {'b': 1, 'd': 8}, 'd': {}}
best, queue = {}, [(0, 'a')]
while queue:
    cost, node = heapq.heappop(queue)
    if node not in best:
        best[node] = cost
        for other, step in graph[node].items(): heapq.heappush(queue, (cost + step, other))
print(best, heapq.nlargest(3, [5, 1, 9, 7]), list(heapq.merge([1, 4], [2, 3])))
a = [1, 3, 5]; bisect.insort(a, 4); print(a, bisect.bisect_left(a, 3), bisect.bisect_right(a, 3))
""",
    "fractions": """
from fractions import Fraction as F
print(F(1, 3) + F('0.25'), F(3.5), F(355, 113).limit_denominator(10), sum(F(1, n) for n in range(1, 20)), F(-7, 2) // 1)
""",
    "decimal": """
from decimal import ROUND_HALF_EVEN, Decimal, getcontext, localcontext
getcontext().prec = 50
print(Decimal(2).sqrt(), Decimal('0.1') + Decimal('0.2'), Decimal('2.675').quantize(Decimal('0.01'), ROUND_HALF_EVEN))
with localcontext() as c:
    c.prec = 5
    print(Decimal(1) / 7, Decimal('NaN').is_nan(), Decimal('1E+3').normalize())
""",
    "floats": """
import math, statistics
print(0.1 + 0.2, 1e308 * 10, -0.0, float('nan') != float('nan'), round(2.5), round(-1.005, 2), f'{math.pi:.10f}', 1 / 3)
print(math.fsum([0.1] * 10), math.hypot(3, 4), (0.1).as_integer_ratio(), float.hex(1.5), math.nextafter(1, 2))
print(statistics.mean([1, 2, 4]), statistics.median([3, 1, 2]), f'{statistics.stdev([1, 2, 4]):.9f}', math.inf > 10 ** 400)
""",
    "text": r"""
import string, textwrap
s = 'Grüße, 世界! naïve'
print(s.upper(), s.casefold(), s[::-1], len(s), s.encode(), s.split(), s.title(), 'ß'.upper(), s.find('世'))
print(f'{42:>8,}|{-3.14159:+.2f}|{"x":^5}|{255:#x}|{0.25:.0%}|{s!r:.8}|{1234567:_}', '%05d %s' % (42, 'a'), '{0}{1}{0}'.format(1, 2))
print(textwrap.fill('the quick brown fox jumps', 10), string.ascii_letters[:5], 'a-b'.translate({45: '+'}), 'x'.join('abc'))
print('abc'.partition('b'), 'a\tb'.expandtabs(4), 'ab12'.isalnum(), '½'.isnumeric(), ord('€'), chr(8364), repr('a\n\'"'), ascii('é'))
""",
    "sets and dicts": """
a, b = {1, 2, 3}, frozenset([3, 4])
print(sorted(a | b), a & b, sorted(a ^ b), a - b, {3} <= a)
d = {i: i * i for i in range(5)}
d |= {9: 81}; d.setdefault(7, 0); print(d, d.pop(3), list(d.items())[-1], sorted(d, key=lambda k: -d[k]), d.get(100))
print({**{'a': 1}, 'b': 2}, dict(zip('ab', [1, 2])), [*map(str, d.values())], max(d, key=d.get))
""",
    "exceptions": """
class Mine(ValueError): pass
def f(n):
    try:
        if n == 0: raise Mine('zero')
        if n == 1: return [][0]
        return 'fine'
    except Mine as error: return f'mine {error}'
    except (IndexError, KeyError) as error: return repr(error)
    else: return 'never'
    finally: print('finally', n)
print([f(n) for n in range(3)])
try:
    try: 1 / 0
    except ZeroDivisionError as error: raise RuntimeError('outer') from error
except RuntimeError as error: print(error, '<-', error.__cause__)
try: raise ExceptionGroup('many', [ValueError(1), TypeError(2)])
except* ValueError as group: print('values', group.exceptions)
except* TypeError as group: print('types', group.exceptions)
""",
    "context managers and closures": """
import contextlib, io
@contextlib.contextmanager
def tag(name):
    print(f'<{name}>')
    try: yield name.upper()
    finally: print(f'</{name}>')
with tag('a') as x, contextlib.suppress(KeyError): print(x); {}['no']
out = io.StringIO()
with contextlib.redirect_stdout(out): print('hidden')
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return step
c = counter(); print(c(), c(), repr(out.getvalue()), [f() for f in [lambda i=i: i for i in range(3)]])
""",
    "json and base64 and hashes": """
import base64, binascii, hashlib, json, zlib
print(json.dumps({'a': [1, 2.5, None, True], 'é': 'ü'}, sort_keys=True), json.loads('[1e3, "\\\\u00e9", {}]'))
print(base64.b64encode(b'hello'), hashlib.sha256(b'x').hexdigest(), hashlib.md5(b'x').hexdigest(), zlib.crc32(b'x'))
print(zlib.decompress(zlib.compress(b'aaaa' * 100)) == b'aaaa' * 100, binascii.hexlify(b'ab'))
""",
    "dates and enums": """
import datetime as dt, enum
d = dt.date(2024, 2, 28) + dt.timedelta(days=2)
print(d, d.isoweekday(), d.strftime('%d/%m/%Y'), dt.datetime.fromisoformat('2024-01-02T03:04:05+00:00').timestamp())
class Colour(enum.Enum): RED = 1; BLUE = enum.auto()
class Flag(enum.Flag): A = 1; B = 2
print(Colour.BLUE, Colour(1).name, [c.value for c in Colour], Flag.A | Flag.B, isinstance(Colour.RED, Colour))
""",
    "random with a seed": """
import random
r = random.Random(42)
print(r.random(), r.randint(1, 100), r.choice('abc'), r.sample(range(100), 3), r.gauss(0, 1), r.getrandbits(70))
x = list(range(8)); random.seed(7); random.shuffle(x); print(x)
""",
    "scripts": """
import sys, os.path, operator, copy, typing, types
print(__name__, len(sys.argv), os.path.join('a', 'b'), operator.itemgetter(1)([1, 2]), copy.deepcopy([[1]]))
def greet(name: str = 'you', /, *args: int, punctuation='!', **rest) -> str: return f'{name}{args}{punctuation}{rest}'
print(greet(), greet('a', 1, 2, punctuation='?', z=3), typing.get_type_hints(greet), greet.__defaults__)
print((lambda *a: a)(*[1, 2], 3), [i for i in range(3) if (half := i / 2) > 0.4], half, type(types.SimpleNamespace(a=1)))
if __name__ == '__main__': print('main', end=''); print(' done', file=sys.stdout, flush=True)
""",
    "sieve and primes": """
n = 20000
sieve = bytearray([1]) * (n + 1); sieve[:2] = b'\\0\\0'
for i in range(2, int(n ** 0.5) + 1):
    if sieve[i]: sieve[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
print(sum(sieve), [i for i in range(n - 100, n) if sieve[i]])
""",
    "exit in the middle": "import sys, atexit\natexit.register(print, 'last')\nprint('first')\nsys.exit()\nprint('never')",
}
STDIN = {"stdin": "2\n1 2 3\n4 5\nlast line\nand the rest\n"}
