import { type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule, type RuleOutcome, type StoredValue } from '../src';
import { type CompiledRule, PARTS } from '../src/compile/compiled-rule';
import { NodeKind } from '../src/index/index-matcher';
import { VersionRanking } from '../src/match/ranks';
import { backwards, endOfPrefix, TextRanking } from '../src/match/text-ranking';
import { testOf } from '../src/operators/condition';
import { compareVersions, parseVersion } from '../src/operators/version';
import { pick, type Random, randomFrom, runSeed, times } from './support/random';

const seed = runSeed();

const table = (op: string, rows: number, argsOf: (row: number) => unknown[]): RuleTable => ({
  requestSchema: [{ key: 'a', type: 'string' }],
  responseSchema: [{ key: 'row', type: 'number' }],
  conditions: times(rows, (row) => ({
    request: { a: { op, args: argsOf(row) } },
    response: { row: { value: row } },
  })),
});
const matchedBy = (rule: CompiledRule, a: unknown): readonly number[] => {
  const outcome: RuleOutcome = evaluateRule(rule, { a }, { now: 0 });
  return outcome.ok ? outcome.matched : [];
};

describe('E-170 a form of a field', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each(['equals', 'does not equal', 'starts with', 'ends with', 'contains'])(
    'is made once for an input, however many rows ask: folded text of %s (case-insensitive)',
    (op) => {
      const argsOf = (row: number) => [op === 'does not equal' ? 'ABC' : `no ${row}`];
      for (const search of ['index', 'scan'] as const) {
        const rule = compileRule(table(`${op} (case-insensitive)`, 300, argsOf), { search });
        const fold = jest.spyOn(String.prototype, 'toUpperCase');
        expect(matchedBy(rule, 'abc')).toEqual([]);
        expect(fold).toHaveBeenCalledTimes(1);
        fold.mockRestore();
      }
    },
  );

  it('is not made for a row that comes after the one that answers', () => {
    const rules = table('equals (case-insensitive)', 10, (row) => [`no ${row}`]);
    const withAnswer = { ...rules, conditions: [{ request: {}, response: {} }, ...rules.conditions] };
    const rule = compileRule(withAnswer, { search: 'scan' });
    const fold = jest.spyOn(String.prototype, 'toUpperCase');
    expect(matchedBy(rule, 'abc')).toEqual([0]);
    expect(fold).not.toHaveBeenCalled();
  });
});

/** Rows of the largest leaf of an index that is tested row by row. */
const countScanned = (rule: CompiledRule): number => {
  let scanned = 0;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || !('kind' in node)) return;
    if (node.kind === NodeKind.scan) scanned = Math.max(scanned, Number(Reflect.get(node, 'end')) - Number(Reflect.get(node, 'start'))); // prettier-ignore
    if ('rest' in node) visit(node.rest);
    if ('others' in node) visit(node.others);
    if ('children' in node) for (const child of (node.children as Map<unknown, unknown>).values()) visit(child);
  };
  visit(rootOf(rule));
  return scanned;
};

const rootOf = (rule: CompiledRule): unknown => (rule[PARTS].search.matcher as unknown as { root: unknown }).root;

