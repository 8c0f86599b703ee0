"""The curve P-384 for numbers that are no secret: whether a point lies on it, and multiples of its generator.

Rule of this file: never for a private key, since how long it runs depends on the numbers. OpenSSL would take a
hundredth of a millisecond for each, and fifteen to be loaded; a render needs a handful. Sources: FIPS 186-5 and
SP 800-186 (the curve); Lim and Lee, "More Flexible Exponentiation with Precomputation" (the comb).
"""

from functools import cache

P = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFFFF0000000000000000FFFFFFFF
"""The field's prime. The curve is y² = x³ - 3x + B over it."""

B = 0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973
"""The order of the group, a prime: every point but the neutral one generates it."""

G = (
    0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
    0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
)
"""The generator."""

TEETH = (
    G,
    (
        0xF532389A060CBD1BD6E98B0D37CA7ABC4360390918141B1A4B58808B3F8686A92C3E0C91558717DB39C1B328D8EE21C9,
        0xB9D2852CC3B38E696F04CAA2DE3A82BABD22CFB2A2124163BC40CE5ABE64360331EA31B1085A4E9A7A7E183923D86ECD,
    ),
    (
        0xC19E0B4C800119C440F7F9E706421279B42A31AF8A3E297DDB2987894D10DDEABA065458A4F52D78A628B09AAA03BD53,
        0x16F3FDBF0356B301E5A0191D1F5B77F6577A30EAE3567AF9C1C7CAD135F6EBF2AF68AA6DE639D858822D0FC5E6C88C41,
    ),
    (
        0xB2D1055817CBAA12211905035F4972D7097DA395A23096863D8B29DBD08848C2F33A450AD156F761E4BFC2C04905CA71,
        0x354CD872C3C6CBD2237C0DBA3CFD056BF82BE8F52E6236C09B475D744ECF1A68E87AB07C6924666FDDCEBB55753EE324,
    ),
)
"""Of the comb: the generator times 1, 2^96, 2^192 and 2^288, each the one before it times 2^SPACING."""

SPACING = 96

Affine = tuple[int, int]
Jacobian = tuple[int, int, int]  # x / z², y / z³: no division until the end


def on_curve(x: int, y: int) -> bool:
    """Whether two numbers are the coordinates of a point."""
    return 0 <= x < P and 0 <= y < P and (y * y - (x * x - 3) * x - B) % P == 0


def times_generator(k: int) -> Affine:
    """K times the generator, for 0 < k < N.

    No two points with the same x are ever added: between the teeth, the sum so far has only even digits, so it is no
    multiple of what is added, and together they stay below N.
    """
    comb = _comb()
    total: Jacobian | None = None
    for column in reversed(range(SPACING)):
        if total:
            total = _double(total)
        bits = k >> column  # one bit out of each quarter of k: which teeth are in this sum
        tooth = (
            (bits & 1) | (bits >> (SPACING - 1) & 2) | (bits >> (2 * SPACING - 2) & 4) | (bits >> (3 * SPACING - 3) & 8)
        )
        if tooth:
            total = _add(total, comb[tooth]) if total else (*comb[tooth], 1)
    if total is None:
        raise ValueError("the neutral point has no coordinates")
    return _affine(total)


@cache
def _comb() -> list[Affine]:
    """Every sum of TEETH; the bits of an index say which are in it."""
    sums: list[Affine] = [(0, 0)]
    for tooth in TEETH:
        sums += [tooth, *(_affine(_add((*other, 1), tooth)) for other in sums[1:])]
    return sums


def _double(point: Jacobian) -> Jacobian:
    x, y, z = point
    square_y, square_z = y * y % P, z * z % P
    beta = x * square_y % P
    slope = 3 * (x - square_z) * (x + square_z) % P
    new_x = (slope * slope - 8 * beta) % P
    return new_x, (slope * (4 * beta - new_x) - 8 * square_y * square_y) % P, 2 * y * z % P


def _add(one: Jacobian, two: Affine) -> Jacobian:
    """The sum of two points with different x."""
    x, y, z = one
    square_z = z * z % P
    width = (two[0] * square_z - x) % P
    height = (two[1] * square_z * z - y) % P
    square = width * width % P
    cube = square * width % P
    shared = x * square % P
    new_x = (height * height - cube - 2 * shared) % P
    return new_x, (height * (shared - new_x) - y * cube) % P, z * width % P


def _affine(point: Jacobian) -> Affine:
    x, y, z = point
    inverse = pow(z, -1, P)
    square = inverse * inverse % P
    return x * square % P, y * square * inverse % P
