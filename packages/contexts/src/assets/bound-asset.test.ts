import { base, derived, withPolicy } from '../../test/fixtures';
import { rule } from '../../test/settling';
import { bindingGroundOf, faultsOfBinding } from './bound-asset';

const parts = { base: base({ total: 'number', tier: 'string' }), derived: derived({ net: 'total * 2' }) };

describe('C57: binding', () => {
  it.each<['ignore' | 'reject' | 'store', readonly string[], readonly string[], number]>([
    ['ignore', ['total'], ['tier'], 0],
    ['ignore', ['net'], ['tier'], 0],
    ['ignore', ['total'], ['id'], 1],
    ['ignore', ['total'], ['id.part', 'net'], 2],
    ['ignore', ['total'], ['other'], 0],
    ['reject', ['total'], ['other'], 1],
    ['ignore', ['other'], ['tier'], 1],
    ['store', ['other'], ['tier'], 0],
    ['ignore', ['$relations.nothing'], ['tier'], 1],
    ['ignore', [], ['tier'], 1],
  ])('under %s, reading %j and writing %j, has %i faults', (policy, inputs, outputs, faults) => {
    expect(faultsOfBinding(withPolicy(policy, parts), rule('r', inputs, outputs))).toHaveLength(faults);
  });

  it('names the fact', () => {
    expect(faultsOfBinding(withPolicy('ignore', parts), rule('r', ['total'], ['tier', 'id.part']))).toEqual([
      {
        output: 'id.part',
        message: 'It answers "id", the identity fact, which bound rules and flows cannot write.',
      },
    ]);
  });

  it('needs only the definition and the names of relationships', () => {
    const { definition } = withPolicy('ignore', parts);
    const bound = (inputs: string[], outputs: string[]) =>
      faultsOfBinding(bindingGroundOf(definition, ['orders']), rule('r', inputs, outputs)).length;
    expect(bound(['total'], ['tier'])).toBe(0);
    expect(bound(['$relations.orders'], ['tier'])).toBe(0);
    expect(bound(['$relations.others'], ['net', 'id'])).toBe(3);
  });
});