describe('E-171 an index serves', () => {
  const ROWS = 2_000;
  it.each<[string, (row: number) => unknown[], (row: number) => string]>([
    ['equals (case-insensitive)', (row) => [`Customer ${row}`], (row) => `CUSTOMER ${row}`],
    ['version is equal to', (row) => [`1.${row}.0`], (row) => `v1.${row}`],
    ['version is between', (row) => [`1.${row}.0`, `1.${row}.9`], (row) => `1.${row}.4`],
    ['starts with', (row) => [`${row}-`], (row) => `${row}-x`],
    ['starts with (case-insensitive)', (row) => [`${row}-a`], (row) => `${row}-Ax`],
    ['ends with', (row) => [`-${row}`], (row) => `x-${row}`],
    ['ends with (case-insensitive)', (row) => [`a-${row}`], (row) => `xA-${row}`],
    ['is of length', (row) => [row], (row) => 'x'.repeat(row)],
    ['is included in', (row) => [times(8, (place) => `${row}/${place}`)], (row) => `${row}/7`],
  ])('%s', (op, argsOf, valueOf) => {
    const rule = compileRule(table(op, ROWS, argsOf));
    expect(countScanned(rule)).toBeLessThan(50);
    for (const row of [0, 1, 77, ROWS / 2, ROWS - 1]) expect(matchedBy(rule, valueOf(row))).toEqual([row]);
    expect(matchedBy(rule, '?'.repeat(ROWS + 1))).toEqual([]);
  });

  it.each<[string, (row: number) => unknown[]]>([
    ['version is greater than', (row) => [`1.${ROWS - row}.0`]],
    ['version is less than or equal to', (row) => [`1.${row}.0-rc.1`]],
    ['is longer than', (row) => [ROWS - row]],
    ['is shorter than', (row) => [row]],
  ])('%s, where half of all rows match, by the first of them', (op, argsOf) => {
    const indexed = compileRule(table(op, ROWS, argsOf));
    const scanned = compileRule(table(op, ROWS, argsOf), { search: 'scan' });
    expect(rootOf(indexed)).toMatchObject({ kind: NodeKind.line });
    for (const row of [0, 1, 77, ROWS / 2, ROWS - 1, ROWS]) {
      for (const value of ['x'.repeat(row), `1.${row}.0`, `1.${row}.0-rc.2`, 'no version'])
        expect(matchedBy(indexed, value)).toEqual(matchedBy(scanned, value));
    }
  });

  it('sets that have a member in common, without asking the other rows', () => {
    const rule = compileRule(table('is included in', ROWS, (row) => [['common', `own ${row}`]]));
    const asked = times(ROWS, (row) => {
      const has = jest.spyOn(Set.prototype, 'has');
      const matched = matchedBy(rule, `own ${row}`);
      const { length } = has.mock.calls;
      has.mockRestore();
      expect(matched).toEqual([row]);
      return length;
    });
    expect(Math.max(...asked)).toBeLessThan(20);
    expect(matchedBy(rule, 'common')).toEqual([0]);
  });

  it('references to values, and builds its index again only when a value that the rule uses has changed', () => {
    const stored = new Map(times(ROWS, (row) => [`id${row}`, `value ${row}`]));
    const values = {
      revision: 1,
      get: (id: string): StoredValue => ({ id, name: id, type: 'string', value: stored.get(id) }),
    };
    const rule = compileRule(
      table('equals', ROWS, (row) => [{ $rb: 'globalValue', id: `id${row}`, name: `id${row}` }]),
      { values },
    );
    expect(countScanned(rule)).toBeLessThan(50);
    expect(matchedBy(rule, 'value 1321')).toEqual([1_321]);
    const built = rule[PARTS].search;
    stored.set('another', 'value');
    values.revision += 1;
    expect(matchedBy(rule, 'value 1321')).toEqual([1_321]);
    expect(rule[PARTS].search).toBe(built);
    stored.set('id1321', 'moved');
    values.revision += 1;
    expect(matchedBy(rule, 'moved')).toEqual([1_321]);
    expect(matchedBy(rule, 'value 1321')).toEqual([]);
    expect(rule[PARTS].search).not.toBe(built);
    expect(countScanned(rule)).toBeLessThan(50);
  });
});

/** Texts at the boundaries of an order: empty, with the first and the last units, surrogates, and adjacent texts. */
const UNITS = ['\u0000', 'a', 'b', 'A', '\ud83d', '\ude00', '\ufffe', '\uffff'];
/** Characters of one byte, at and beyond the limits of small keys of bounds. */
const SMALL_UNITS = ['\u0000', 'a', 'b', '\u00fc', '\u00fd', '\u00fe', '\u00ff'];
const randomText = (random: Random, units: readonly string[], most: number): string =>
  times(Math.floor(random() * most), () => pick(random, units)).join('');

const PRERELEASES = ['-0', '-a', '-a.1', '-a.1.0', '-a.b', '-rc.10', '-rc.9', '-10', '-9', '--', '-01', '-a..b'];
const NUMBERS = ['0', '1', '2', '9', '10', '131071', '131072', '262142', '262143', '262144', '99999999999999999999'];
const randomVersion = (random: Random): string => {
  const numbers = times(1 + Math.floor(random() * 3), () => pick(random, NUMBERS)).join('.');
  const suffix = pick(random, ['', '', '', '+build', '-rc.2+7', ...PRERELEASES]);
  return `${pick(random, ['', '', 'v'])}${numbers}${suffix}`;
};

