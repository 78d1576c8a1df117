import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  accumulatorNames,
  bindValueReferences,
  checkRule,
  type CompileOptions,
  compileRule,
  evaluateMany,
  evaluateRule,
  EXAMPLE_NOW,
  type RuleOutcome,
  type RuleProblemCode,
} from '../src/index';
import { CaseValues, type TableCase, tableOf } from './support/case-table';

type Answer = NonNullable<TableCase['answers']>[number];

const folder = join(__dirname, '../cases/tables');
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const casesOf = (file: string): TableCase[] => JSON.parse(readFileSync(join(folder, file), 'utf8')) as TableCase[];

/** An outcome in the words of a case, limited to the parts that the case specifies. */
const inWordsOf = ({ fails, matched, explanation }: Answer, outcome: RuleOutcome): unknown => {
  if (!outcome.ok) {
    const { message, row, column, details } = outcome.error;
    const problem = details['problem'] as { readonly caret?: string } | undefined;
    const caret = problem?.caret?.split('\n');
    const all: Record<string, unknown> = { reason: details['reason'], message, row, column, caret };
    return { fails: Object.fromEntries(Object.keys(fails ?? all).map((key) => [key, all[key]])) };
  }
  return {
    output: outcome.output,
    ...(matched === undefined ? {} : { matched: outcome.matched }),
    ...(explanation === undefined ? {} : { explanation: JSON.parse(JSON.stringify(outcome.explanation)) as unknown }),
  };
};

const expectedBy = ({ output, matched, explanation, fails }: Answer): unknown =>
  fails === undefined
    ? {
        output,
        ...(matched === undefined ? {} : { matched }),
        ...(explanation === undefined ? {} : { explanation }),
      }
    : { fails };

/** Checks all answers of a case in order, with one compiled rule. */
const checkAnswers = (entry: TableCase, search: 'index' | 'scan', many: boolean): void => {
  const values = new CaseValues(entry.values ?? []);
  const { table, problems } = bindValueReferences(tableOf(entry), values);
  expect(problems).toEqual([]);
  const options: CompileOptions = { values, search };
  const rule = compileRule(table, options);
  for (const answer of entry.answers ?? []) {
    if (answer.values !== undefined) values.change(answer.values);
    const { input = {}, at, audience } = answer;
    const explain = answer.explain ?? (answer.explanation === undefined ? 'none' : 'brief');
    const request = { now: at === undefined ? EXAMPLE_NOW : Date.parse(at), explain, audience } as const;
    const outcome = many
      ? evaluateMany(rule, [input], request)[0]
      : evaluateRule(rule, input as Record<string, unknown>, request); // inputs that are not objects are cases too
    if (outcome === undefined) throw new TypeError('An input has no outcome.');
    expect({ input, ...(inWordsOf(answer, outcome) as object) }).toEqual({ input, ...(expectedBy(answer) as object) });
  }
};

/** Checks that a table has exactly the problems of its case, in order. */
const checkProblems = (entry: TableCase): void => {
  const values = new CaseValues(entry.values ?? []);
  const binding = bindValueReferences(tableOf(entry), values);
  const found = [...binding.problems, ...checkRule(binding.table, { values })];
  const expected = entry.problems ?? [];
  const shown = found.map((problem, index) => {
    const all: Record<string, unknown> = { ...problem, caret: problem.formula?.caret.split('\n') };
    return Object.fromEntries(Object.keys(expected[index] ?? { code: '', message: '' }).map((key) => [key, all[key]]));
  });
  expect(shown).toEqual(expected);
};

describe.each(files)('cases/tables/%s', (file) => {
  const entries = casesOf(file).map((entry) => [`${entry.statements.join(', ')} ${entry.name}`, entry] as const);

  it.each(entries)('%s', (_title, entry) => {
    if (entry.problems !== undefined) return checkProblems(entry);
    checkAnswers(entry, 'scan', false);
    checkAnswers(entry, 'index', false);
    checkAnswers(entry, 'index', true);
  });

  it('tells its cases apart, and each has either answers or problems', () => {
    const names = casesOf(file).map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const { answers, problems } of casesOf(file)) expect([answers, problems].filter(Boolean)).toHaveLength(1);
  });
});

/** All but `too_large`, whose table is too long for a readable case: `hostile-tables.test.ts` makes one. */
const codes: Readonly<Record<Exclude<RuleProblemCode, 'too_large'>, true>> = {
  unknown_operator: true,
  unknown_field: true,
  duplicate_field: true,
  colliding_fields: true,
  misplaced_function_field: true,
  wrong_argument_count: true,
  wrong_argument_type: true,
  invalid_argument: true,
  wrong_range: true,
  invalid_pattern: true,
  duplicate_row_id: true,
  invalid_schedule: true,
  unknown_group: true,
  group_without_rows: true,
  misplaced_accumulators: true,
  invalid_formula: true,
  unknown_function: true,
  unbound_value: true,
  unknown_value: true,
  too_deep: true,
};

it('E-150 there is a case of every problem', () => {
  const shown = files.flatMap(casesOf).flatMap(({ problems = [] }) => problems.map(({ code }) => code));
  expect(new Set(shown)).toEqual(new Set(Object.keys(codes)));
});

it('there is a case of every reason of a failure but that of costly patterns', () => {
  const answers = files.flatMap(casesOf).flatMap((entry) => entry.answers ?? []);
  expect(new Set(answers.flatMap(({ fails }) => (fails === undefined ? [] : [fails.reason])))).toEqual(
    new Set(['input_not_object', 'wrong_type', 'formula_failed', 'cannot_add', 'value_unusable']),
  );
});

it('there is a case of every accumulator and policy', () => {
  const groups = files.flatMap(casesOf).flatMap((entry) => (entry.answers ? Object.values(entry.groups ?? {}) : []));
  const used = new Set(groups.flatMap(({ accumulators = {} }) => Object.values(accumulators)));
  expect(accumulatorNames.filter((name) => !used.has(name))).toEqual([]);
  expect(new Set(groups.map(({ hitPolicy }) => hitPolicy))).toEqual(new Set(['fill', 'add', 'compute']));
});
