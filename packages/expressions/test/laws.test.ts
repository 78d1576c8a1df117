import fc from 'fast-check';
import {
  checkFormula,
  compileFormula,
  defaultFormulaBudget,
  type Formula,
  formulaFunctions,
  formulaLimits,
  type FormulaNode,
  type FormulaOutcome,
  formulaReferences,
  type FunctionValue,
  parseFormula,
  runFormula,
} from '../src';
import { printNode } from '../src/syntax/printer';
import { arbitraryNode, arbitraryValue, withoutPositions } from './arbitrary-formula';
import { sensibleFields, sensibleNode } from './sensible-formula';

const anyNode = fc.oneof(arbitraryNode, sensibleNode);

const arbitraryFormula = anyNode.map((root) => printNode(root)).filter((text) => text.length <= formulaLimits.length);

const parsed = (text: string): Formula => {
  const parsing = parseFormula(text);
  if (!parsing.ok) throw new Error(`${parsing.problem.message}\n${parsing.problem.caret}`);
  return parsing.formula;
};

const functions: ReadonlyMap<string, FunctionValue> = new Map([
  ['f', { parameters: ['x'], body: compileFormula(parsed('$g(x, [x, x])')) }],
  ['g', { parameters: ['x', 'y'], body: compileFormula(parsed('is_null(x) ? y : $f(y)')) }],
]);

const arbitraryFields = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'x', 'y', 'a.b', '$a'), arbitraryValue)
  .map((fields) => ({ ...sensibleFields, ...fields }));

const run = (text: string, fields: Record<string, unknown>, steps = defaultFormulaBudget.steps): FormulaOutcome =>
  runFormula(compileFormula(parsed(text)), {
    lookup: (key) => (Object.hasOwn(fields, key) ? fields[key] : undefined),
    now: 1_715_769_000_000,
    functions,
    budget: { ...defaultFormulaBudget, steps },
  });

const codeOrValue = (outcome: FormulaOutcome): unknown => (outcome.ok ? outcome.value : outcome.problem.code);

