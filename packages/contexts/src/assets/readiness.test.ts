import { base, customersAndOrders, derived, modelOf } from '../../test/fixtures';
import { rule } from '../../test/settling';
import { type Facts } from '../facts/facts';
import { factsAwaited, isReady, waitingOn } from './readiness';

const model = modelOf({
  base: [
    ...base({ total: 'number!', note: 'string', rate: 'number' }),
    { key: 'score', type: 'number', output_only: true },
  ],
  derived: derived({ net: 'total * rate', twice: 'net * 2' }),
});

describe('C53: an asset is ready', () => {
  it.each<[readonly string[], Facts, readonly string[]]>([
    [['total'], {}, ['total']],
    [['total'], { total: null }, ['total']],
    [['total'], { total: 0 }, []],
    [['total?'], {}, []],
    [['note'], {}, []],
    [['score', 'total'], { total: 1 }, ['score']],
    [['net'], { total: 1 }, ['net']],
    [['net'], { net: 3 }, []],
    [['total.cents', 'total.text'], {}, ['total']],
    [['undeclared'], {}, []],
  ])('with the inputs %j and all facts of %j except %j', (inputs, state, awaited) => {
    const asset = rule('r', inputs, ['note']);
    expect(factsAwaited(model, asset, state)).toEqual(awaited);
    expect(isReady(model, asset, state)).toBe(awaited.length === 0);
  });
});

describe('the facts that an asset waits for', () => {
  const on = (inputs: readonly string[], state: Facts) =>
    waitingOn(model, rule('r', inputs, ['note']), { instanceId: 'o-1', state, related: {}, slugOfRelation: () => '' });

  it('C54: are base facts, and for derived facts the base facts that they lack', () => {
    expect(on(['total', 'score'], {})).toEqual([{ context: 'orders', instance: 'o-1', fields: ['total', 'score'] }]);
    expect(on(['twice'], { total: 1 })).toEqual([
      { context: 'orders', instance: 'o-1', fields: ['rate'], dependentDerivedFields: ['net', 'twice'] },
    ]);
    expect(on(['net'], { total: 1, rate: 2 })).toEqual([{ context: 'orders', instance: 'o-1', fields: ['net'] }]);
    expect(on(['total'], { total: 1 })).toEqual([]);
  });

  it('C55: include facts of related instances if there is no such instance', () => {
    const { customers, world } = customersAndOrders();
    const reader = modelOf(
      { slug: 'customers', base: base({}), derived: derived({ largest: "max($orders, 'total')" }) },
      { ...world, contexts: new Map([...world.contexts, ['customers', customers]]) },
    );
    const asset = rule('r', ['largest'], ['note']);
    const instance = { instanceId: 'c-1', state: {}, slugOfRelation: () => 'orders' };
    expect(waitingOn(reader, asset, { ...instance, related: { orders: [] } })).toEqual([
      { context: 'orders', instance: '*', fields: ['total'], relation: 'orders' },
    ]);
    expect(waitingOn(reader, asset, { ...instance, related: { orders: [{ id: 'o-1' }] } })).toEqual([
      { context: 'customers', instance: 'c-1', fields: ['largest'] },
    ]);
  });
});