describe('E-171 ranks', () => {
  it.each([
    { isBackwards: false, units: UNITS, most: 5 },
    { isBackwards: true, units: UNITS, most: 5 },
    { isBackwards: false, units: ['a', 'b', 'ü'], most: 30 },
    { isBackwards: true, units: ['a', 'b', 'ü'], most: 30 },
    { isBackwards: false, units: SMALL_UNITS, most: 4 },
    { isBackwards: true, units: SMALL_UNITS, most: 16 },
    { isBackwards: false, units: ['a'], most: 40 },
    { isBackwards: true, units: ['\uffff', 'a'], most: 20 },
  ])(`order texts as their conditions do, $# (seed ${seed})`, ({ isBackwards, units, most }) => {
    const random = randomFrom(seed);
    const wrong: unknown[] = [];
    for (let round = 0; round < 200; round += 1) {
      const written = times(1 + Math.floor(random() * 12), () => randomText(random, units, most));
      const prefixes = written.map((text) => (isBackwards ? backwards(text) : text));
      const bounds = prefixes.flatMap((prefix) => [prefix, endOfPrefix(prefix) ?? prefix]);
      const ranking = new TextRanking(bounds, isBackwards);
      // Random texts, and texts that contain those of the bounds with a prefix or suffix.
      const near = written.map((text) => `${pick(random, ['', ...units])}${text}${pick(random, ['', ...units])}`);
      for (const value of [...near, ...written, ...times(40, () => randomText(random, UNITS.concat(units), most))]) {
        const rank = ranking.rankOf(value);
        written.forEach((text, index) => {
          const [low, high] = ranking.ranksOfPrefix(prefixes[index] ?? '');
          const isHit = testOf({ kind: isBackwards ? 'ends with' : 'starts with', text })(value, 0);
          if ((rank >= low && rank <= high) !== isHit) wrong.push([text, value]);
        });
      }
    }
    expect(wrong).toEqual([]);
  });

  it('order prefixes that begin with one another, however many', () => {
    const prefixes = times(3_000, (length) => 'x'.repeat(length));
    const ranking = new TextRanking(prefixes, false);
    for (const length of [0, 1, 5, 6, 7, 1_234, 2_999]) expect(ranking.rankOf('x'.repeat(length))).toBe(2 * length + 1);
    expect(ranking.rankOf('x'.repeat(4_000))).toBe(6_000);
    expect(ranking.rankOf(`${'x'.repeat(100)}w`)).toBe(202);
    expect(ranking.rankOf(`${'x'.repeat(100)}y`)).toBe(6_000);
  });

  it(`order versions as they are compared, numbers of any size and pre-releases among them (seed ${seed})`, () => {
    const random = randomFrom(seed);
    const parse = (text: string) => parseVersion(text) ?? { numbers: ['0', '0', '0'] as const, prerelease: [] };
    const wrong: unknown[] = [];
    for (let round = 0; round < 200; round += 1) {
      const bounds = times(1 + Math.floor(random() * 12), () => parse(randomVersion(random)));
      const ranking = new VersionRanking(bounds);
      for (const text of times(40, () => randomVersion(random))) {
        const rank = ranking.rankOf(text);
        if (parseVersion(text) === undefined && !Number.isNaN(rank)) wrong.push([text, rank]);
        for (const bound of parseVersion(text) === undefined ? [] : bounds) {
          const order = Math.sign(rank - ranking.rankOfVersion(bound));
          if (order !== Math.sign(compareVersions(parse(text), bound))) wrong.push([text, bound]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(['', 'v', '1.', '.1', '1..2', '01', '1.2.3.4', '1.2.3-', 'x', '1.2.x', '1 ', '-1', '1.2.03'])(
    'give no rank to %j, which is no version',
    (text) => {
      expect(new VersionRanking([]).rankOf(text)).toBeNaN();
    },
  );
});
