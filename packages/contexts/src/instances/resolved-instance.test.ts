import { alone, base, derived, modelOf } from '../../test/fixtures';
import { resolveInstance, withDefaults } from './resolved-instance';

const model = modelOf({
  base: [
    ...base({ total: 'number!', note: 'string', country: 'string!' }),
    { key: 'currency', type: 'string', default_value: 'EUR', required: true },
    { key: 'verdict', type: 'string', output_only: true, required: true },
  ],
  derived: derived({ double: 'total * 2', label: 'country + "/" + currency' }),
  onSchemaMismatch: 'store',
});

it('C34: a default applies if a fact was never given, and not to null', () => {
  expect(withDefaults(model, { total: 1 })).toEqual({ currency: 'EUR', total: 1 });
  expect(withDefaults(model, { currency: 'USD' })).toEqual({ currency: 'USD' });
  expect(withDefaults(model, { currency: null })).toEqual({ currency: null });
  expect(resolveInstance(model, { currency: null }, alone).need).toContain('currency');
});

it('C50: missing required facts decide the status', () => {
  expect(resolveInstance(model, { id: 'a' }, alone)).toMatchObject({
    status: 'pending',
    need: ['total', 'country', 'verdict'],
  });
  const all = { id: 'a', total: 0, country: '', verdict: 'yes' };
  expect(resolveInstance(model, all, alone)).toMatchObject({ status: 'complete', need: [] });
  expect(resolveInstance(model, { ...all, total: null }, alone)).toMatchObject({ status: 'pending', need: ['total'] });
});

it('C51: known facts are listed in the order of the schema, then by name', () => {
  const stored = { zeta: 1, alpha: 2, nil: null, total: 2, country: 'DE', id: 'a' };
  const { have, state, derived: facts } = resolveInstance(model, stored, alone);
  expect(have).toEqual(['id', 'total', 'country', 'currency', 'double', 'label', 'alpha', 'zeta']);
  expect(facts).toEqual({ double: 4, label: 'DE/EUR' });
  expect(state).toEqual({ ...stored, currency: 'EUR', ...facts });
});