describe('F10: printing', () => {
  it('then parsing gives the same formula', () => {
    fc.assert(
      fc.property(anyNode, (root) => {
        const text = printNode(root);
        fc.pre(text.length <= formulaLimits.length);
        const again = parsed(text);
        expect(withoutPositions(again.root)).toEqual(withoutPositions(root));
        expect(printNode(again.root)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('F12: any text', () => {
  const scraps = fc.constantFrom(
    'a',
    '1',
    '"x"',
    "'",
    '`',
    '(',
    ')',
    '[',
    ']',
    ',',
    '.',
    '+',
    '-',
    '**',
    '=',
    '<',
    '=>',
    '?',
    ':',
    ' ',
    '\n',
    '$',
    'and', // prettier-ignore
    'not',
    'in',
    'null',
    'sum(',
    'map(',
    'x => ',
    '\\',
    '\\u{',
    '1e',
    '😀',
    '\ud800',
    '\u0000',
    '9'.repeat(20),
  );
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: scraps, maxLength: 30 }));

  it('is a formula, or a problem within it', () => {
    fc.assert(
      fc.property(text, (given) => {
        const parsing = parseFormula(given);
        if (parsing.ok) return withoutPositions(parsed(printNode(parsing.formula.root)).root) !== undefined;
        const { position, length, line, column, caret } = parsing.problem;
        expect(position + length).toBeLessThanOrEqual(given.length);
        expect(given.split('\n').slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + column - 1).toBe(position); // prettier-ignore
        expect(caret.split('\n')).toHaveLength(2);
        return true;
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('F80: running', () => {
  it('never throws, and answers a JSON value', () => {
    fc.assert(
      fc.property(arbitraryFormula, arbitraryFields, (text, fields) => {
        const outcome = run(text, fields);
        if (!outcome.ok) {
          expect(outcome.problem.position + outcome.problem.length).toBeLessThanOrEqual(text.length);
          expect(outcome.problem.code).not.toBe('host_failure');
        } else expect(['string', 'number', 'boolean', 'object']).toContain(typeof outcome.value);
      }),
      { numRuns: 3_000 },
    );
  });

  it('gives the same answer again', () => {
    fc.assert(
      fc.property(arbitraryFormula, arbitraryFields, (text, fields) => {
        const compiled = compileFormula(parsed(text));
        const environment = { lookup: (key: string) => fields[key], now: 5, functions };
        expect(runFormula(compiled, environment)).toEqual(runFormula(compiled, environment));
      }),
    );
  });

  it('changes no input', () => {
    fc.assert(
      fc.property(arbitraryFormula, fc.dictionary(fc.constantFrom('a', 'b', 'x'), fc.jsonValue()), (text, fields) => {
        const before = JSON.stringify(fields);
        run(text, fields);
        expect(JSON.stringify(fields)).toBe(before);
      }),
    );
  });
});

describe('F81: the budget', () => {
  it('bounds the work', () => {
    fc.assert(
      fc.property(arbitraryFormula, fc.integer({ min: 0, max: 200 }), (text, steps) => {
        let lookups = 0;
        const lookup = (): unknown => {
          lookups += 1;
          return [1, 2, 3];
        };
        runFormula(compileFormula(parsed(text)), {
          lookup,
          now: 0,
          functions,
          budget: { ...defaultFormulaBudget, steps },
        });
        expect(lookups).toBeLessThanOrEqual(steps * formulaLimits.nameParts);
      }),
    );
  });

  it('never ends a run that a smaller budget allows', () => {
    fc.assert(
      fc.property(arbitraryFormula, arbitraryFields, fc.nat(100), (text, fields, steps) => {
        const frugal = codeOrValue(run(text, fields, steps));
        if (frugal !== 'steps_exhausted') expect(frugal).toEqual(codeOrValue(run(text, fields, steps + 1_000)));
      }),
    );
  });
});

describe('F86: constants', () => {
  /** The same tree with each constant in a field, and those fields. Strings that may be a lambda or a pattern stay. */
  const moveConstants = (root: FormulaNode): { root: FormulaNode; fields: Record<string, unknown> } => {
    const fields: Record<string, unknown> = {};
    const move = (node: FormulaNode): FormulaNode => {
      if (node.kind === 'literal') {
        const key = `constant ${Object.keys(fields).length}`;
        fields[key] = node.value;
        return { kind: 'name', parts: [key], position: node.position, length: node.length };
      }
      const entries = Object.entries(node).map(([key, value]) => {
        const keep = (item: FormulaNode): FormulaNode =>
          node.kind === 'call' && item.kind === 'literal' && typeof item.value === 'string' ? item : move(item);
        if (Array.isArray(value)) return [key, value.map((item) => (typeof item === 'object' ? keep(item) : item))];
        return [
          key,
          typeof value === 'object' && value !== null && 'kind' in value ? move(value as FormulaNode) : value,
        ];
      });
      return Object.fromEntries(entries) as FormulaNode; // a copy with other nodes in it
    };
    return { root: move(root), fields };
  };

  it('computed at compilation equal those computed in a run', () => {
    fc.assert(
      fc.property(anyNode, (given) => {
        const { root, fields } = moveConstants(given);
        const all: Record<string, unknown> = { ...sensibleFields, ...fields };
        const environment = { lookup: (key: string) => all[key], now: 0 };
        const written = runFormula(compileFormula({ text: '', root: given }), environment);
        const looked = runFormula(compileFormula({ text: '', root }), environment);
        expect(codeOrValue(written)).toEqual(codeOrValue(looked));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('F90: checking', () => {
  const foundBySave = [
    'unknown_function',
    'wrong_argument_count',
    'lambda_misplaced',
    'lambda_expected',
    'invalid_pattern',
    'invalid_selector',
  ];

  it('finds every fault that a run would meet', () => {
    const scope = {
      functions: new Map([...functions].map(([name, { parameters }]) => [name, { parameters: parameters.length }])),
    };
    fc.assert(
      fc.property(arbitraryFormula, arbitraryFields, (text, fields) => {
        fc.pre(checkFormula(parsed(text), scope).length === 0);
        expect(foundBySave).not.toContain(codeOrValue(run(text, fields)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('F92: names every key that a run looks up', () => {
    fc.assert(
      fc.property(arbitraryFormula, (text) => {
        const { fields, references } = formulaReferences(parsed(text));
        const named = [...fields, ...references];
        const lookup = (key: string): unknown => {
          if (!named.some((name) => name === key || name.startsWith(`${key}.`))) throw new Error(`not named: ${key}`);
          return undefined;
        };
        expect(codeOrValue(runFormula(compileFormula(parsed(text)), { lookup, now: 0 }))).not.toBe('host_failure');
      }),
      { numRuns: 1_000 },
    );
  });
});

it('F50: no function of the catalogue throws for any values', () => {
  fc.assert(
    fc.property(fc.constantFrom(...formulaFunctions), fc.array(arbitraryValue, { maxLength: 4 }), (entry, values) => {
      const names = ['a', 'b', 'c', 'd'].slice(0, values.length);
      const fields = Object.fromEntries(names.map((name, index) => [name, values[index]]));
      const given = names.map((name, index) => (entry.parameters[index]?.type === 'lambda' ? `x => ${name}` : name));
      const outcome = run(`${entry.name}(${given.join(', ')})`, fields);
      if (!outcome.ok) expect(outcome.problem.code).not.toBe('host_failure');
    }),
    { numRuns: 5_000 },
  );
});

it('F51 a range of decimals equals the scaled range of whole numbers', () => {
  const whole = fc.integer({ min: -300, max: 300 });
  const stepOf = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(whole, whole, stepOf, fc.integer({ min: 0, max: 9 }), (start, end, step, places) => {
      const decimal = (value: number): string => `${value}e-${places}`;
      const expected = Array.from({ length: Math.max(0, Math.ceil((end - start) / step)) }, (_, index) =>
        Number(decimal(start + index * step)),
      );
      const formula = parsed(`range(${decimal(start)}, ${decimal(end)}, ${decimal(step)})`);
      const outcome = runFormula(compileFormula(formula), { now: 0, lookup: () => undefined });
      expect(outcome).toMatchObject({ ok: true, value: expected.map((value) => value + 0) });
    }),
  );
});
