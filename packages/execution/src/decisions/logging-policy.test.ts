import { type LoggingSettings, ServiceError } from '@decision/contracts';
import { type SolvedInput, solvedInput } from './solved-input';
import { NOTHING_SHOWN, stricterPolicy, withPolicy } from './logging-policy';

const mask = (text: string): string => `masked ${text}`;
const request = {
  customer: { name: 'Ann', iban: 'X1' },
  items: [{ sku: 'a', price: 5 }, { sku: 'b' }, 7],
  __proto__x: 1,
  note: null,
};
const trace =
  '"path_trace":[{"ref":"a","status":"ran","inputs":{"iban":"X1"},"outputs":{"tier":"gold"}}],"path_not_listed":2';
const solved: SolvedInput = {
  ...solvedInput(
    JSON.stringify(request),
    { ok: true, output: { tier: 'gold', owner: { iban: 'X1' } }, matched: [2] },
    5,
  ),
  pathTrace: trace,
};
const logged = (settings: LoggingSettings, item = solved, by: typeof mask | 'no key' = mask) => {
  const { pathTrace, ...rest } = withPolicy(item, { settings, hidesTrace: false }, by === 'no key' ? undefined : by);
  return {
    request: JSON.parse(rest.request) as unknown,
    response: JSON.parse(rest.result) as unknown,
    trace: JSON.parse(`{${pathTrace ?? ''}}`) as Record<string, unknown>,
    isCut: rest.isCut,
    matched: rest.matched,
  };
};

describe('the loggable part of a decision', () => {
  it('is everything unchanged without a policy', () => {
    expect(withPolicy(solved, { settings: {}, hidesTrace: false }, mask)).toBe(solved);
    expect(withPolicy(solved, { settings: { request: 'full', mask: [] }, hidesTrace: false }, mask)).toBe(solved);
  });

  it('excludes request and response for the policy none', () => {
    expect(logged({ request: 'none' })).toMatchObject({ request: {}, response: { tier: 'gold' }, isCut: true });
    expect(logged({ response: 'none' })).toMatchObject({ request, response: {}, matched: [2] });
  });

  it('is the values at the paths, in each item of lists', () => {
    expect(logged({ request: ['customer.name', 'items.sku', 'gone.away', 'note'], response: ['owner'] })).toMatchObject(
      {
        request: { customer: { name: 'Ann' }, items: [{ sku: 'a' }, { sku: 'b' }, {}], note: null },
        response: { owner: { iban: 'X1' } },
      },
    );
    expect(logged({ request: ['customer.name', 'items.sku'] }).request).not.toHaveProperty('note');
    expect(logged({ request: [] }).request).toEqual({});
  });

  it('has masks for values, whole objects and items of lists, in addition to kept paths', () => {
    const masks = ['request.customer.iban', 'request.items.price', 'response.owner', 'request.gone'];
    expect(logged({ mask: masks })).toMatchObject({
      request: {
        customer: { name: 'Ann', iban: 'masked "X1"' },
        items: [{ sku: 'a', price: 'masked 5' }, { sku: 'b' }, 7],
      },
      response: { tier: 'gold', owner: 'masked {"iban":"X1"}' },
      isCut: false,
    });
    expect(logged({ request: ['customer'], mask: ['request.customer.iban'] }).request).toEqual({
      customer: { name: 'Ann', iban: 'masked "X1"' },
    });
  });

  it('leaves out masked values without a key', () => {
    const { request: shown, isCut } = logged({ mask: ['request.customer.iban', 'request.items'] }, solved, 'no key');
    expect(shown).toEqual({ customer: { name: 'Ann' }, __proto__x: 1, note: null });
    expect(isCut).toBe(true);
  });

  it('excludes values in traces and explanations, and error messages that might show them', () => {
    const policy = { mask: ['request.customer.iban'] };
    expect(logged(policy).trace).toEqual({ path_trace: [{ ref: 'a', status: 'ran' }], path_not_listed: 2 });
    const explained = { ...solved, result: '{"tier":"gold","$explain":{"rows":["X1"]}}' };
    expect(logged(policy, explained).response).toEqual({ tier: 'gold' });
    const failed = solvedInput('{"a":"X1"}', new ServiceError('evaluation_failed', 'The input "X1" is none.'), 1);
    expect(logged(policy, failed).response).toEqual({ error: 'It is not logged.', code: 'evaluation_failed' });
  });

  it('of a flow has no values in the trace if a rule or flow in it hides some', () => {
    const { pathTrace, request: shown } = withPolicy(solved, { settings: {}, hidesTrace: true }, mask);
    expect(pathTrace).not.toContain('X1');
    expect(shown).toBe(solved.request);
  });

  it('is nothing if the policy is unknown, even for an input that is not JSON', () => {
    const unread = solvedInput('null', new ServiceError('invalid_json', 'No JSON.'), 1);
    for (const item of [solved, unread]) {
      const { request: shown, result, pathTrace } = withPolicy(item, NOTHING_SHOWN, undefined);
      expect(shown).toBe('{}');
      expect(`${result}${pathTrace}`).not.toMatch(/X1|gold|No JSON/);
    }
  });
});

describe('the part that rule and context both allow', () => {
  const both = (a: LoggingSettings, b: LoggingSettings) =>
    stricterPolicy({ settings: a, hidesTrace: false }, { settings: b, hidesTrace: false })?.settings;

  it.each<[LoggingSettings['request'], LoggingSettings['request'], LoggingSettings['request']]>([
    [undefined, undefined, 'full'],
    ['full', ['a'], ['a']],
    [['a'], 'none', 'none'],
    ['none', undefined, 'none'],
    [
      ['a', 'b.c'],
      ['a.x', 'b'],
      ['b.c', 'a.x'],
    ],
    [['order'], ['order'], ['order']],
    [['a'], ['ab', 'b'], 'none'],
  ])('of %j and %j is %j', (a, b, shown) => {
    expect(both({ request: a }, { request: b })).toMatchObject({
      request: shown,
    });
    expect(both({ response: b }, { response: a })?.response).toEqual(
      Array.isArray(shown) ? expect.arrayContaining(shown) : shown,
    );
  });

  it('has the masks of both, and waits for its record if either requires it', () => {
    const a: LoggingSettings = { mask: ['request.a'], delivery: 'required' };
    expect(both(a, { mask: ['response.b'] })).toMatchObject({
      mask: ['request.a', 'response.b'],
      delivery: 'required',
    });
    expect(both({}, {})).toMatchObject({ mask: [], delivery: 'buffered' });
  });

  it('is the policy of one if the other has none, and hides a trace that either hides', () => {
    const policy = { settings: {}, hidesTrace: true };
    expect(stricterPolicy(policy, undefined)).toBe(policy);
    expect(stricterPolicy(undefined, policy)).toBe(policy);
    expect(stricterPolicy(undefined, undefined)).toBeUndefined();
    expect(stricterPolicy({ settings: {}, hidesTrace: false }, policy)?.hidesTrace).toBe(true);
  });
});
