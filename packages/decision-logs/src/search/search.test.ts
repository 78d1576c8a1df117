import { ServiceError } from '@decision/contracts';
import { matches, parseSearch, type SearchedRecord } from '..';

const record: SearchedRecord = {
  name: 'shipping-price',
  type: 'rule',
  selector: 'latest',
  error: null,
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  execution_id: null,
  request_id: '0b0e6a4a-0c5e-4f5f-9d5b-3f0f5f4f3c11',
  key_id: 'k',
  context: 'customer',
  instance: 'c-1',
  flow: null,
  status: 200,
  duration: 1.5,
  request: {
    order: { total: 120, items: [{ sku: 'A' }, { sku: 'b' }], note: 'Express, please' },
    vip: true,
    gone: null,
  },
  response: { tier: 'gold', price: 9.5 },
};

const isFound = (search: string): boolean => {
  const tree = parseSearch(search);
  return tree !== undefined && matches(tree, record);
};

const refusalOf = (search: string): ServiceError => {
  try {
    parseSearch(search);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('It was not refused.');
};

describe('a search', () => {
  it.each([
    'request.order.total > 100',
    'request.order.total>100 AND response.tier = "gold"',
    'request.order.total = 120',
    'request.order.items.sku = b',
    'request.order.note : express',
    'request.order.note !: pickup',
    'request.vip = true request.gone = null',
    'request.absent != 5',
    'status = 200 duration < 2',
    'name = shipping-price AND (type = flow OR type = rule)',
    'slug : SHIPPING',
    'gold',
    'express,',
    '9.5',
    '120',
    '4bf92f3577b34da6a3ce929d0e0e4736',
    '0B0E6A4A-0c5e-4f5f-9d5b-3f0f5f4f3c11',
    'nothing OR gold',
    '"Express, please"',
    'response.tier >= gold',
  ])('finds with %s', (search) => {
    expect(isFound(search)).toBe(true);
  });

  it.each([
    'request.order.total > 120',
    'request.order.total = "120"',
    'request.order.items.sku = B',
    'request.order.total : 12',
    '12',
    'silver',
    'request.vip = "true"',
    'request.absent = 5',
    'status >= 400',
    'duration = "1.5"',
    'gold AND silver',
    'nothing OR (gold AND silver)',
    '4bf92f3577b34da6a3ce929d0e0e4737',
    'order',
  ])('does not find with %s', (search) => {
    expect(isFound(search)).toBe(false);
  });

  it('binds AND before OR', () => {
    expect(isFound('gold OR silver AND silver')).toBe(true);
    expect(isFound('(gold OR silver) AND silver')).toBe(false);
  });

  it('is undefined if it is empty', () => {
    expect(parseSearch(' \n')).toBeUndefined();
  });

  it.each([
    ['request.total >', 15, 'a value is missing'],
    ['gold AND', 8, 'is missing at the end'],
    ['AND gold', 0, 'missing before "AND"'],
    ['(gold', 0, 'is not closed'],
    ['gold)', 4, 'has no matching "("'],
    ['"gold', 0, 'are not closed'],
    ['total > 5', 0, 'is not a field'],
    ['request = 5', 0, 'a path has 1 to 20 names'],
    ['request..x = 5', 0, 'a path has 1 to 20 names'],
    ['gold = = 5', 0, 'is not a field'],
    ['gold (!) 5', 6, 'has no meaning here'],
    ['""', 0, 'is empty'],
  ])('refuses %s at position %d', (search, position, reason) => {
    const refusal = refusalOf(search);
    expect(refusal.code).toBe('invalid_request');
    expect(refusal.message).toContain(reason);
    expect(refusal.details).toMatchObject({ position, caret: `${search}\n${' '.repeat(position)}^` });
  });

  it('quickly refuses a search that is too deep, too long, or has too many terms', () => {
    expect(refusalOf('('.repeat(4_000)).message).toContain('50 parentheses');
    expect(refusalOf('x'.repeat(1_000_000)).message).toContain('1000000 characters, and at most 4096');
    expect(refusalOf('x '.repeat(1_500)).message).toContain('more than 100');
    expect(refusalOf(`${'('.repeat(10_000)}x`).message).toContain('at most 4096');
  });
});
