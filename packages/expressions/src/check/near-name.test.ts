import { nearName } from './near-name';

describe('the name that is probably meant', () => {
  const names = ['company_size', 'country', 'price', 'quantity', 'ifelse', 'to_number'];

  it.each([
    ['company_sise', 'company_size'],
    ['companysize', 'company_size'],
    ['CompanySize', 'company_size'],
    ['counrty', 'country'],
    ['pric', 'price'],
    ['if', 'ifelse'],
    ['toNumber', 'to_number'],
    ['qantity', 'quantity'],
  ])('for %s is %s', (written, meant) => {
    expect(nearName(written, names)).toBe(meant);
  });

  it.each(['x', 'age', 'total_amount', '', 'a'.repeat(10_000)])('for %s is none', (written) => {
    expect(nearName(written, names)).toBeUndefined();
  });

  it('prefers the nearest', () => {
    expect(nearName('prices', ['princess', 'price', 'prize'])).toBe('price');
  });

  it('skips names too long to compare', () => {
    expect(nearName('abcdef', ['abcdef'.repeat(100)])).toBeUndefined();
  });
});
