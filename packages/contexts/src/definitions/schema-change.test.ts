import { base, type DefinitionParts, derived, modelOf } from '../../test/fixtures';
import { compileContext } from './compile-context';
import { definition, world } from '../../test/fixtures';
import { type LivingContext, refusalsOfChange } from './schema-change';

const living: LivingContext = { hasInstances: true, holdsUndeclared: () => false, assetsNaming: () => [] };
const before: DefinitionParts = {
  base: base({ total: 'number', note: 'string' }),
  derived: derived({ double: 'total * 2' }),
};

const refusals = (after: DefinitionParts, known: Partial<LivingContext> = {}): string[] =>
  refusalsOfChange(modelOf(before), modelOf(after), { ...living, ...known }).map(({ code, fact }) => `${code} ${fact}`);

it('C14: settings, defaults and flags may change', () => {
  const flags = { required: true, output_only: true, track_history: true, default_value: 1, name: 'Total' };
  const after = {
    ...before,
    base: [{ key: 'total', type: 'number' as const, ...flags }, ...base({ note: 'string!' })],
    onSchemaMismatch: 'store' as const,
    ttlSeconds: 60,
    historyLimit: 1,
    autoExecuteDecisions: false,
  };
  expect(refusals(after)).toEqual([]);
});

it('C15: facts may be added unless an instance holds them undeclared', () => {
  const after = { ...before, base: [...(before.base ?? []), ...base({ colour: 'string' })] };
  expect(refusals(after)).toEqual([]);
  expect(refusals(after, { holdsUndeclared: (fact) => fact === 'colour' })).toEqual(['fact_held colour']);
  expect(refusals(before, { holdsUndeclared: () => true })).toEqual([]);
});

it('C16: identity, types and derived facts cannot change while there are instances', () => {
  const changes: DefinitionParts = {
    identityFact: 'note',
    base: base({ total: 'string', note: 'string', double: 'number' }),
  };
  expect(refusals(changes)).toEqual(['identity_changed id', 'type_changed total', 'type_changed double']);
  expect(refusals(changes, { hasInstances: false })).toEqual([]);
});

it('C17: facts may be removed unless something names them', () => {
  const after = { base: base({ total: 'number' }), derived: before.derived };
  expect(refusals(after)).toEqual([]);
  expect(refusals(after, { assetsNaming: (fact) => (fact === 'note' ? ['discount'] : []) })).toEqual([
    'fact_in_use note',
  ]);
  const named = definition({ base: base({ note: 'string' }), derived: before.derived });
  expect(compileContext(named, world([named]))).toMatchObject({ ok: false, problems: [{ code: 'formula_invalid' }] });
});

it('C18: derived facts may be added, changed and removed', () => {
  expect(refusals({ ...before, derived: derived({ double: 'total + total', triple: 'total * 3' }) })).toEqual([]);
  expect(refusals({ ...before, derived: [] })).toEqual([]);
});
